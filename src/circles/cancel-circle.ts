import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { refuse } from '../shared/errors.ts';
import { canMove } from '../shared/status-law.ts';
import { type Asking, changeCircle, recordChange, requireStatus, type WakingCircles } from './change-circle.ts';
import { requireManager } from './circle-access.ts';
import { CircleContribution } from './circle-contribution.entity.ts';
import { holdForEnd, settleCircle } from './pay-out-of-circle.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { circleLaw } from './saving-circle.ts';
import { refundContributions } from './saving-circle-contribution.ts';

async function setCancelled(tx: EntityManager, circle: SavingCircle): Promise<Date> {
  const now = await readDatabaseClock(tx);
  circle.status = 'cancelled';
  circle.next_opens_at = null;
  circle.ended_at = circle.updated_at = now;
  return now;
}

/**
 * Cancels an `active` circle in one transaction: refunds completed contributions of the unfinished round, makes pending
 * ones `cancelled` (refunded if their money still arrives), and distributes the remaining balance. Signals its
 * workflow. Throws NOT_FOUND, and 400 in any other status.
 */
export function cancelCircle(em: EntityManager, ports: WakingCircles, asking: Asking): Promise<SavingCircle> {
  const cancel = async (tx: EntityManager, circle: SavingCircle) => {
    requireStatus(circle, 'active', 'only an active saving circle can be cancelled');
    const turn_number = circle.current_turn;
    const contributions = await tx.find(
      CircleContribution,
      { saving_circle_id: circle.id, turn_number, status: { $in: ['pending', 'completed'] } },
      { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true, orderBy: { refund_account_id: 'asc', id: 'asc' } },
    );
    const paid = contributions.filter(({ status }) => status === 'completed');
    const pending = contributions.filter(({ status }) => status === 'pending');
    const updated_at = await setCancelled(tx, circle);
    for (const contribution of pending) Object.assign(contribution, { status: 'cancelled', updated_at });
    const credited = paid.map(({ refund_account_id }) => refund_account_id);
    await holdForEnd(tx, circle, credited);
    await refundContributions(tx, circle, paid);
    await settleCircle(tx, circle);
    const ended = { status: 'cancelled', turn_number, refunded: paid.length, cancelled: pending.length };
    await recordChange(tx, circle.id, ended, { by: asking });
    return circle;
  };
  return changeCircle(em, ports, asking, cancel);
}

/**
 * Deletes a `new` circle, or an `active` one without any contribution row, for its creator and admins: it becomes
 * `cancelled` and reads return 404. Signals its workflow. Throws NOT_FOUND, FORBIDDEN, and 400 for any other circle.
 */
export function deleteCircle(em: EntityManager, ports: WakingCircles, asking: Asking): Promise<void> {
  const remove = async (tx: EntityManager, circle: SavingCircle) => {
    requireManager(asking.caller, circle);
    if (!canMove(circleLaw, circle.status, 'cancelled')) {
      refuse('REQUEST_INVALID', `a ${circle.status} saving circle cannot be deleted`, { field: 'id' });
    }
    if ((await tx.count(CircleContribution, { saving_circle_id: circle.id })) > 0) {
      refuse('REQUEST_INVALID', 'an active saving circle with recorded contributions cannot be deleted', {
        field: 'id',
      });
    }
    circle.deleted_at = await setCancelled(tx, circle);
    await tx.flush();
    await recordChange(tx, circle.id, undefined, { event: 'RESOURCE_DELETED', impact: 'HIGH', by: asking });
  };
  return changeCircle(em, ports, asking, remove);
}
