import { randomBytes } from 'node:crypto';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { equalSecrets } from '../../shared/digest.ts';

/** The purposes of tokens. */
export type TokenPurpose = 'confirm_address' | 'reset_password' | 'invitation' | 'refresh';

const randomCharacters = 43;

// The capitals avoid a collision: the same key digests e-mail addresses, which are folded to lower case.
const markOf = async (sealer: Sealer, purpose: TokenPurpose, userId: string, random: string): Promise<string> =>
  (await sealer.digest(`TOKEN/${purpose}/${userId}/${random}`)).slice(0, 40);

/**
 * Creates a token for one user and one purpose: 256 random bits, and a keyed mark of user and purpose. The database
 * stores its SHA-256. An attacker who inserts the hash of a token of their own cannot use it, because it lacks the
 * mark. Throws KeysAway.
 */
export async function createOwnToken(sealer: Sealer, purpose: TokenPurpose, userId: string): Promise<string> {
  const random = randomBytes(32).toString('base64url');
  return random + (await markOf(sealer, purpose, userId, random));
}

/** Returns whether this token was created for this user and purpose. Throws KeysAway. */
export async function isOwnToken(
  sealer: Sealer,
  purpose: TokenPurpose,
  userId: string,
  token: string,
): Promise<boolean> {
  const random = token.slice(0, randomCharacters);
  return equalSecrets(random + (await markOf(sealer, purpose, userId, random)), token);
}
