import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { type CauseRow, lockCause, readCause } from './find-cause.ts';
import { tellOrganizers } from './tell-organizers.ts';

/**
 * Approves a cause, which becomes `active`; the route admits only the platform super admin. Throws REQUEST_INVALID when
 * it is already approved or not `pending`.
 */
export function approveCause(
  em: EntityManager,
  { caller, causeId, requestId }: { caller: Caller; causeId: string; requestId: string },
): Promise<CauseRow> {
  return em.transactional(async (tx) => {
    const cause = await lockCause(tx, causeId);
    if ((cause.approved_at ?? null) !== null)
      refuse('REQUEST_INVALID', 'the charitable cause is already approved', { field: 'id' });
    if (cause.status !== 'pending')
      refuse('REQUEST_INVALID', `the charitable cause is ${cause.status}, not pending`, { field: 'id' });
    const now = await readDatabaseClock(tx);
    tx.assign(cause, { status: 'active', approved_at: now, approved_by: caller.userId, updated_at: now });
    await tx.flush();
    await recordAction(tx, { caller, requestId }, ['RESOURCE_UPDATED', 'HIGH'], ['charitable_cause', causeId], {
      status: 'active',
    });
    await tellOrganizers(tx, cause, { kind: 'cause_approved', turnNumber: null });
    return readCause(tx, causeId);
  });
}
