import type { Sealer } from '../encryption/sealer.ts';
import type { Gateway, TransferRequest } from '../gateway/gateway.ts';
import { openPayoutTexts } from './open-payout-texts.ts';
import type { Payout } from './payout.entity.ts';
import type { PayoutTexts } from './payout.ts';

/** What an attempt needs. */
export interface Sending {
  gateway: Gateway;
  sealer: Sealer;
  /** `PAYOUT_RESEND_HOURS`. */
  resendHours: number;
}

/**
 * The request a payout makes, the same for every attempt, and a digest of everything sent over the wire. The first
 * attempt freezes it: `differs` when what would be sent now is not what was sent then, as after a deployment that
 * changed the provider's bank names.
 */
export async function buildRequest(
  { gateway, sealer }: Pick<Sending, 'gateway' | 'sealer'>,
  payout: Payout,
): Promise<{ request: TransferRequest; digest: string; differs: boolean }> {
  const texts = await openPayoutTexts(sealer, payout);
  const request = {
    reference: payout.id,
    bankCode: payout.bank_code,
    accountNumber: texts.bank_account_number,
    accountHolder: accountHolderOf(texts),
    amount: payout.net_amount,
    description: payout.reference,
  };
  const digest = gateway.digestTransfer(request);
  return { request, digest, differs: isFrozen(payout) && payout.request_digest !== digest };
}

/**
 * The provider requires an account holder's name. When none was given, none is invented: the account number is sent
 * instead, and a bank that compares names reports it by its failure code.
 */
const accountHolderOf = ({ beneficiary_name, bank_account_number }: PayoutTexts): string =>
  beneficiary_name ?? bank_account_number;

/** Whether an attempt has frozen the request. Payouts sent before digests were kept have none, and are not repeated. */
export const isFrozen = ({ request_digest }: Payout): boolean =>
  request_digest !== null && request_digest !== undefined;
