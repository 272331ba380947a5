import type { EntityManager } from '@mikro-orm/postgresql';
import { refuse } from '../../shared/errors.ts';
import { compareMoney, isAboveZero, type Money, subtractMoney } from '../../shared/money.ts';

/** What decides whether and how a partner's payment can be refunded; IDR, scale 4. */
export interface Refundable {
  status: string;
  external_ref: string | null;
  amount: Money;
  /** The refundable amount. */
  left: Money;
  /** The provider's id of the payment request. */
  provider_payment_request_id: string | null;
  /** Whether the provider can refund it to the wallet that paid, in full and in part. */
  to_wallet: boolean;
  to_wallet_in_part: boolean;
  /**
   * Whether refunds to the wallet have failed, all finally at the provider, and none because the payment had been
   * refunded already.
   */
  wallet_declined: boolean;
}

/**
 * Reads how a partner's payment can be refunded now; the refunded amount is exact only under the partner's lock. Throws
 * RESOURCE_NOT_FOUND for a missing payment and another partner's, PAYMENT_NOT_PAID for an unpaid one.
 */
export async function readRefundable(
  em: EntityManager,
  { partnerId, paymentId }: { partnerId: string; paymentId: string },
): Promise<Refundable> {
  const [row] = await em.execute<Refundable[]>(
    `select p.status, p.external_ref, p.amount::text, 
       greatest(p.amount - refunded_of_payment(p.id), 0)::numeric(20, 4)::text as left,
       p.provider_payment_request_id, way.open as to_wallet, way.open and c.refundable_in_part as to_wallet_in_part,
       (select count(*) > 0 and bool_and(coalesce(o.last_word in ('refused', 'failed'), false))
           and not exists (select from payment_refunds s join payout_words w on w.payout_id = s.id
             where s.payment_id = p.id and w.failure_code = 'MAXIMUM_REFUND_AMOUNT_REACHED')
         from payment_refunds r join payouts o on o.id = r.id
         where r.payment_id = p.id and o.refund_of is not null and o.status = 'failed'
           and o.failure_code is distinct from 'ALREADY_REFUNDED') as wallet_declined
     from partner_payments p join payment_channels c on c.id = p.channel_id
     cross join lateral (select c.method = 'ewallet' and c.refundable and p.provider_payment_request_id is not null
       and p.finalized_at + make_interval(days => c.refund_window_days) > clock_timestamp() as open) way
     where p.id = ? and p.partner_id = ?`,
    [paymentId, partnerId],
  );
  if (row === undefined) return refuse('RESOURCE_NOT_FOUND', 'The payment was not found');
  if (row.status !== 'PAID') refuse('PAYMENT_NOT_PAID', 'The payment is not paid, so there is nothing to refund');
  return row;
}

/** Throws FUNDS_REFUND_EXCEEDED for more than the refundable amount, even if that is zero. */
export function refuseBeyondPaid({ amount: paid, left: remaining }: Refundable, amount: Money): void {
  if (compareMoney(amount, remaining) <= 0 && isAboveZero(remaining)) return;
  refuse('FUNDS_REFUND_EXCEEDED', `IDR ${remaining} of the payment can still be refunded`, {
    details: { paid, refunded: subtractMoney(paid, remaining), remaining },
  });
}
