import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { recordEvent } from '../platform/events/record-event.ts';
import type { Caller } from '../shared/caller.ts';
import { refuse } from '../shared/errors.ts';
import { thenWake } from '../shared/then-wake.ts';
import type { CircleWorkflows } from './circle-contract.ts';
import { CircleContribution } from './circle-contribution.entity.ts';
import { lockLiveCircle } from './lock-circle.ts';
import { refundContributions } from './refund-contribution.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { holdForEnd, settleCircle } from './settle-circle.ts';

/**
 * Cancels an `active` circle in one transaction: completed contributions of the unfinished round are refunded, pending
 * ones become `cancelled` and are refunded if their money still arrives; then what the circle still holds is shared
 * out. Wakes its workflow. Throws NOT_FOUND, and 400 in any other state.
 */
export function cancelCircle(
  em: EntityManager,
  { workflows }: { workflows: Pick<CircleWorkflows, 'wakeSavingCircle'> },
  { caller, circleId, requestId }: { caller: Caller; circleId: string; requestId: string },
): Promise<SavingCircle> {
  return thenWake(
    em.transactional(async (tx) => {
      const circle = await lockLiveCircle(tx, circleId);
      if (circle.status !== 'active') {
        refuse('REQUEST_INVALID', `only an active saving circle can be cancelled; this one is ${circle.status}`, {
          field: 'id',
        });
      }
      const contributions = await tx.find(
        CircleContribution,
        { saving_circle_id: circle.id, turn_number: circle.current_turn, status: { $in: ['pending', 'completed'] } },
        { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true, orderBy: { refund_account_id: 'asc', id: 'asc' } },
      );
      circle.status = 'cancelled';
      circle.next_opens_at = null;
      const now = await readDatabaseClock(tx);
      circle.ended_at = circle.updated_at = now;
      const paid = contributions.filter(({ status }) => status === 'completed');
      const pending = contributions.filter(({ status }) => status === 'pending');
      for (const contribution of pending) {
        contribution.status = 'cancelled';
        contribution.updated_at = now;
      }
      await holdForEnd(
        tx,
        circle,
        paid.map(({ refund_account_id }) => refund_account_id),
      );
      await refundContributions(tx, circle, paid);
      await settleCircle(tx, circle);
      await recordEvent(tx, {
        event: 'RESOURCE_UPDATED',
        resourceType: 'saving_circle',
        resourceId: circle.id,
        actorId: caller.userId,
        requestId,
        data: {
          status: 'cancelled',
          turn_number: circle.current_turn,
          refunded: paid.length,
          cancelled: pending.length,
        },
      });
      return circle;
    }),
    () => workflows.wakeSavingCircle(circleId, 'circleCancelled'),
  );
}
