import { errorCodeOf } from '../../shared/errors.ts';
import { KeyErased, KeyLost } from './own-keys.ts';
import { isUnderOrderKey, keyIdOf, type Place, type Sealer } from './sealer.ts';

/** The decrypted value, or why it cannot be read: its key was destroyed, or is missing and may be restored. */
export type Opened = { text: string } | { gone: 'destroyed' | 'lost' };

/**
 * Decrypts what was sealed for this place. A key also counts as lost when its order now has a different one. Throws
 * KeysAway, and on a value that was tampered with; under an order's key, that cannot be distinguished from a value
 * under another key.
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

/** The same for background reads: null if the value cannot be read, for whatever reason. */
export async function openUnlessGone(sealer: Sealer, place: Place, sealed: string): Promise<string | null> {
  const opened = await openKept(sealer, place, sealed);
  return 'text' in opened ? opened.text : null;
}
