import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../events/record-event.ts';
import type { Caller } from '../identity/caller.ts';
import { changesTo } from '../shared/changes.ts';
import { refuse } from '../shared/errors.ts';
import type { Money } from '../shared/money.ts';
import { type CauseStatus, needsApproval } from './cause.ts';
import { type CauseRow, isManager, lockCause, readCause } from './find-cause.ts';

export interface CauseChanges {
  name?: string | undefined;
  description?: string | undefined;
  currency?: 'IDR' | undefined;
  /** IDR. */
  target_amount?: Money | undefined;
  regulations?: string | undefined;
  benefit?: string | undefined;
  status?: CauseStatus | undefined;
}

/**
 * Changes a cause, for its creator and managers (FORBIDDEN otherwise). One that was never approved cannot be made
 * `active` or `approved` so, whatever it was meanwhile; one that was may be paused and resumed (decisions 5).
 */
export function updateCause(
  em: EntityManager,
  {
    caller,
    causeId,
    changes,
    requestId,
  }: { caller: Caller; causeId: string; changes: CauseChanges; requestId: string },
): Promise<CauseRow> {
  return em.transactional(async (tx) => {
    const cause = await lockCause(tx, causeId);
    if (cause.created_by !== caller.userId && !(await isManager(tx, causeId, caller.userId))) {
      refuse('FORBIDDEN', 'only the creator and the managers of a charitable cause change it', { field: 'id' });
    }
    const { status } = changes;
    if (status !== undefined && needsApproval(status) && (cause.approved_at ?? null) === null) {
      refuse('FORBIDDEN', `the charitable cause was never approved and cannot be set to ${status}`, {
        field: 'status',
      });
    }
    const previousStatus = cause.status;
    const given = changesTo<CauseChanges>(cause, changes);
    if (Object.keys(given).length === 0) return readCause(tx, causeId);
    tx.assign(cause, { ...given, updated_at: new Date() });
    await tx.flush();
    await recordEvent(tx, {
      event: 'RESOURCE_UPDATED',
      resourceType: 'charitable_cause',
      resourceId: causeId,
      actorId: caller.userId,
      requestId,
      data: {
        changed: Object.keys(given),
        ...(cause.status === previousStatus ? {} : { status: cause.status, previous_status: previousStatus }),
      },
    });
    return readCause(tx, causeId);
  });
}
