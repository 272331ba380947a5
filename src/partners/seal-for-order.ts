import type { Place, Sealer } from '../platform/encryption/sealer.ts';
import { errorCodeOf, refuse } from '../shared/errors.ts';

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
