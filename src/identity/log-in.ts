import type { EntityManager } from '@mikro-orm/postgresql';
import { refuse } from '../shared/errors.ts';
import { loginAttempt, recordLoginFailure, refuseThrottled } from './login-failures.ts';
import { verifyPassword } from './password.ts';
import { User } from './user.entity.ts';

export interface LogInInput {
  email: string;
  password: string;
  /** The network address the request came from. */
  address: string;
}

/**
 * The active user with this e-mail and password. An unknown address, a wrong password, an invited and a suspended
 * user get the same 401 after the same work; too many failures a 429, also for the right password.
 */
export async function logIn(em: EntityManager, { email, password, address }: LogInInput): Promise<User> {
  const attempt = loginAttempt(email, address);
  await refuseThrottled(em, attempt);
  const [found] = await em.execute<{ id: string; status: string; password_hash: string | null }[]>(
    'select id, status, password_hash from users where lower(email) = lower(?)',
    [email.trim()],
  );
  const matches = await verifyPassword(found?.password_hash ?? null, password);
  if (!found || !matches || found.status !== 'active') {
    await recordLoginFailure(em, attempt);
    refuse('UNAUTHENTICATED', 'The e-mail address or the password is wrong');
  }
  // Others may have failed while this password was checked: a guess among many at once gains nothing.
  await refuseThrottled(em, attempt);
  return em.findOneOrFail(User, found.id);
}
