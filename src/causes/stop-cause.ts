import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../events/record-event.ts';
import type { Caller } from '../identity/caller.ts';
import { must } from '../shared/assert.ts';
import { refuse } from '../shared/errors.ts';
import type { Cause } from './cause.entity.ts';
import { changeCause } from './change-cause.ts';
import { type CauseRow, lockCause, readCause } from './find-cause.ts';

interface Stopping {
  caller: Caller;
  causeId: string;
  /** The reason in the caller's words; stored in the event. */
  reason: string;
  requestId: string;
}

/**
 * The platform stops a cause, whatever its status: it becomes `rejected`, a status that only `reinstateCause` changes,
 * and takes no donations, allocations or subscription periods. What it holds stays, and donations under way still
 * arrive. Throws REQUEST_INVALID when it is stopped already.
 */
export function stopCause(em: EntityManager, stopping: Stopping): Promise<CauseRow> {
  return decide(em, stopping, (cause) => {
    if (isStopped(cause)) refuse('REQUEST_INVALID', 'the charitable cause is already stopped', { field: 'id' });
    return { status: 'rejected', stopped_from: cause.status };
  });
}

/** Restores a stopped cause's previous status. Throws REQUEST_INVALID when it is not stopped. */
export function reinstateCause(em: EntityManager, stopping: Stopping): Promise<CauseRow> {
  return decide(em, stopping, (cause) => {
    if (!isStopped(cause)) refuse('REQUEST_INVALID', 'the charitable cause is not stopped', { field: 'id' });
    return { status: must(cause.stopped_from, 'a stopped cause was something'), stopped_from: null };
  });
}

/** Whether the platform has stopped it: then nobody else may change its status. */
export const isStopped = ({ stopped_from: from }: Pick<Cause, 'stopped_from'>): boolean => (from ?? null) !== null;

function decide(
  em: EntityManager,
  { caller, causeId, reason, requestId }: Stopping,
  change: (cause: Cause) => Pick<Cause, 'status' | 'stopped_from'>,
): Promise<CauseRow> {
  return em.transactional(async (tx) => {
    const cause = await lockCause(tx, causeId);
    const { status: previousStatus } = cause;
    await changeCause(tx, cause, change(cause));
    await recordEvent(tx, {
      event: 'RESOURCE_UPDATED',
      impact: 'HIGH',
      resourceType: 'charitable_cause',
      resourceId: causeId,
      actorId: caller.userId,
      requestId,
      data: { status: cause.status, previous_status: previousStatus, stopped: isStopped(cause), reason },
    });
    return readCause(tx, causeId);
  });
}
