import type { EntityManager } from '@mikro-orm/postgresql';
import { openForOrder } from '../../partners/open-for-order.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { openOnce } from '../../platform/openings/open-once.ts';
import { refuse } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { payoutReferenceOf } from '../../shared/ids.ts';
import { addMoney } from '../../shared/money.ts';
import { Payout } from './payout.entity.ts';
import { type PayoutOpening, type PayoutStanding, type PayoutTexts, payoutTextsPlace } from './payout.ts';
import { lockPayoutHeadroom, refuseBeyondHeadroom } from './payout-limits.ts';
import { standingOf } from './standing-of.ts';
import { reserveMoney, writePayout } from './write-payout.ts';

/**
 * The first step of a partner's payout: checks limits and available balance and reserves the money (available ->
 * reserved), in one transaction under the partner's lock, so that concurrent payouts cannot exceed them. Returns an
 * existing payout unchanged. Throws AUTH_PARTNER_INACTIVE, FUNDS_* or REQUEST_IDEMPOTENCY_KEY_REUSED, and as `openOnce`
 * does. After a refusal no attempt at this opening reserves anything.
 */
export async function reservePayout(
  em: EntityManager,
  sealer: Sealer,
  { payoutId, opening }: { payoutId: string; opening: PayoutOpening | null },
): Promise<PayoutStanding> {
  await failpoint('reserve-payout.before');
  const find = (tx: EntityManager) => tx.findOne(Payout, { id: payoutId });
  const payout = opening === null ? await find(em) : await reserveOnce(em, sealer, { payoutId, opening }, find);
  if (payout === null) refuse('NOT_FOUND', 'The payout was not found');
  await failpoint('reserve-payout.after');
  return standingOf(payout);
}

async function reserveOnce(
  em: EntityManager,
  sealer: Sealer,
  { payoutId, opening }: { payoutId: string; opening: PayoutOpening },
  find: (tx: EntityManager) => Promise<Payout | null>,
): Promise<Payout> {
  const texts = await openForOrder<PayoutTexts>(sealer, payoutTextsPlace(payoutId), opening.textsSealed);
  const { stamp, idempotency, partnerId } = opening;
  const place = { resourceId: payoutId, kind: 'payout', claim: { ...idempotency, partnerId }, stamp } as const;
  return openOnce(em, place, { find, make: (tx) => reserve(tx, payoutId, opening, texts.read()) });
}

async function reserve(
  tx: EntityManager,
  payoutId: string,
  opening: PayoutOpening,
  texts: Pick<PayoutTexts, 'external_ref'>,
): Promise<Payout> {
  const { partnerId, amount, fee, net } = opening;
  const headroom = await lockPayoutHeadroom(tx, partnerId);
  refuseBeyondHeadroom(headroom, { amount, reserved: addMoney(net, fee) });
  const payout = await writePayout(tx, {
    ...opening,
    id: payoutId,
    kind: 'partner_payout',
    sourceAccountId: headroom.availableAccountId,
    reservedAccountId: headroom.reservedAccountId,
    reference: payoutReferenceOf(payoutId),
    externalRef: texts.external_ref,
    at: headroom.at,
  });
  await reserveMoney(tx, payout, { actorId: null, data: { partner_id: partnerId } });
  return payout;
}
