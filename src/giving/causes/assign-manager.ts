import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { User } from '../../people/members/user.entity.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { isCreatorOf, lockCause } from './find-cause.ts';

/**
 * Makes a user a manager of a cause; for its creator and admins of its organization (FORBIDDEN otherwise, even for
 * managers). Throws NOT_FOUND for an unknown cause or user, REQUEST_INVALID for a user who is suspended or already
 * manages the cause, as its creator does.
 */
export function assignManager(
  em: EntityManager,
  input: { caller: Caller; causeId: string; userId: string; requestId: string },
): Promise<void> {
  const { caller, causeId, userId, requestId } = input;
  return em.transactional(async (tx) => {
    const cause = await lockCause(tx, causeId);
    if (!isCreatorOf(caller, cause)) refuse('FORBIDDEN', 'only the creator can assign managers', { field: 'id' });
    // This lock prevents suspending the user, or deleting them by revoking the invitation, until the transaction ends.
    const user = await tx.findOne(User, { id: userId }, { lockMode: LockMode.PESSIMISTIC_READ, refresh: true });
    if (user === null) refuse('NOT_FOUND', 'the user was not found', { field: 'user_id' });
    if (user.status === 'suspended') refuse('REQUEST_INVALID', 'the user is suspended', { field: 'user_id' });
    const assigned =
      userId === cause.created_by
        ? []
        : await tx.execute<unknown[]>(
            `insert into cause_managers (cause_id, user_id, created_by) values (?, ?, ?)
             on conflict do nothing returning 1`,
            [causeId, userId, caller.userId],
          );
    if (assigned.length === 0)
      refuse('REQUEST_INVALID', 'the user already manages this charitable cause', { field: 'user_id' });
    await recordAction(tx, { caller, requestId }, 'RESOURCE_UPDATED', ['charitable_cause', causeId], {
      manager_id: userId,
    });
  });
}

/**
 * Removes a manager of a cause: the creator and admins of its organization may remove anyone, managers only themselves
 * (FORBIDDEN otherwise). Throws NOT_FOUND for an unknown cause or a user who does not manage it.
 */
export function removeManager(
  em: EntityManager,
  input: { caller: Caller; causeId: string; userId: string; requestId: string },
): Promise<void> {
  const { caller, causeId, userId, requestId } = input;
  return em.transactional(async (tx) => {
    const cause = await lockCause(tx, causeId);
    const removed = await tx.execute<unknown[]>(
      'delete from cause_managers where cause_id = ? and user_id = ? returning 1',
      [causeId, userId],
    );
    if (removed.length === 0)
      refuse('NOT_FOUND', 'the user does not manage this charitable cause', { field: 'user_id' });
    if (!isCreatorOf(caller, cause) && userId !== caller.userId)
      refuse('FORBIDDEN', 'only the creator can remove managers', { field: 'id' });
    await recordAction(tx, { caller, requestId }, 'RESOURCE_UPDATED', ['charitable_cause', causeId], {
      removed_manager_id: userId,
    });
  });
}
