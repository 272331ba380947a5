import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import { must } from '../../shared/assert.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { recordMail } from '../mail/record-mail.ts';
import { openProfile } from '../members/profile.ts';
import { User } from '../members/user.entity.ts';
import { endTokens, lockOwnRow } from './end-tokens.ts';
import { countPassword, loginAttempt, refuseThrottled } from './login-failures.ts';
import { hashPassword, normalizePassword, verifyPassword } from './password.ts';
import { refuseGuessable } from './password-rules.ts';
import { hasSecondFactor } from './second-factor.ts';

export interface ChangePasswordInput {
  caller: Caller;
  currentPassword: string;
  newPassword: string;
  /** The network address the request came from. */
  address: string;
  requestId: string;
}

/**
 * Sets the caller's new password and revokes every token. Returns the mark of the session's second factor, or null if
 * it was removed since. Throws REQUEST_INVALID for a wrong current password, which counts as a failed login
 * (TOO_MANY_REQUESTS), and for a guessable or unchanged new one.
 */
export async function changePassword(
  em: EntityManager,
  sealer: Sealer,
  input: ChangePasswordInput,
): Promise<{ user: User; secondFactor: string | null }> {
  const { caller, currentPassword, newPassword, requestId } = input;
  const known = await em.findOneOrFail(User, caller.userId);
  const attempt = loginAttempt(must(known.email_digest, 'an active user has an address'), input.address);
  const goesFirst = await refuseThrottled(em, attempt);
  const { matches } = await verifyPassword(sealer, known, currentPassword, { address: attempt.address, goesFirst });
  await countPassword(em, { attempt, userId: known.id, actorId: known.id, reason: 'password', requestId }, matches);
  if (!matches) refuse('REQUEST_INVALID', 'is wrong', { field: 'current_password' });
  if (normalizePassword(newPassword) === normalizePassword(currentPassword))
    refuse('REQUEST_INVALID', 'must differ from the current one', { field: 'new_password' });
  refuseGuessable(newPassword, (await openProfile(sealer, known)).email, 'new_password');
  const password_sealed = await hashPassword(sealer, known.id, newPassword, attempt.address);
  return em.fork().transactional(async (tx) => {
    // Of two concurrent changes, the first revokes the token of the second.
    const user = await lockOwnRow(tx, caller);
    tx.assign(user, { password_sealed, updated_at: await readDatabaseClock(tx) });
    await endTokens(tx, user);
    await tx.flush();
    await recordAction(tx, { actorId: user.id, requestId }, 'RESOURCE_UPDATED', ['user', user.id], {
      changed: ['password'],
    });
    await recordMail(tx, sealer, { userId: user.id, kind: 'password_changed' });
    return { user, secondFactor: (await hasSecondFactor(tx, caller)) ? caller.secondFactor : null };
  });
}
