import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordAction, recordEvent } from '../../platform/events/record-event.ts';
import { type Caller, isPlatform, requirePermission } from '../../shared/caller.ts';
import { changesTo } from '../../shared/changes.ts';
import { sha256 } from '../../shared/digest.ts';
import { refuse } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { UserType } from '../../shared/user.ts';
import { getDefaultRole, lockRole } from '../access/find-role.ts';
import { defaultRoleNames, requireFittingRole, requireGrantable, requireVisibleRole } from '../access/role.ts';
import { requireTakeable } from '../access/role-holders.ts';
import { findPermissionNames } from '../access/role-permissions.ts';
import { recordMail } from '../mail/record-mail.ts';
import { Organization } from '../members/organization.entity.ts';
import { createOwnToken } from '../members/own-token.ts';
import { type NewPerson, openProfile, preparePerson, sealProfile } from '../members/profile.ts';
import { User } from '../members/user.entity.ts';
import { createUser } from './create-user.ts';
import { invitationDays, invitePermissions } from './invitation.ts';
import { countInvitation, countingTaken, countSignUp, type SignUpOrigin } from './limit-sign-ups.ts';
import { loginAttempt } from './login-failures.ts';
import { freeExpiredAddress, requireRightOverInvited } from './take-back-invitation.ts';

export interface InviteUserInput {
  caller: Caller;
  requestId: string;
  origin: SignUpOrigin;
  email: string;
  name: string;
  userType: UserType;
  organizationId: string | undefined;
  roleId: string | undefined;
}

export interface Invitation {
  /** Shown once; only its digest is stored. */
  token: string;
  expiresAt: Date;
  user: User;
}

/** Returns the organization of the invited user: the inviter's own, or the one that a platform inviter names. */
async function organizationFor(em: EntityManager, input: InviteUserInput): Promise<string | null> {
  const { caller, userType, organizationId } = input;
  if (userType === 'platform') {
    if (!isPlatform(caller))
      refuse('FORBIDDEN', 'only platform users can invite users of type platform', { field: 'user_type' });
    if (organizationId !== undefined)
      refuse('REQUEST_INVALID', 'must be absent for a platform user', { field: 'organization_id' });
    return null;
  }
  if (!isPlatform(caller)) {
    if (caller.organizationId === null || (organizationId ?? caller.organizationId) !== caller.organizationId) {
      refuse('FORBIDDEN', 'Users can be invited to your own organization only');
    }
    return caller.organizationId;
  }
  if (organizationId === undefined) {
    if (userType === 'organization') refuse('REQUEST_INVALID', 'is required', { field: 'organization_id' });
    return null;
  }
  const organization = await em.findOne(Organization, organizationId);
  if (!organization) refuse('NOT_FOUND', 'The organization was not found');
  return organizationId;
}

/**
 * Invites a user with a role (by default the default role of the type). The inviter must hold all permissions of the
 * role, because inviting grants them. A user who has not accepted may be invited again, which revokes the older token;
 * only a super admin may do so if a super admin sent the first invitation (403). An expired invitation frees its
 * address. Throws TOO_MANY_REQUESTS when organizations invite an address too often, or when one that is not `active`
 * exceeds the limit of sign-ups from its network address.
 */
