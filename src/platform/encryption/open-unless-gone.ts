import { errorCodeOf } from '../../shared/errors.ts';
import { KeyErased, KeyLost } from './own-keys.ts';
import { isUnderOrderKey, keyIdOf, type Place, type Sealer } from './sealer.ts';

/** The decrypted value, or why it cannot be read: its key was destroyed, or is missing and may be restored. */
export type Opened = { text: string } | { gone: 'destroyed' | 'lost' };

/**
 * Decrypts a value sealed for this place. An order's key also counts as lost if the order now has a different key.
 * Throws KeysAway, and an error for a tampered value, except under an order's key, where tampering looks like a
 * different key.
 */
export async function openKept(sealer: Sealer, place: Place, sealed: string): Promise<Opened> {
  try {
    return { text: await sealer.open(place, sealed) };
  } catch (error) {
    if (error instanceof KeyErased) return { gone: error instanceof KeyLost ? 'lost' : 'destroyed' };
    if (errorCodeOf(error) === 'ERR_JWE_DECRYPTION_FAILED' && isUnderOrderKey(keyIdOf(sealed) ?? ''))
      return { gone: 'lost' };
    throw error;
  }
}

/** Like `openKept`, but returns null if the key is destroyed or lost, for callers that treat both alike. */
export async function openUnlessGone(sealer: Sealer, place: Place, sealed: string): Promise<string | null> {
  const opened = await openKept(sealer, place, sealed);
  return 'text' in opened ? opened.text : null;
}
