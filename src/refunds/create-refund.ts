import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../encryption/sealer.ts';
import { createOnce } from '../openings/create-once.ts';
import { stampOpening } from '../openings/stamp-opening.ts';
import { must } from '../shared/assert.ts';
import { budgets } from '../shared/budgets.ts';
import { createSemaphore } from '../shared/concurrency.ts';
import { refundIdFor } from '../shared/ids.ts';
import { findRefund } from './find-refunds.ts';
import { prepareRefund, type RefundRequest } from './prepare-refund.ts';
import type { WholeRefund } from './present-refund.ts';
import type { RefundWorkflows } from './refund.ts';

/** Limits how many refunds one process reserves at once, in all and per partner, as with payouts. */
const semaphore = createSemaphore(24, { perKey: 8, mostWaiting: 500 });

const notInTime = 'The refund could not be reserved in time; try again under the same key';

export interface RefundCreation {
  partnerId: string;
  paymentId: string;
  body: RefundRequest;
  /** `resourceId` is set when the key has already made its refund: then this is a retry. */
  idempotency: { key: string; keyHash: string; fingerprint: string; resourceId: string | null };
  requestId: string;
}

/**
 * Creates a refund of a partner's payment and waits until its money is reserved. Throws as `prepareRefund` and
 * `reserveRefund`, and SERVICE_UNAVAILABLE when nothing was reserved in time: for two minutes, a retry under the same
 * key joins a refund that may still begin.
 */
export async function createRefund(
  em: EntityManager,
  { sealer, workflows }: { sealer: Sealer; workflows: RefundWorkflows },
  { partnerId, paymentId, body, idempotency, requestId }: RefundCreation,
): Promise<WholeRefund> {
  const refundId = refundIdFor(partnerId, idempotency.key);
  const find = (place: EntityManager) => findRefund(place, { partnerId, id: refundId });
  if (idempotency.resourceId !== null) return must(await find(em), 'a key that has made a refund names it');
  const endsAt = performance.now() + budgets.requests.payoutReservation;
  const stamp = await stampOpening(em);
  const leave = await semaphore.enter({ key: partnerId, waitMs: endsAt - performance.now() - budgets.requests.away });
  try {
    return await createOnce(
      em,
      { resourceId: refundId, kind: 'payment_refund', stamp, isKeyed: true, unavailable: notInTime },
      {
        find,
        prepare: () => prepareRefund(em, sealer, { refundId, partnerId, paymentId, body, idempotency, requestId }),
        start: (opening) => workflows.startPaymentRefund(refundId, opening, Math.max(1, endsAt - performance.now())),
      },
    );
  } finally {
    leave();
  }
}
