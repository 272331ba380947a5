import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Actor } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { keepSuperAdmin, requireRightOverHolder } from '../access/role-holders.ts';
import { User } from '../members/user.entity.ts';
import { endTokens } from './end-tokens.ts';

export interface SetUserStatusInput {
  caller: Actor;
  requestId: string | null;
  userId: string;
  status: 'active' | 'suspended';
}

/**
 * Suspends a user, revoking all their tokens permanently, or reactivates a suspended one. Throws REQUEST_INVALID for an
 * invited user (withdraw the invitation instead), for the caller and for the last super admin.
 */
export async function setUserStatus(em: EntityManager, input: SetUserStatusInput): Promise<User> {
  const { caller, requestId, userId, status } = input;
  return em.transactional(async (tx) => {
    const user = await tx.findOne(User, userId, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
    if (!user) refuse('NOT_FOUND', 'The user was not found');
    if (userId === caller.userId && status === 'suspended') {
      refuse('REQUEST_INVALID', 'you cannot suspend yourself', { field: 'status' });
    }
    await requireRightOverHolder(tx, caller, user);
    const previous = user.status;
    if (previous === 'invited') {
      refuse('REQUEST_INVALID', 'the user has not accepted the invitation; send another or take it back', {
        field: 'status',
      });
    }
    if (user.erased_at) refuse('REQUEST_INVALID', 'the user has been erased', { field: 'status' });
    if (status === previous) return user;
    if (status === 'suspended') await keepSuperAdmin(tx, caller, user);
    tx.assign(user, { status, updated_at: await readDatabaseClock(tx) });
    if (status === 'suspended') await endTokens(tx, user);
    await tx.flush();
    await recordAction(tx, { caller, requestId }, ['RESOURCE_UPDATED', 'HIGH'], ['user', userId], {
      status,
      previous_status: previous,
    });
    return user;
  });
}
