import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { byPlatform, recordAction } from '../../platform/events/record-event.ts';
import { refuse } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { passwordMaximumCharacters, passwordMinimumCharacters } from '../../shared/user.ts';
import { getDefaultRole } from '../access/find-role.ts';
import { emailDigest, preparePerson } from '../members/profile.ts';
import { User } from '../members/user.entity.ts';
import { createUser } from './create-user.ts';
import { endTokens, lockUserRow } from './end-tokens.ts';
import { hashPassword, normalizePassword } from './password.ts';
import { refuseGuessable } from './password-rules.ts';
import { forgetSecondFactor } from './remove-totp.ts';

/** Creates a platform user, such as the first super admin, from the command line, where there is no caller. */
export async function createPlatformUser(
  em: EntityManager,
  sealer: Sealer,
  input: { email: string; name: string; password: string; role: 'platform_super_admin' | 'platform_admin' },
): Promise<User> {
  if (!/^[^\s@]+@[^\s@]+$/.test(input.email))
    refuse('REQUEST_INVALID', 'must be an e-mail address', { field: 'email' });
  const id = newId();
  const passwordSealed = await hashPassword(sealer, id, requirePassword(input.password, input.email));
  const person = await preparePerson(sealer, input, id);
  return em.transactional(async (tx) => {
    const role = await getDefaultRole(tx, input.role);
    return createUser(tx, {
      person,
      userType: 'platform',
      organizationId: null,
      roleId: role.id,
      status: 'active',
      passwordSealed,
      isApprover: input.role === 'platform_super_admin',
      actorId: null,
      requestId: null,
    });
  });
}

/** Returns the user with this e-mail address, ignoring case; throws 404. */
export async function getUserByEmail(em: EntityManager, sealer: Sealer, email: string): Promise<User> {
  const [row] = await em.execute<{ id: string }[]>('select id from users where email_digest = ?', [
    await emailDigest(sealer, email),
  ]);
  return row ? em.findOneOrFail(User, row.id) : refuseNobody();
}

const refuseNobody = (): never => refuse('NOT_FOUND', 'The user was not found');

/** As `getUserByEmail`, and locks the user; also throws 404 if the user was erased meanwhile. */
async function lockByEmail(tx: EntityManager, sealer: Sealer, email: string): Promise<User> {
  const user = await lockUserRow(tx, (await getUserByEmail(tx, sealer, email)).id);
  return user.erased_at ? refuseNobody() : user;
}

/** Sets a user's new password and revokes every token. An invited user remains invited. */
export async function setPassword(
  em: EntityManager,
  sealer: Sealer,
  { email, password }: { email: string; password: string },
): Promise<User> {
  requirePassword(password, email);
  const { id } = await getUserByEmail(em, sealer, email);
  const password_sealed = await hashPassword(sealer, id, password);
  return em.transactional(async (tx) => {
    const user = await lockByEmail(tx, sealer, email);
    if (user.id !== id) refuseNobody();
    tx.assign(user, { password_sealed, updated_at: await readDatabaseClock(tx) });
    await endTokens(tx, user);
    await tx.flush();
    await recordAction(tx, byPlatform, 'RESOURCE_UPDATED', ['user', user.id], { changed: ['password'] });
    return user;
  });
}

/** Removes a user's second factor, lost with its recovery codes, and revokes every token of the user. */
export async function removeSecondFactor(em: EntityManager, sealer: Sealer, email: string): Promise<User> {
  return em.transactional(async (tx) => {
    const user = await lockByEmail(tx, sealer, email);
    await forgetSecondFactor(tx, { userId: user.id, actorId: null, requestId: null });
    await endTokens(tx, user);
    await tx.flush();
    return user;
  });
}

function requirePassword(password: string, email: string): string {
  const { length } = normalizePassword(password);
  if (length < passwordMinimumCharacters || length > passwordMaximumCharacters) {
    refuse('REQUEST_INVALID', `must have ${passwordMinimumCharacters} to ${passwordMaximumCharacters} characters`, {
      field: 'password',
    });
  }
  refuseGuessable(password, email);
  return password;
}