export async function inviteUser(em: EntityManager, sealer: Sealer, input: InviteUserInput): Promise<Invitation> {
  const { caller, requestId, email, name, userType } = input;
  requirePermission(caller, invitePermissions[userType]);
  const organizationId = await organizationFor(em, input);
  const person = await preparePerson(sealer, { email, name });
  const invite = async (tx: EntityManager): Promise<Invitation> => {
    if (!isPlatform(caller)) await countInvitation(tx, person.email_digest);
    // Anybody can sign up an organization and invite any address, so its invitations count as sign-ups until it is
    // approved.
    if (!isPlatform(caller) && caller.organizationStatus !== 'active') await countSignUp(tx, input.origin);
    const roleId = input.roleId ?? (await getDefaultRole(tx, defaultRoleNames[userType])).id;
    const role = await lockRole(tx, roleId, 'hold');
    requireVisibleRole(caller, role);
    requireFittingRole(caller, role, { user_type: userType, organization_id: organizationId });
    requireGrantable(caller, await findPermissionNames(tx, roleId));

    await freeExpiredAddress(tx, person.email_digest, caller.userId, requestId);
    const waiting = await findInvited(tx, { person, userType, organizationId });
    if (waiting) {
      await requireRightOverInvited(tx, caller, waiting.id);
      await requireTakeable(tx, caller, waiting);
    }
    const user =
      waiting ??
      (await createUser(tx, {
        person,
        userType,
        organizationId,
        roleId,
        status: 'invited',
        passwordSealed: null,
        actorId: caller.userId,
        requestId,
      }));
    if (waiting) {
      const who = { actorId: caller.userId, requestId };
      await changeInvited(tx, sealer, waiting, { name, role_id: roleId }, who);
    }
    await tx.execute('delete from invitations where user_id = ? and accepted_at is null', [user.id]);
    const token = await createOwnToken(sealer, 'invitation', user.id);
    const id = newId();
    const expiresAt = new Date((await readDatabaseClock(tx)).getTime() + invitationDays * 24 * 60 * 60 * 1000);
    await tx.execute(
      `insert into invitations (id, user_id, token_hash, expires_at, created_by, by_super_admin)
       values (?, ?, ?, ?, ?, ?)`,
      [id, user.id, sha256(token), expiresAt, caller.userId, caller.isSuperAdmin],
    );
    await recordInvitationMail(tx, sealer, user, token);
    await recordAction(tx, { caller, requestId }, 'RESOURCE_CREATED', ['invitation', id], {
      user_id: user.id,
      role_id: roleId,
    });
    return { token, expiresAt, user };
  };
  if (isPlatform(caller)) return em.transactional(invite);
  const attempt = loginAttempt(person.email_digest, input.origin.address);
  return countingTaken(em, { attempt, requestId }, () => em.transactional(invite));
}

/** Records the e-mail with the token, replacing an unsent e-mail whose token is now revoked. */
async function recordInvitationMail(tx: EntityManager, sealer: Sealer, user: User, token: string): Promise<void> {
  await tx.execute("delete from mails where user_id = ? and kind = 'invitation' and status = 'pending'", [user.id]);
  const organization = user.organization_id ? await tx.findOne(Organization, user.organization_id) : null;
  // Anybody may sign up an organization under any name, so the e-mail names it only once the platform has approved it.
  const facts = { token, ...(organization?.status === 'active' && { organization: organization.name }) };
  await recordMail(tx, sealer, { userId: user.id, kind: 'invitation', facts });
}

/** Gives an already invited user the name and role of the new invitation; an event lists the changes. */
async function changeInvited(
  tx: EntityManager,
  sealer: Sealer,
  user: User,
  given: { name: string; role_id: string },
  who: { actorId: string; requestId: string },
): Promise<void> {
  const profile = await openProfile(sealer, user);
  const { name, ...role } = changesTo<typeof given>({ name: profile.name, role_id: user.role_id }, given);
  const changed = [...(name === undefined ? [] : ['name']), ...Object.keys(role)];
  if (changed.length === 0) return;
  const sealed = name === undefined ? {} : await sealProfile(sealer, user.id, { ...profile, name });
  tx.assign(user, { ...sealed, ...role, updated_at: await readDatabaseClock(tx) });
  await tx.flush();
  const data = { changed };
  await recordEvent(tx, { event: 'RESOURCE_UPDATED', resourceType: 'user', resourceId: user.id, ...who, data });
}

async function findInvited(
  tx: EntityManager,
  { person, userType, organizationId }: { person: NewPerson; userType: UserType; organizationId: string | null },
): Promise<User | null> {
  const [row] = await tx.execute<{ id: string }[]>(
    `select id from users where email_digest = ? and status = 'invited' and user_type = ?
       and organization_id is not distinct from ?::uuid for update`,
    [person.email_digest, userType, organizationId],
  );
  return row ? tx.findOne(User, row.id) : null;
}
