import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { recordEvent } from '../platform/events/record-event.ts';
import type { Caller } from '../shared/caller.ts';
import { refuse } from '../shared/errors.ts';
import { canMove } from '../shared/status-law.ts';
import { thenWake } from '../shared/then-wake.ts';
import { requireManager } from './circle-access.ts';
import type { CircleWorkflows } from './circle-contract.ts';
import { CircleContribution } from './circle-contribution.entity.ts';
import { lockLiveCircle } from './lock-circle.ts';
import { circleLaw } from './saving-circle.ts';

/**
 * Deletes a `new` circle, or an `active` one without any contribution row: it becomes `cancelled` and is no longer
 * found; its workflow is woken. Creator and admins only. Throws NOT_FOUND, FORBIDDEN, and 400 in any other state.
 */
export function deleteCircle(
  em: EntityManager,
  { workflows }: { workflows: Pick<CircleWorkflows, 'wakeSavingCircle'> },
  { caller, circleId, requestId }: { caller: Caller; circleId: string; requestId: string },
): Promise<void> {
  return thenWake(
    em.transactional(async (tx) => {
      const circle = await lockLiveCircle(tx, circleId);
      requireManager(caller, circle);
      if (!canMove(circleLaw, circle.status, 'cancelled')) {
        refuse('REQUEST_INVALID', `a ${circle.status} saving circle cannot be deleted`, { field: 'id' });
      }
      if ((await tx.count(CircleContribution, { saving_circle_id: circle.id })) > 0) {
        refuse('REQUEST_INVALID', 'an active saving circle with recorded contributions cannot be deleted', {
          field: 'id',
        });
      }
      circle.status = 'cancelled';
      circle.next_opens_at = null;
      circle.ended_at = circle.deleted_at = circle.updated_at = await readDatabaseClock(tx);
      await tx.flush();
      await recordEvent(tx, {
        event: 'RESOURCE_DELETED',
        impact: 'HIGH',
        resourceType: 'saving_circle',
        resourceId: circle.id,
        actorId: caller.userId,
        requestId,
      });
    }),
    () => workflows.wakeSavingCircle(circleId, 'circleCancelled'),
  );
}
