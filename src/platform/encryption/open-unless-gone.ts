import { errorCodeOf } from '../../shared/errors.ts';
import { KeyErased, KeyLost } from './own-keys.ts';
import { isUnderOrderKey, keyIdOf, type Place, type Sealer } from './sealer.ts';

/** What was opened, or why nobody can read it: its key was destroyed for good, or lost and may be found again. */
export type Opened = { text: string } | { gone: 'destroyed' | 'lost' };

/**
 * Decrypts what was sealed for this place. A key is lost, too, where its order has another in its place. Throws KeysAway,
 * and on a value that was tampered with, which under the key of an order cannot be told from one under another key.
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

/** The same for what nobody waits for: null when nobody can read it, for whichever reason. */
export async function openUnlessGone(sealer: Sealer, place: Place, sealed: string): Promise<string | null> {
  const opened = await openKept(sealer, place, sealed);
  return 'text' in opened ? opened.text : null;
}
