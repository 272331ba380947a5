import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../encryption/sealer.ts';
import { createOnce } from '../openings/create-once.ts';
import { stampOpening } from '../openings/stamp-opening.ts';
import { must } from '../shared/assert.ts';
import { budgets } from '../shared/budgets.ts';
import { createSemaphore } from '../shared/concurrency.ts';
import { payoutIdFor } from '../shared/ids.ts';
import { Payout } from './payout.entity.ts';
import type { PayoutWorkflows } from './payout.ts';
import { type PayoutRequest, preparePayout } from './prepare-payout.ts';

/**
 * Limits how many payouts one process reserves at once. A waiting request reads limits and balance when its turn comes,
 * so in a flood the hopeless ones are refused without starting a workflow. The limit per partner leaves places to
 * others when one partner's row is locked and its reservations pile up.
 */
const semaphore = createSemaphore(24, { perKey: 8, mostWaiting: 500 });

const notInTime = 'The payout could not be reserved in time; try again under the same key';

export interface PayoutCreation {
  partnerId: string;
  body: PayoutRequest;
  /** `resourceId` is set when the key has already made its payout: then this is a retry. */
  idempotency: { key: string; keyHash: string; fingerprint: string; resourceId: string | null };
  requestId: string;
}

/**
 * Creates a payout and waits until its money is reserved. Throws FUNDS_* when the partner may not pay it out, and
 * SERVICE_UNAVAILABLE when nothing was reserved in time: for two minutes, a retry under the same key joins a payout
 * that may still begin.
 */
export async function createPayout(
  em: EntityManager,
  { sealer, workflows }: { sealer: Sealer; workflows: Pick<PayoutWorkflows, 'startPartnerPayout'> },
  { partnerId, body, idempotency, requestId }: PayoutCreation,
): Promise<Payout> {
  const payoutId = payoutIdFor(partnerId, idempotency.key);
  const find = (place: EntityManager) => place.findOne(Payout, { id: payoutId, partner_id: partnerId });
  if (idempotency.resourceId !== null) return must(await find(em), 'a key that has made a payout names it');
  const endsAt = performance.now() + budgets.requests.payoutReservation;
  const stamp = await stampOpening(em);
  const leave = await semaphore.enter({ key: partnerId, waitMs: endsAt - performance.now() - budgets.requests.away });
  try {
    return await createOnce(
      em,
      { resourceId: payoutId, kind: 'payout', stamp, isKeyed: true, unavailable: notInTime },
      {
        find,
        prepare: () => preparePayout(em, sealer, { payoutId, partnerId, body, idempotency, requestId }),
        start: (opening) => workflows.startPartnerPayout(payoutId, opening, Math.max(1, endsAt - performance.now())),
      },
    );
  } finally {
    leave();
  }
}
