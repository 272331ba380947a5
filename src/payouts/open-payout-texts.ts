import { unlessErased } from '../encryption/personal-keys.ts';
import type { Sealer } from '../encryption/sealer.ts';
import { type PayoutTexts, payoutTextsPlace } from './payout.ts';

interface Texts {
  id: string;
  texts_sealed: string;
}

/** Decrypts where a payout goes, and the partner's own texts, to send it. Throws KeyErased when its key was destroyed. */
export const openPayoutTexts = async (sealer: Sealer, { id, texts_sealed }: Texts): Promise<PayoutTexts> =>
  JSON.parse(await sealer.open(payoutTextsPlace(id), texts_sealed));

/** The same to show them: nothing is left of them once its key was destroyed. */
export const showPayoutTexts = async (sealer: Sealer, payout: Texts): Promise<PayoutTexts> =>
  (await unlessErased(openPayoutTexts(sealer, payout))) ?? {
    bank_account_number: '',
    beneficiary_name: null,
    external_ref: null,
  };
