import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAction } from '../../platform/events/record-event.ts';
import { must } from '../../shared/assert.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import type { Cause } from './cause.entity.ts';
import { completeClosedCause } from './cause-of-disbursement.ts';
import { changeCause } from './change-cause.ts';
import { type CauseRow, lockCause, readCause } from './find-cause.ts';
import { isStopped } from './is-stopped.ts';
import { tellOrganizers } from './tell-organizers.ts';

interface Stopping {
  caller: Caller;
  causeId: string;
  /** The reason in the caller's words; stored in the event. */
  reason: string;
  requestId: string;
}

/**
 * Stops a cause in any status: it becomes `rejected`, which only `reinstateCause` changes, and accepts no donations,
 * allocations or subscription periods. It keeps its money, and open orders are still settled. Throws REQUEST_INVALID if
 * it is already stopped.
 */
export function stopCause(em: EntityManager, stopping: Stopping): Promise<CauseRow> {
  return decide(em, stopping, (cause) => {
    if (isStopped(cause)) refuse('REQUEST_INVALID', 'the charitable cause is already stopped', { field: 'id' });
    return { status: 'rejected', stopped_from: cause.status };
  });
}

/**
 * Restores a stopped cause's previous status. If that is a closed status and all its money has reached the bank since,
 * it then becomes `completed`; the returned row is from before that. Throws REQUEST_INVALID if it is not stopped, and
 * FORBIDDEN if it would reopen but its owner was erased.
 */
export function reinstateCause(em: EntityManager, stopping: Stopping): Promise<CauseRow> {
  return decide(em, stopping, (cause) => {
    if (!isStopped(cause)) refuse('REQUEST_INVALID', 'the charitable cause is not stopped', { field: 'id' });
    return { status: must(cause.stopped_from, 'a stopped cause has stopped_from'), stopped_from: null };
  });
}

function decide(
  em: EntityManager,
  { caller, causeId, reason, requestId }: Stopping,
  change: (cause: Cause) => Pick<Cause, 'status' | 'stopped_from'>,
): Promise<CauseRow> {
  return em.transactional(async (tx) => {
    const cause = await lockCause(tx, causeId);
    const { status: previousStatus } = cause;
    await changeCause(tx, cause, change(cause));
    await recordAction(tx, { caller, requestId }, ['RESOURCE_UPDATED', 'HIGH'], ['charitable_cause', causeId], {
      status: cause.status,
      previous_status: previousStatus,
      stopped: isStopped(cause),
      reason,
    });
    if (isStopped(cause)) {
      const [stops] = await tx.execute<[{ count: number }]>(
        `select count(*)::integer as count from events where resource_id = ? and resource_type = 'charitable_cause'
           and data->>'stopped' = 'true'`,
        [causeId],
      );
      await tellOrganizers(tx, cause, { kind: 'cause_stopped', turnNumber: stops.count });
    }
    const decided = await readCause(tx, causeId);
    await completeClosedCause(tx, causeId, { actorId: caller.userId, requestId });
    return decided;
  });
}
