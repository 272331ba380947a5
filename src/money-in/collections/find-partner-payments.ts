import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import { type ListWindow, readPage } from '../../platform/database/find-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { columnsOf, executePrepared } from '../../platform/database/prepared-statements.ts';
import { readFresh } from '../../platform/database/replica.ts';
import type { PaymentMethodKind } from '../../platform/gateway/gateway.ts';
import { must } from '../../shared/assert.ts';
import { refuse } from '../../shared/errors.ts';
import type { Money } from '../../shared/money.ts';
import { textArray } from '../../shared/postgres.ts';
import { isUuid } from '../../shared/uuid.ts';
import { PaymentChannel } from '../payments/payment-channel.entity.ts';
import { PartnerPayment } from './partner-payment.entity.ts';
import { type PartnerPaymentStatus, statesShownAs } from './partner-payment.ts';
import type { PaymentChannelName, PaymentWithChannel } from './present-partner-payment.ts';

type Row = Record<string, unknown> & PaymentChannelName & { refunded: Money };

/** The payment with this id, of any partner, read afresh in one round trip; null if there is none. */
export async function findPartnerPayment(em: EntityManager, id: string): Promise<PaymentWithChannel | null> {
  const [row] = await executePrepared<Row>(
    em,
    `select ${columnsOf(em, PartnerPayment, 'p')}, c.method, c.channel_code, ${refundedOf('p')} as refunded
     from partner_payments p join payment_channels c on c.id = p.channel_id where p.id = ?`,
    [id],
  );
  if (row === undefined) return null;
  const { method, channel_code, refunded, ...columns } = row;
  return { payment: em.fork().map(PartnerPayment, columns), channel: { method, channel_code }, refunded };
}

/** A payment of any partner. Throws NOT_FOUND. */
export async function getAnyPartnerPayment(em: EntityManager, id: string): Promise<PaymentWithChannel> {
  return (await findPartnerPayment(em, id)) ?? refuse('NOT_FOUND', 'the payment was not found', { field: 'id' });
}

/** A payment of this partner. Throws RESOURCE_NOT_FOUND for a missing payment and for another partner's. */
export async function getPartnerPayment(
  em: EntityManager,
  { partnerId, paymentId }: { partnerId: string; paymentId: string },
): Promise<PaymentWithChannel> {
  const found = await findPartnerPayment(em, paymentId);
  if (found?.payment.partner_id !== partnerId) refuse('RESOURCE_NOT_FOUND', 'The payment was not found');
  return found;
}

export interface PaymentFilter extends ListWindow {
  /** Default: all partners. */
  partnerId?: string | undefined;
  status?: PartnerPaymentStatus | undefined;
  externalRef?: string | undefined;
  /** The reference shown: `external_ref`, or the id if there is none; for operators, the id always matches too. */
  reference?: string | undefined;
  method?: PaymentMethodKind | undefined;
  channel?: string | undefined;
  organizationId?: string | undefined;
  /** The reusable instrument that was paid. */
  instrumentId?: string | undefined;
  /** Inclusive. */
  from?: Date | undefined;
  /** Exclusive. */
  to?: Date | undefined;
}

/** A page of payments, newest first, and how many match in total. */
export function findPartnerPayments(
  em: EntityManager,
  {
    partnerId,
    status,
    externalRef,
    reference,
    method,
    channel,
    organizationId,
    instrumentId,
    from,
    to,
    ...window
  }: PaymentFilter,
): Promise<Listed & { items: PaymentWithChannel[] }> {
  const within = partnerId === undefined ? {} : { partner_id: partnerId };
  return readFresh(em, async (reader) => {
    const through = { ...(method && { method }), ...(channel !== undefined && { channel_code: channel }) };
    const ids =
      Object.keys(through).length === 0 ? null : (await reader.find(PaymentChannel, through)).map(({ id }) => id);
    const where: FilterQuery<PartnerPayment> = {
      ...within,
      ...(status && { status: { $in: statesShownAs(status) } }),
      ...(externalRef !== undefined && { external_ref: externalRef }),
      ...(reference !== undefined && { $or: referredAs(reference, partnerId) }),
      ...(ids && { channel_id: { $in: ids } }),
      ...(organizationId && { organization_id: organizationId }),
      ...(instrumentId && { instrument_id: instrumentId }),
      ...((from ?? to) && { created_at: { ...(from && { $gte: from }), ...(to && { $lt: to }) } }),
    };
    const { items, ...listed } = await readPage(reader, PartnerPayment, where, window, { within });
    const channels = await reader.find(PaymentChannel, { id: { $in: items.map(({ channel_id }) => channel_id) } });
    const refunded = await readRefunded(
      reader,
      items.map(({ id }) => id),
    );
    const channelOf = new Map(channels.map((channel) => [channel.id, channel]));
    return {
      items: items.map((payment) => ({
        payment,
        channel: must(channelOf.get(payment.channel_id), 'a payment has a channel'),
        refunded: must(refunded.get(payment.id), 'every payment has a refunded sum'),
      })),
      ...listed,
    };
  });
}

const referredAs = (reference: string, partnerId: string | undefined): FilterQuery<PartnerPayment>[] => [
  { external_ref: reference },
  ...(isUuid(reference) ? [{ id: reference, ...(partnerId && { external_ref: null }) }] : []),
];

/** SQL: how much of a payment is refunded or being refunded, at most its amount; `payment` is the table's alias. */
export const refundedOf = (payment: string): string =>
  `least(refunded_of_payment(${payment}.id), ${payment}.amount)::text`;

/** How much of each payment is refunded or being refunded, at most its amount; IDR, scale 4. */
export async function readRefunded(
  em: EntityManager,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, Money>> {
  const rows = await em.execute<{ id: string; refunded: Money }[]>(
    `select p.id, ${refundedOf('p')} as refunded from partner_payments p where p.id = any (?::uuid[])`,
    [textArray(paymentIds)],
  );
  return new Map(rows.map(({ id, refunded }) => [id, refunded]));
}
