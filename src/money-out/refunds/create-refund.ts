import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { must } from '../../shared/assert.ts';
import { refundIdFor } from '../../shared/ids.ts';
import type { KeyedRequest } from '../../shared/opening.ts';
import { createReservationTurns } from '../payouts/reserve-in-turn.ts';
import { findRefund } from './find-refunds.ts';
import { prepareRefund, type RefundRequest } from './prepare-refund.ts';
import type { WholeRefund } from './present-refund.ts';
import type { RefundWorkflows } from './refund.ts';

const reserveInTurn = createReservationTurns();

const notInTime = 'The refund could not be reserved in time; try again under the same key';

export interface RefundCreation {
  partnerId: string;
  paymentId: string;
  body: RefundRequest;
  idempotency: KeyedRequest;
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
  return reserveInTurn(
    em,
    {
      resourceId: refundId,
      kind: 'payment_refund',
      claim: { partnerId, ...idempotency },
      stamp: idempotency.stamp,
      turnOf: partnerId,
      unavailable: notInTime,
    },
    {
      find,
      prepare: () => prepareRefund(em, sealer, { refundId, partnerId, paymentId, body, idempotency, requestId }),
      start: (opening, waitMs) => workflows.startPaymentRefund(refundId, opening, waitMs),
    },
  );
}
