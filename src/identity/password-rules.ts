import { dictionary } from '@zxcvbn-ts/language-common';
import { refuse } from '../shared/errors.ts';
import { passwordMinimumCharacters } from './user.ts';

/** In the published lists, but left out of the dictionary: it serves a meter that sees repetitions by itself. */
const leftOut = ['qwertyqwerty', 'films+pic+galeries'];
/** The passwords that leaks show most often, as far as they are long enough to be asked about. */
const commonPasswords = new Set(
  [...dictionary['passwords-common'], ...leftOut].filter(({ length }) => length >= passwordMinimumCharacters),
);
/** A shorter local part stands in half of all passwords by chance. */
const localPartMinimumCharacters = 3;

/**
 * Refuses with REQUEST_INVALID, naming the field, a new password that an attacker tries first: a common one, or one that
 * contains what stands before the @ of the person's address; upper and lower case alike. Its length is the schema's.
 */
export function refuseGuessable(password: string, email: string, field = 'password'): void {
  const plain = password.toLowerCase();
  if (commonPasswords.has(plain)) refuse('REQUEST_INVALID', 'is one of the most common passwords', { field });
  const localPart = email.trim().toLowerCase().split('@', 1).join();
  if (localPart.length >= localPartMinimumCharacters && plain.includes(localPart)) {
    refuse('REQUEST_INVALID', 'must not contain the part of the e-mail address before the @', { field });
  }
}
