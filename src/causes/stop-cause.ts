import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../events/record-event.ts';
import type { Caller } from '../identity/caller.ts';
import { must } from '../shared/assert.ts';
import { refuse } from '../shared/errors.ts';
import type { Cause } from './cause.entity.ts';
import { type CauseRow, lockCause, readCause } from './find-cause.ts';

interface Stopping {
  caller: Caller;
  causeId: string;
  /** Why, in the words of whoever does it; kept in the event. */
  reason: string;
  requestId: string;
}

/**
 * The platform stops a cause, whatever its status: it is `rejected`, which nobody but `reinstateCause` changes, and takes
 * neither donations nor allocations nor periods of subscriptions. What it holds stays, and what was on its way arrives.
 * Refuses one that is stopped already with REQUEST_INVALID.
 */
export function stopCause(em: EntityManager, stopping: Stopping): Promise<CauseRow> {
  return decide(em, stopping, (cause) => {
    if (isStopped(cause)) refuse('REQUEST_INVALID', 'the charitable cause is stopped already', { field: 'id' });
    return { status: 'rejected', stopped_from: cause.status };
  });
}

/** Puts a stopped cause back to what it was. Refuses one that is not stopped with REQUEST_INVALID. */
export function reinstateCause(em: EntityManager, stopping: Stopping): Promise<CauseRow> {
  return decide(em, stopping, (cause) => {
    if (!isStopped(cause)) refuse('REQUEST_INVALID', 'the charitable cause is not stopped', { field: 'id' });
    return { status: must(cause.stopped_from, 'a stopped cause was something'), stopped_from: null };
  });
}

/** Whether the platform has stopped it: then nobody else changes its status. */
export const isStopped = ({ stopped_from: from }: Pick<Cause, 'stopped_from'>): boolean => (from ?? null) !== null;

function decide(
  em: EntityManager,
  { caller, causeId, reason, requestId }: Stopping,
  change: (cause: Cause) => Pick<Cause, 'status' | 'stopped_from'>,
): Promise<CauseRow> {
  return em.transactional(async (tx) => {
    const cause = await lockCause(tx, causeId);
    const { status: previousStatus } = cause;
    tx.assign(cause, { ...change(cause), updated_at: new Date() });
    await tx.flush();
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
