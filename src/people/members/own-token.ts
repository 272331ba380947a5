import { randomBytes } from 'node:crypto';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { equalSecrets } from '../../shared/digest.ts';

/** The purposes of tokens. */
export type TokenPurpose = 'confirm_address' | 'reset_password' | 'invitation' | 'refresh';

const randomCharacters = 43;

// The same key digests folded e-mail addresses, which have no capital letters.
const markOf = async (sealer: Sealer, purpose: TokenPurpose, userId: string, random: string): Promise<string> =>
  (await sealer.digest(`TOKEN/${purpose}/${userId}/${random}`)).slice(0, 40);

/**
 * A token for one user and one purpose: 256 random bits, and a keyed mark of user and purpose. Its SHA-256 is stored;
 * inserting the hash of a self-made token does not help, as that token lacks the mark. Throws KeysAway.
 */
export async function createOwnToken(sealer: Sealer, purpose: TokenPurpose, userId: string): Promise<string> {
  const random = randomBytes(32).toString('base64url');
  return random + (await markOf(sealer, purpose, userId, random));
}

/** Whether this token was created for this user and purpose. Throws KeysAway. */
export async function isOwnToken(
  sealer: Sealer,
  purpose: TokenPurpose,
  userId: string,
  token: string,
): Promise<boolean> {
  const random = token.slice(0, randomCharacters);
  return equalSecrets(random + (await markOf(sealer, purpose, userId, random)), token);
}
