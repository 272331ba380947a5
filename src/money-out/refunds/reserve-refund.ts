import type { EntityManager } from '@mikro-orm/postgresql';
import { refuseInactive } from '../../partners/inactive.ts';
import { openForOrder } from '../../partners/open-for-order.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { openOnce } from '../../platform/openings/open-once.ts';
import { refuse } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { payoutReferenceOf } from '../../shared/ids.ts';
import { Payout } from '../payouts/payout.entity.ts';
import { type PayoutStanding, type PayoutTexts, payoutTextsPlace } from '../payouts/payout.ts';
import { lockPayoutHeadroom, refuseRefundBeyond } from '../payouts/payout-limits.ts';
import { readProviderFee } from '../payouts/provider-fee.ts';
import { standingOf } from '../payouts/standing-of.ts';
import { reserveMoney, writePayout } from '../payouts/write-payout.ts';
import { readRefundable, refuseBeyondPaid } from './read-refundable.ts';
import type { RefundOpening } from './refund.ts';

/**
 * The first step of a refund: checks refundable amount and balance and reserves the money under the partner's lock, so
 * that concurrent refunds cannot exceed them. Returns an existing refund unchanged. Throws AUTH_PARTNER_INACTIVE,
 * FUNDS_REFUND_EXCEEDED, FUNDS_INSUFFICIENT_BALANCE, REQUEST_IDEMPOTENCY_KEY_REUSED, and as `openOnce` does.
 */
export async function reserveRefund(
  em: EntityManager,
  sealer: Sealer,
  { refundId, opening }: { refundId: string; opening: RefundOpening | null },
): Promise<PayoutStanding> {
  await failpoint('reserve-refund.before');
  const find = (tx: EntityManager) => tx.findOne(Payout, { id: refundId, kind: 'payment_refund' });
  const payout = opening === null ? await find(em) : await reserveOnce(em, sealer, { refundId, opening }, find);
  if (payout === null) refuse('NOT_FOUND', 'The refund was not found');
  await failpoint('reserve-refund.after');
  return standingOf(payout);
}

async function reserveOnce(
  em: EntityManager,
  sealer: Sealer,
  { refundId, opening }: { refundId: string; opening: RefundOpening },
  find: (tx: EntityManager) => Promise<Payout | null>,
): Promise<Payout> {
  const texts = await openForOrder<PayoutTexts>(sealer, payoutTextsPlace(refundId), opening.textsSealed);
  const { stamp, idempotency, partnerId } = opening;
  const claim = { ...idempotency, partnerId };
  const place = { resourceId: refundId, kind: 'payment_refund', claim, stamp } as const;
  const make = (tx: EntityManager) => {
    // Reserve nothing if the payee cannot be decrypted.
    texts.read();
    return reserve(tx, refundId, opening);
  };
  return openOnce(em, place, { find, make });
}

async function reserve(tx: EntityManager, id: string, opening: RefundOpening): Promise<Payout> {
  const { partnerId, paymentId, amount, bankCode } = opening;
  const headroom = await lockPayoutHeadroom(tx, partnerId);
  const { activity, availableAccountId, reservedAccountId, at } = headroom;
  refuseInactive(activity);
  const refundable = await readRefundable(tx, { partnerId, paymentId });
  refuseBeyondPaid(refundable, amount);
  refuseRefundBeyond(headroom, { amount, byTransfer: bankCode !== null });
  const payout = await writePayout(tx, {
    id,
    kind: 'payment_refund',
    sourceAccountId: availableAccountId,
    reservedAccountId,
    partnerId,
    reference: payoutReferenceOf(id, 'payment_refund'),
    externalRef: refundable.external_ref,
    feeMode: 'DEDUCTED',
    amount,
    fee: '0.0000',
    net: amount,
    providerFee: bankCode === null ? '0.0000' : await readProviderFee(tx, { partnerId, bankCode, net: amount }),
    bankCode,
    refundOf: opening.refundOf,
    textsSealed: opening.textsSealed,
    requestId: opening.requestId,
    at,
  });
  await tx.execute(
    'insert into payment_refunds (id, payment_id, created_at) select id, ?, created_at from payouts where id = ?',
    [paymentId, id],
  );
  await reserveMoney(tx, payout, { actorId: null, data: { partner_id: partnerId, payment_id: paymentId, amount } });
  return payout;
}
