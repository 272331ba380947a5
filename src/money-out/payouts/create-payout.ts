import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { must } from '../../shared/assert.ts';
import { payoutIdFor } from '../../shared/ids.ts';
import type { KeyedRequest } from '../../shared/opening.ts';
import { Payout } from './payout.entity.ts';
import type { PayoutWorkflows } from './payout.ts';
import { type PayoutRequest, preparePayout } from './prepare-payout.ts';
import { createReservationTurns } from './reserve-in-turn.ts';

const reserveInTurn = createReservationTurns();

const notInTime = 'The payout could not be reserved in time; try again under the same key';

export interface PayoutCreation {
  partnerId: string;
  body: PayoutRequest;
  idempotency: KeyedRequest;
  requestId: string;
}

/**
 * Creates a payout and waits until its money is reserved. Throws FUNDS_* if the partner may not pay it out, and
 * SERVICE_UNAVAILABLE if nothing was reserved in time: for two minutes, a retry with the same key joins a payout that
 * may still start.
 */
export async function createPayout(
  em: EntityManager,
  { sealer, workflows }: { sealer: Sealer; workflows: Pick<PayoutWorkflows, 'startPartnerPayout'> },
  { partnerId, body, idempotency, requestId }: PayoutCreation,
): Promise<Payout> {
  const payoutId = payoutIdFor(partnerId, idempotency.key);
  const find = (place: EntityManager) => place.findOne(Payout, { id: payoutId, partner_id: partnerId });
  if (idempotency.resourceId !== null) return must(await find(em), 'a used idempotency key has a payout');
  return reserveInTurn(
    em,
    {
      resourceId: payoutId,
      kind: 'payout',
      claim: { partnerId, ...idempotency },
      stamp: idempotency.stamp,
      turnOf: partnerId,
      unavailable: notInTime,
    },
    {
      find,
      prepare: () => preparePayout(em, sealer, { payoutId, partnerId, body, idempotency, requestId }),
      start: (opening, waitMs) => workflows.startPartnerPayout(payoutId, opening, waitMs),
    },
  );
}
