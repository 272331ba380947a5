import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { recordEvent } from '../platform/events/record-event.ts';
import { canMove } from '../shared/status-law.ts';
import { CircleContribution } from './circle-contribution.entity.ts';
import { CircleRound } from './circle-round.entity.ts';
import { shareCircle } from './lock-circle.ts';
import { refundContributions } from './refund-contribution.ts';
import { type ContributionStatus, contributionLaw } from './saving-circle.ts';

interface Settled {
  circleId: string;
  orderId: string;
  transactionId: string;
}

/**
 * A contribution's gateway payment was posted to the holding account: it becomes `completed`, or, when it was cancelled
 * or its circle or turn is over, is `refunded` at once to the account the member joined with. In the caller's
 * transaction.
 */
export async function settleContribution(tx: EntityManager, { circleId, orderId, transactionId }: Settled) {
  const circle = await shareCircle(tx, circleId);
  const contribution = await lockContributionOf(tx, orderId);
  const round = await tx.findOneOrFail(
    CircleRound,
    { saving_circle_id: circleId, turn_number: contribution.turn_number },
    { refresh: true },
  );
  contribution.transaction_id = transactionId;
  contribution.updated_at = await readDatabaseClock(tx);
  if (contribution.status !== 'pending' || circle.status !== 'active' || round.paid_at) {
    await refundContributions(tx, circle, [contribution]);
    return;
  }
  contribution.status = 'completed';
  await tx.flush();
  await recordChange(tx, contribution);
}

/** A contribution's gateway payment ended unpaid: declined is `failed`, expired `cancelled` (docs/contract.md 6). */
export async function closeContribution(tx: EntityManager, orderId: string, outcome: 'FAILED' | 'EXPIRED') {
  const contribution = await lockContributionOf(tx, orderId);
  const status: ContributionStatus = outcome === 'FAILED' ? 'failed' : 'cancelled';
  if (!canMove(contributionLaw, contribution.status, status)) return;
  contribution.status = status;
  contribution.updated_at = await readDatabaseClock(tx);
  await tx.flush();
  await recordChange(tx, contribution);
}

const lockContributionOf = (tx: EntityManager, orderId: string): Promise<CircleContribution> =>
  tx.findOneOrFail(
    CircleContribution,
    { payment_order_id: orderId },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );

function recordChange(tx: EntityManager, { id, saving_circle_id, turn_number, status }: CircleContribution) {
  return recordEvent(tx, {
    event: 'RESOURCE_UPDATED',
    resourceType: 'saving_circle_contribution',
    resourceId: id,
    actorId: null,
    requestId: null,
    data: { saving_circle_id, turn_number, status },
  });
}
