import type { EntityManager } from '@mikro-orm/postgresql';
import { type Sweep, type SweepFailure, sweepRows } from '../../platform/housekeeping/sweep-rows.ts';
import type { CallbackWorkflows } from '../callbacks/callback-workflows.ts';
import type { InstrumentTable } from '../payments/instrument-row.ts';

/** Open rows two minutes past their deadline or cancellation: their workflow is lost or delayed. */
export const overdue = (table: InstrumentTable): string =>
  `select id, coalesce(cancelled_at, expires_at) as since from ${table}
   where status in ('PENDING', 'WAITING_PAYMENT')
     and coalesce(cancelled_at, expires_at) < now() - interval '2 minutes'`;

/** Rows without an instrument after ten minutes: the provider usually answers within seconds, or is down. */
export const withoutInstrument = (table: InstrumentTable): string =>
  `select id, created_at as since from ${table}
   where status = 'PENDING' and created_at < now() - interval '10 minutes'`;

/** Net amounts of paid payments that should already be available to their partners. */
export const overdueReleases = `select id, available_at as since from partner_payments
  where status = 'PAID' and released_at is null and available_at < now() - interval '2 minutes'`;

/** Reusable instruments that their workflow has not polled in time. */
export const overdueInstruments =
  'select id, look_again_at as since from partner_instruments where look_again_at < now()';

/**
 * Orders, partner payments, instruments and releases. Omits rows waiting for their payer until the deadline: the
 * workflow asks the provider, and any callback restarts it.
 */
const sweepsOf = (workflows: CallbackWorkflows): Sweep[] => {
  const order = (id: string) => workflows.hintGatewayPayment(id);
  const payment = (id: string) => workflows.hintPartnerPayment(id);
  // Separate kinds, because the interval between retries of a row grows.
  return [
    { kind: 'payment_order', due: overdue('payment_orders'), wake: order },
    { kind: 'payment_order_instrument', due: withoutInstrument('payment_orders'), wake: order },
    { kind: 'partner_payment', due: overdue('partner_payments'), wake: payment },
    { kind: 'partner_payment_instrument', due: withoutInstrument('partner_payments'), wake: payment },
    { kind: 'partner_instrument', due: overdueInstruments, wake: (id) => workflows.hintPartnerInstrument(id) },
    { kind: 'partner_payment_release', due: overdueReleases, wake: payment },
  ];
};

/**
 * Signals the workflow of every open order and partner payment that is past its deadline or has no instrument, of every
 * overdue instrument, and of every paid net that should be available; restarts lost workflows from their rows. Returns
 * how many it signalled.
 */
export function sweepOverduePayments(
  em: EntityManager,
  workflows: CallbackWorkflows,
  failed: SweepFailure,
): Promise<number> {
  return sweepRows(em, sweepsOf(workflows), failed);
}
