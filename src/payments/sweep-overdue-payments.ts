import type { EntityManager } from '@mikro-orm/postgresql';
import type { CallbackWorkflows } from '../callbacks/callback-workflows.ts';
import { type Sweep, type SweepFailure, sweepRows } from '../housekeeping/sweep-rows.ts';
import type { InstrumentTable } from './obtain-instrument.ts';

/** Open although the deadline passed, or it was cancelled, minutes ago: the workflow is lost, or held up. */
export const overdue = (table: InstrumentTable): string =>
  `select id, coalesce(cancelled_at, expires_at) as since from ${table}
   where status in ('PENDING', 'WAITING_PAYMENT')
     and coalesce(cancelled_at, expires_at) < now() - interval '2 minutes'`;

/** Nobody can pay what has no instrument; the provider answers within seconds, or is away. */
export const withoutInstrument = (table: InstrumentTable): string =>
  `select id, created_at as since from ${table}
   where status = 'PENDING' and created_at < now() - interval '10 minutes'`;

/** Paid nets that should be available to their partners. */
export const overdueReleases = `select id, available_at as since from partner_payments
  where status = 'PAID' and released_at is null and available_at < now() - interval '2 minutes'`;

/**
 * Orders, partner payments and releases. One that has its instrument and waits for its payer is left until its deadline:
 * its workflow asks, and any callback starts that again.
 */
const sweepsOf = (workflows: CallbackWorkflows): Sweep[] => {
  const order = (id: string) => workflows.hintGatewayPayment(id);
  const payment = (id: string) => workflows.hintPartnerPayment(id);
  // Kinds of their own: what was looked at in vain for long has a next look that is far away.
  return [
    { kind: 'payment_order', due: overdue('payment_orders'), wake: order },
    { kind: 'payment_order_instrument', due: withoutInstrument('payment_orders'), wake: order },
    { kind: 'partner_payment', due: overdue('partner_payments'), wake: payment },
    { kind: 'partner_payment_instrument', due: withoutInstrument('partner_payments'), wake: payment },
    { kind: 'partner_payment_release', due: overdueReleases, wake: payment },
  ];
};

/**
 * Hints the workflow of every open order and partner payment past its deadline or without an instrument, and of every
 * paid net that should be available; one that Temporal lost is started again from its row. Returns how many.
 */
export function sweepOverduePayments(
  em: EntityManager,
  workflows: CallbackWorkflows,
  failed: SweepFailure,
): Promise<number> {
  return sweepRows(em, sweepsOf(workflows), failed);
}
