import { openUnlessGone } from '../../platform/encryption/open-unless-gone.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { type PayoutTexts, payoutTextsPlace } from './payout.ts';

interface Texts {
  id: string;
  texts_sealed: string;
}

/** Decrypts a payout's destination and the partner's own texts, for sending; null if their key is destroyed. */
export async function openPayoutTexts(sealer: Sealer, { id, texts_sealed }: Texts): Promise<PayoutTexts | null> {
  const opened = await openUnlessGone(sealer, payoutTextsPlace(id), texts_sealed);
  return opened === null ? null : JSON.parse(opened);
}

/** Decrypts them for display; blank if their key is destroyed. */
export const showPayoutTexts = async (sealer: Sealer, payout: Texts): Promise<PayoutTexts> =>
  (await openPayoutTexts(sealer, payout)) ?? {
    bank_account_number: '',
    beneficiary_name: null,
    external_ref: null,
  };
