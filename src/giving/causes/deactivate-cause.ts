import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { completeClosedCause } from './cause-of-disbursement.ts';
import { changeCause } from './change-cause.ts';
import { type CauseRow, isCreatorOf, lockCause, readCause } from './find-cause.ts';
import { isStopped } from './is-stopped.ts';

/**
 * Deactivates a cause, for its creator and admins of its organization, unless the platform has stopped it (FORBIDDEN
 * otherwise). The row and its donations stay. A cause that has disbursed all its money then becomes `completed`; the
 * returned row is from before that.
 */
export function deactivateCause(
  em: EntityManager,
  { caller, causeId, requestId }: { caller: Caller; causeId: string; requestId: string },
): Promise<CauseRow> {
  return em.transactional(async (tx) => {
    const cause = await lockCause(tx, causeId);
    if (!isCreatorOf(caller, cause))
      refuse('FORBIDDEN', 'only its creator can deactivate a charitable cause', { field: 'id' });
    if (isStopped(cause)) refuse('FORBIDDEN', 'the platform has stopped the charitable cause', { field: 'id' });
    await changeCause(tx, cause, { status: 'deactivated' });
    await recordAction(tx, { caller, requestId }, 'RESOURCE_DELETED', ['charitable_cause', causeId]);
    const deactivated = await readCause(tx, causeId);
    await completeClosedCause(tx, causeId, { actorId: caller.userId, requestId });
    return deactivated;
  });
}
