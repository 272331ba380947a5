import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../encryption/sealer.ts';
import { recordEvent } from '../events/record-event.ts';
import { postJournal } from '../ledger/post-journal.ts';
import { openOnce } from '../openings/open-once.ts';
import { claimPartnerKey } from '../partners/idempotency.ts';
import { overdueGraceMs } from '../shared/asking-intervals.ts';
import { must } from '../shared/assert.ts';
import { refuse } from '../shared/errors.ts';
import { failpoint } from '../shared/failpoint.ts';
import { journalKeys } from '../shared/ids.ts';
import { addMoney, negateMoney } from '../shared/money.ts';
import { Payout } from './payout.entity.ts';
import {
  type PayoutOpening,
  type PayoutStanding,
  type PayoutTexts,
  payoutReferenceOf,
  payoutTextsPlace,
} from './payout.ts';
import { readPayoutRoom, refuseBeyondRoom } from './payout-limits.ts';

/**
 * The first step of a payout: limits and available balance checked and the money reserved (available -> reserved), in
 * one transaction under the partner's lock, so that no number of simultaneous payouts can pass them. A payout that is
 * there already is told as it stands. Refuses with AUTH_PARTNER_INACTIVE, FUNDS_* or REQUEST_IDEMPOTENCY_KEY_REUSED,
 * and as `openOnce`; then no attempt at this opening reserves anything.
 */
export async function reservePayout(
  em: EntityManager,
  sealer: Sealer,
  { payoutId, opening }: { payoutId: string; opening: PayoutOpening | null },
): Promise<PayoutStanding> {
  await failpoint('reserve-payout.before');
  const find = (tx: EntityManager) => tx.findOne(Payout, { id: payoutId });
  const payout =
    opening === null
      ? await find(em)
      : await openOnce(
          em,
          { resourceId: payoutId, kind: 'payout', stamp: opening.stamp },
          { find, make: (tx) => reserve(tx, sealer, payoutId, opening) },
        );
  if (payout === null) refuse('NOT_FOUND', `no payout ${payoutId}`);
  await failpoint('reserve-payout.after');
  return standingOf(payout);
}

async function reserve(tx: EntityManager, sealer: Sealer, payoutId: string, opening: PayoutOpening): Promise<Payout> {
  const { partnerId, amount, fee, net } = opening;
  const texts: PayoutTexts = JSON.parse(await sealer.open(payoutTextsPlace(payoutId), opening.textsSealed));
  await claimPartnerKey(tx, { ...opening.idempotency, partnerId, resourceType: 'payout', resourceId: payoutId });
  // Two statements: what the second reads is what the holders of the lock before us have committed.
  await tx.execute('select 1 from partners where id = ? for no key update', [partnerId]);
  const room = await readPayoutRoom(tx, partnerId);
  const reserved = addMoney(net, fee);
  refuseBeyondRoom(room, { amount, reserved });
  const payout = tx.create(Payout, {
    id: payoutId,
    partner_id: partnerId,
    reference: payoutReferenceOf(payoutId),
    external_ref: texts.external_ref,
    fee_mode: opening.feeMode,
    amount,
    fee,
    net_amount: net,
    provider_fee: opening.providerFee,
    bank_code: opening.bankCode,
    texts_sealed: opening.textsSealed,
    status: 'pending',
    look_again_at: new Date(room.at.getTime() + overdueGraceMs),
    request_id: opening.requestId,
    created_at: room.at,
    updated_at: room.at,
  });
  await tx.flush();
  must(
    await postJournal(tx, {
      kind: 'partner-payout.reserved',
      businessKey: journalKeys.payoutReserved(payoutId),
      postings: [
        { accountId: room.availableAccountId, amount: negateMoney(reserved) },
        { accountId: room.reservedAccountId, amount: reserved },
      ],
    }),
    'a new payout has no reservation',
  );
  await recordEvent(tx, {
    event: 'RESOURCE_CREATED',
    resourceType: 'payout',
    resourceId: payoutId,
    actorId: null,
    requestId: opening.requestId,
    data: { partner_id: partnerId },
  });
  return payout;
}

/** A payout as its workflow needs to know it. */
export const standingOf = (payout: Payout, deliveryIds: string[] = []): PayoutStanding => ({
  status: payout.status,
  reservedAt: payout.created_at.toISOString(),
  unknownSince: payout.unknown_since?.toISOString() ?? null,
  deliveryIds,
});
