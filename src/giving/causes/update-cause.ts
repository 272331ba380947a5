import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { changesTo } from '../../shared/changes.ts';
import { refuse } from '../../shared/errors.ts';
import type { Money } from '../../shared/money.ts';
import type { Cause } from './cause.entity.ts';
import { approvedFields, type CauseStatus, needsApproval } from './cause.ts';
import { completeClosedCause } from './cause-of-disbursement.ts';
import { changeCause } from './change-cause.ts';
import { type CauseRow, isCreatorOf, isManager, lockCause, readCause } from './find-cause.ts';
import { isStopped } from './is-stopped.ts';

export interface CauseChanges {
  name?: string | undefined;
  description?: string | undefined;
  currency?: 'IDR' | undefined;
  /** IDR. */
  target_amount?: Money | undefined;
  regulations?: string | undefined;
  benefit?: string | undefined;
  /** Null clears it. */
  location?: string | null | undefined;
  status?: CauseStatus | undefined;
}

/**
 * Changes a cause, for its creator, admins of its organization and managers (FORBIDDEN otherwise). Only an approved
 * cause can become `active`, `approved` or `completed`, and can be paused and resumed (docs/contract.md 5). Changing a
 * field that the approval is based on revokes the approval: the cause is `pending` again, and open orders are still
 * settled. The status of a cause that the platform has stopped cannot be changed (FORBIDDEN, docs/contract.md 11). A
 * cause that is closed after disbursing all its money then becomes `completed`; the returned row is from before that.
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
    if (!isCreatorOf(caller, cause) && !(await isManager(tx, causeId, caller.userId))) {
      refuse('FORBIDDEN', 'only its creator and managers can change a charitable cause', { field: 'id' });
    }
    const previousStatus = cause.status;
    const given = changesTo<CauseChanges>(cause, changes);
    if (Object.keys(given).length === 0) return readCause(tx, causeId);
    if (given.status !== undefined && isStopped(cause)) {
      refuse('FORBIDDEN', 'the platform has stopped the charitable cause', { field: 'status' });
    }
    const isApproved = (cause.approved_at ?? null) !== null;
    const losesApproval = isApproved && approvedFields.some((field) => field in given);
    refuseUnapproved(given.status, isApproved, losesApproval);
    const unapproved = losesApproval ? withoutApproval(cause) : {};
    await changeCause(tx, cause, { ...unapproved, ...given });
    await recordAction(tx, { caller, requestId }, 'RESOURCE_UPDATED', ['charitable_cause', causeId], {
      changed: Object.keys(given),
      ...(losesApproval ? { approved: false } : {}),
      ...(cause.status === previousStatus ? {} : { status: cause.status, previous_status: previousStatus }),
    });
    const updated = await readCause(tx, causeId);
    if (given.status !== undefined) await completeClosedCause(tx, causeId, { actorId: caller.userId, requestId });
    return updated;
  });
}

function refuseUnapproved(status: CauseStatus | undefined, isApproved: boolean, losesApproval: boolean): void {
  if (status === undefined || !needsApproval(status) || (isApproved && !losesApproval)) return;
  const why = losesApproval ? 'has to be approved again after this change' : 'was never approved';
  refuse('FORBIDDEN', `the charitable cause ${why} and cannot be set to ${status}`, { field: 'status' });
}

/**
 * Returns the changes that revoke an approval: the cause becomes `pending`, or, if it is stopped, when it is
 * reinstated.
 */
const withoutApproval = (cause: Cause): Partial<Cause> => ({
  approved_at: null,
  approved_by: null,
  ...(isStopped(cause) ? { stopped_from: 'pending' } : { status: 'pending' }),
});
