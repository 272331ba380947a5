import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../events/record-event.ts';
import { refuse } from '../shared/errors.ts';
import { type Caller, isPlatform, requirePermission } from './caller.ts';
import { invitePermissions } from './invitation.ts';
import { User } from './user.entity.ts';

/** Throws FORBIDDEN when a super admin sent the user's invitation and the caller is no super admin. */
export async function requireRightOverInvited(tx: EntityManager, caller: Caller, userId: string): Promise<void> {
  if (caller.isSuperAdmin) return;
  const sent = await tx.execute<unknown[]>('select 1 from invitations where user_id = ? and by_super_admin', [userId]);
  if (sent.length > 0) refuse('FORBIDDEN', 'Only a super admin can take back an invitation that a super admin sent');
}

/**
 * Takes an invitation back: voids its token, deletes the invited user, frees the address. The caller needs the
 * permission to invite this type of user. Throws NOT_FOUND, FORBIDDEN, and REQUEST_INVALID once it has been accepted.
 */
export async function takeBackInvitation(
  em: EntityManager,
  { caller, userId, requestId }: { caller: Caller; userId: string; requestId: string },
): Promise<void> {
  await em.transactional(async (tx) => {
    const user = await tx.findOne(User, userId, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
    if (!user) refuse('NOT_FOUND', 'The user does not exist');
    const isColleague = caller.organizationId !== null && user.organization_id === caller.organizationId;
    if (!isPlatform(caller) && (user.user_type === 'platform' || !isColleague)) {
      refuse('FORBIDDEN', 'The user belongs to another organization');
    }
    if (user.status !== 'invited')
      refuse('REQUEST_INVALID', `the user is ${user.status}, not invited`, { field: 'user_id' });
    requirePermission(caller, invitePermissions[user.user_type]);
    await requireRightOverInvited(tx, caller, userId);
    await removeInvited(tx, { userId, actorId: caller.userId, requestId, why: 'taken back' });
  });
}

/** Frees an e-mail address, named by its digest, whose invitation has expired; in the caller's transaction. */
export async function freeExpiredAddress(
  tx: EntityManager,
  emailDigest: string,
  actorId: string | null,
  requestId: string | null,
): Promise<void> {
  const [expired] = await tx.execute<{ id: string }[]>(
    `select u.id from users u where u.email_digest = ? and u.status = 'invited'
       and exists (select from invitations i where i.user_id = u.id)
       and not exists (select from invitations i where i.user_id = u.id and i.expires_at > now()) for update`,
    [emailDigest],
  );
  if (expired) await removeInvited(tx, { userId: expired.id, actorId, requestId, why: 'expired' });
}

interface Removal {
  userId: string;
  actorId: string | null;
  requestId: string | null;
  why: 'taken back' | 'expired';
}

/** Deletes an invited user, who has done nothing yet: only the invitations and `cause_managers` refer to it. */
async function removeInvited(tx: EntityManager, { userId, actorId, requestId, why }: Removal): Promise<void> {
  for (const table of ['invitations', 'cause_managers']) {
    await tx.execute(`delete from ${table} where user_id = ?`, [userId]);
  }
  await tx.execute('delete from users where id = ?', [userId]);
  await recordEvent(tx, {
    event: 'RESOURCE_DELETED',
    impact: 'HIGH',
    resourceType: 'user',
    resourceId: userId,
    actorId,
    requestId,
    data: { invitation: why },
  });
}
