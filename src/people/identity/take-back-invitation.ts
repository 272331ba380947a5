import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvents } from '../../platform/events/record-event.ts';
import { type Caller, isPlatform, requirePermission } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { textArray } from '../../shared/postgres.ts';
import { User } from '../members/user.entity.ts';
import { invitePermissions } from './invitation.ts';

/** Throws FORBIDDEN when a super admin sent the user's invitation and the caller is not one. */
export async function requireRightOverInvited(tx: EntityManager, caller: Caller, userId: string): Promise<void> {
  if (caller.isSuperAdmin) return;
  const sent = await tx.execute<unknown[]>('select 1 from invitations where user_id = ? and by_super_admin', [userId]);
  if (sent.length > 0) refuse('FORBIDDEN', 'Only a super admin can take back an invitation that a super admin sent');
}

/**
 * Withdraws an invitation: revokes its token, deletes the invited user, frees the address. The caller needs the
 * permission to invite this type of user. Throws NOT_FOUND, FORBIDDEN, and REQUEST_INVALID after acceptance.
 */
export async function takeBackInvitation(
  em: EntityManager,
  { caller, userId, requestId }: { caller: Caller; userId: string; requestId: string },
): Promise<void> {
  await em.transactional(async (tx) => {
    const user = await tx.findOne(User, userId, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
    if (!user) refuse('NOT_FOUND', 'The user was not found');
    const isColleague = caller.organizationId !== null && user.organization_id === caller.organizationId;
    if (!isPlatform(caller) && (user.user_type === 'platform' || !isColleague)) {
      refuse('FORBIDDEN', 'The user belongs to another organization');
    }
    if (user.status !== 'invited')
      refuse('REQUEST_INVALID', `the user is ${user.status}, not invited`, { field: 'user_id' });
    requirePermission(caller, invitePermissions[user.user_type]);
    await requireRightOverInvited(tx, caller, userId);
    await removeInvited(tx, [userId], { actorId: caller.userId, requestId, why: 'taken back' });
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
  if (expired) await removeInvited(tx, [expired.id], { actorId, requestId, why: 'expired' });
}

/**
 * Withdraws up to `limit` invitations that expired more than `days` ago, oldest first; in the caller's transaction.
 * Skips locked users, e.g. one who is accepting, until the next run. Returns how many it withdrew.
 */
export async function takeBackExpired(tx: EntityManager, days: number, limit: number): Promise<number> {
  const held = await tx.execute<{ id: string }[]>(
    `select u.id from invitations i join users u on u.id = i.user_id
     where i.accepted_at is null and i.expires_at < now() - make_interval(days => ?) and u.status = 'invited'
       and not exists (select from legal_holds h where h.user_id = u.id)
     order by i.expires_at limit ? for update of u skip locked`,
    [days, limit],
  );
  if (held.length === 0) return 0;
  // Check again, now that the rows are locked.
  const expired = await tx.execute<{ id: string }[]>(
    `select u.id from users u where u.id = any(?::uuid[]) and u.status = 'invited'
       and exists (select from invitations i where i.user_id = u.id)
       and not exists (select from invitations i where i.user_id = u.id
         and (i.accepted_at is not null or i.expires_at >= now() - make_interval(days => ?)))
       and not exists (select from legal_holds h where h.user_id = u.id)`,
    [textArray(held.map(({ id }) => id)), days],
  );
  const ids = expired.map(({ id }) => id);
  await removeInvited(tx, ids, { actorId: null, requestId: null, why: 'expired' });
  return ids.length;
}

interface Removal {
  actorId: string | null;
  requestId: string | null;
  why: 'taken back' | 'expired';
}

/** Deletes invited users. Only `invitations`, `mails` and `cause_managers` can refer to them. */
async function removeInvited(
  tx: EntityManager,
  userIds: readonly string[],
  { actorId, requestId, why }: Removal,
): Promise<void> {
  for (const table of ['invitations', 'mails', 'cause_managers']) {
    await tx.execute(`delete from ${table} where user_id = any(?::uuid[])`, [textArray(userIds)]);
  }
  await tx.execute('delete from users where id = any(?::uuid[])', [textArray(userIds)]);
  await recordEvents(
    tx,
    userIds.map((resourceId) => ({
      event: 'RESOURCE_DELETED',
      impact: 'HIGH',
      resourceType: 'user',
      resourceId,
      actorId,
      requestId,
      data: { invitation: why },
    })),
  );
}
