import type { Place, Sealer } from '../platform/encryption/sealer.ts';
import { errorCodeOf, refuse } from '../shared/errors.ts';

/** What `openForOrder` has read: the texts, or why they cannot be read. */
export interface OrderTexts<Texts> {
  isOpen: boolean;
  /** Throws why they cannot be read. */
  read(): Texts;
}

/**
 * Decrypts what `sealForOrder` sealed for the opening of an order. Called before anything is locked, as the key may be
 * slow to come; but only who makes the order reads it, as one that is there, was refused or has lapsed is told so
 * whatever became of its key. Reading throws REQUEST_IDEMPOTENCY_KEY_REUSED when the key is gone, and what opening threw.
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
 * Seals what names the customer or beneficiary of a new payment, payout or refund under a key of its own. Throws KeysAway,
 * and REQUEST_IDEMPOTENCY_KEY_REUSED where that key was destroyed: the order's id follows from its idempotency key, under
 * which nothing was made so long ago that it was forgotten.
 */
export async function sealForOrder(sealer: Sealer, place: Place, order: string, texts: object): Promise<string> {
  try {
    return await sealer.seal({ ...place, order: { id: order, isNew: true } }, JSON.stringify(texts));
  } catch (error) {
    if (errorCodeOf(error) !== 'KEY_ERASED') throw error;
    return refuse('REQUEST_IDEMPOTENCY_KEY_REUSED', 'This idempotency key was used too long ago: use a new one');
  }
}
