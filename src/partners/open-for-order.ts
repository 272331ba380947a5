import type { Place, Sealer } from '../platform/encryption/sealer.ts';
import { errorCodeOf, refuse } from '../shared/errors.ts';

/** The result of `openForOrder`: the texts, or why they cannot be decrypted. */
export interface OrderTexts<Texts> {
  isOpen: boolean;
  /** Returns the texts, or throws why they cannot be decrypted. */
  read(): Texts;
}

/**
 * Decrypts what `sealForOrder` sealed for the opening of an order. Call it before locking anything, as the key look-up
 * may be slow; call `read` only when creating the order: existing, refused and lapsed orders are reported whatever the
 * state of their key. `read` throws REQUEST_IDEMPOTENCY_KEY_REUSED if the key was destroyed, or the decryption error.
 */
export async function openForOrder<Texts>(sealer: Sealer, place: Place, sealed: string): Promise<OrderTexts<Texts>> {
  try {
    const texts: Texts = JSON.parse(await sealer.open(place, sealed));
    return { isOpen: true, read: () => texts };
  } catch (error) {
    return { isOpen: false, read: () => throwUnreadable(error) };
  }
}

function throwUnreadable(error: unknown): never {
  if (errorCodeOf(error) !== 'KEY_ERASED') throw error;
  refuse('REQUEST_IDEMPOTENCY_KEY_REUSED', 'The request under this key can no longer be carried out: use a new key');
}

/**
 * Seals texts that name the customer or beneficiary of a new payment, payout or refund under its own key. Throws
 * KeysAway, and REQUEST_IDEMPOTENCY_KEY_REUSED if that key was destroyed: the order's id is derived from its
 * idempotency key, which was used too long ago without creating anything.
 */
export async function sealForOrder(sealer: Sealer, place: Place, order: string, texts: object): Promise<string> {
  try {
    return await sealer.seal({ ...place, order: { id: order, isNew: true } }, JSON.stringify(texts));
  } catch (error) {
    if (errorCodeOf(error) !== 'KEY_ERASED') throw error;
    return refuse('REQUEST_IDEMPOTENCY_KEY_REUSED', 'This idempotency key was used too long ago: use a new one');
  }
}
