import type { EntityManager } from '@mikro-orm/postgresql';
import { sealForOrder } from '../../partners/open-for-order.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { formatMoney, type Money } from '../../shared/money.ts';
import type { Metadata } from '../../shared/plain-text.ts';
import { type PayoutOpening, type PayoutTexts, payoutTextsPlace } from './payout.ts';
import { readPayoutHeadroom, refuseBeyondHeadroom } from './payout-limits.ts';
import { pricePayout } from './price-payout.ts';

export interface PayoutRequest {
  amount: Money;
  bank_code: string;
  bank_account_number: string;
  beneficiary_name?: string | undefined;
  external_ref?: string | undefined;
  metadata?: Metadata | undefined;
}

/**
 * Runs every check that can refuse a payout before its workflow starts; returns the workflow's input. Checks limits and
 * balance only to reject hopeless requests early; the binding check is under the partner's lock.
 */
export async function preparePayout(
  em: EntityManager,
  sealer: Sealer,
  input: {
    payoutId: string;
    partnerId: string;
    body: PayoutRequest;
    idempotency: { keyHash: string; fingerprint: string };
    requestId: string;
  },
): Promise<Omit<PayoutOpening, 'stamp'>> {
  const { payoutId, partnerId, body, idempotency, requestId } = input;
  const { bank_code: bankCode, bank_account_number: accountNumber, amount } = body;
  const price = await pricePayout(em, { partnerId, bankCode, accountNumber, amount });
  refuseBeyondHeadroom(await readPayoutHeadroom(em, partnerId), { amount: formatMoney(amount), reserved: price.gross });
  const texts: PayoutTexts = {
    bank_account_number: accountNumber,
    beneficiary_name: body.beneficiary_name ?? null,
    external_ref: body.external_ref ?? null,
    metadata: body.metadata ?? null,
  };
  return {
    partnerId,
    feeMode: price.feeMode,
    amount: formatMoney(amount),
    fee: price.fee,
    net: price.net,
    providerFee: price.providerFee,
    bankCode,
    textsSealed: await sealForOrder(sealer, payoutTextsPlace(payoutId), payoutId, texts),
    requestId,
    idempotency: { keyHash: idempotency.keyHash, fingerprint: idempotency.fingerprint },
  };
}
