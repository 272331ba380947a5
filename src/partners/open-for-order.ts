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
  refuse('REQUEST_IDEMPOTENCY_KEY_REUSED', 'The request under this key cannot be carried out any more: use a new key');
}
