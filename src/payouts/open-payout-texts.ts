import type { Sealer } from '../encryption/sealer.ts';
import { type PayoutTexts, payoutTextsPlace } from './payout.ts';

/** Decrypts the partner's own texts of a payout, which are stored sealed. */
export const openPayoutTexts = async (
  sealer: Sealer,
  { id, texts_sealed }: { id: string; texts_sealed: string },
): Promise<PayoutTexts> => JSON.parse(await sealer.open(payoutTextsPlace(id), texts_sealed));
