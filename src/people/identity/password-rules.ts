import { dictionary } from '@zxcvbn-ts/language-common';
import { refuse } from '../../shared/errors.ts';
import { passwordMinimumCharacters } from '../../shared/user.ts';
import { normalizePassword } from './password.ts';

/** Repetitions from the published lists that the dictionary omits because its strength meter detects them. */
const leftOut = ['qwertyqwerty', 'films+pic+galeries'];
/** The most common leaked passwords that are long enough to be allowed. */
const commonPasswords = new Set(
  [...dictionary['passwords-common'], ...leftOut].filter(({ length }) => length >= passwordMinimumCharacters),
);
/** Many passwords contain a shorter local part by chance. */
const localPartMinimumCharacters = 3;

/**
 * Throws REQUEST_INVALID on the field for a new password that an attacker would try first: a common one, or one that
 * contains the local part of the user's e-mail address; case is ignored. The schema checks its length.
 */
export function refuseGuessable(password: string, email: string, field = 'password'): void {
  const plain = normalizePassword(password).toLowerCase();
  if (commonPasswords.has(plain)) refuse('REQUEST_INVALID', 'is one of the most common passwords', { field });
  const localPart = email.trim().toLowerCase().split('@', 1).join();
  if (localPart.length >= localPartMinimumCharacters && plain.includes(localPart)) {
    refuse('REQUEST_INVALID', 'must not contain the part of the e-mail address before the @', { field });
  }
}
