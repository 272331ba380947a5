import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { Gateways, RefundRequest, TransferRequest } from '../../platform/gateway/gateway.ts';
import { must } from '../../shared/assert.ts';
import type { PayoutKinds } from './handling.ts';
import { openPayoutTexts } from './open-payout-texts.ts';
import type { Payout } from './payout.entity.ts';
import type { PayoutTexts } from './payout.ts';

/** What an attempt needs. */
export interface Sending {
  gateways: Gateways;
  sealer: Sealer;
  payoutKinds: PayoutKinds;
  /** `PAYOUT_RESEND_HOURS`. */
  resendHours: number;
}

/**
 * A payout's request, the same for every attempt, and a digest of all bytes sent. Null if nothing may be sent: the
 * request differs from the one that the first attempt froze, for example because a deployment changed the provider's
 * bank names, or the destination can no longer be decrypted.
 */
export async function buildRequest(
  { gateways, sealer }: Pick<Sending, 'gateways' | 'sealer'>,
  payout: Payout,
): Promise<{ request: TransferRequest | RefundRequest; digest: string } | null> {
  const request = await requestOf(sealer, payout);
  if (request === null) return null;
  const digest = gateways.of(payout.provider).digestTransfer(request);
  return isFrozen(payout) && payout.request_digest !== digest ? null : { request, digest };
}

async function requestOf(sealer: Sealer, payout: Payout): Promise<TransferRequest | RefundRequest | null> {
  const { id: reference, net_amount: amount, refund_of: refundOf } = payout;
  if (refundOf) return { reference, amount, refundOf };
  const texts = await openPayoutTexts(sealer, payout);
  if (texts === null) return null;
  return {
    reference,
    bankCode: must(payout.bank_code, 'a transfer goes to a bank'),
    accountNumber: texts.bank_account_number,
    accountHolder: accountHolderOf(texts),
    amount,
    description: payout.reference,
  };
}

/**
 * The provider requires an account holder's name. Without one, the account number is sent instead of an invented name;
 * a bank that compares names reports the mismatch by its failure code.
 */
const accountHolderOf = ({ beneficiary_name, bank_account_number }: PayoutTexts): string =>
  beneficiary_name ?? bank_account_number;

/** Whether an attempt has frozen the request. Payouts sent before digests existed have none and are not repeated. */
export const isFrozen = ({ request_digest }: Payout): boolean =>
  request_digest !== null && request_digest !== undefined;
