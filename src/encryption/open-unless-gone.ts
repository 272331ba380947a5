import { decodeProtectedHeader } from 'jose';
import { errorCodeOf } from '../shared/errors.ts';
import { unlessErased } from './personal-keys.ts';
import { isUnderOrderKey, type Place, type Sealer } from './sealer.ts';

/**
 * Decrypts what was sealed for this place; null when nobody can read it any more, because its key was destroyed or lost,
 * or its order has another key in the place of a lost one. Throws KeysAway, and on a value that was tampered with; under
 * the key of an order that cannot be told from another key, and is null, too.
 */
export async function openUnlessGone(sealer: Sealer, place: Place, sealed: string): Promise<string | null> {
  try {
    return await unlessErased(sealer.open(place, sealed));
  } catch (error) {
    if (errorCodeOf(error) === 'ERR_JWE_DECRYPTION_FAILED' && isUnderOrderKey(keyIdOf(sealed))) return null;
    throw error;
  }
}

const keyIdOf = (sealed: string): string => decodeProtectedHeader(sealed).kid ?? '';
