import type { EntityManager } from '@mikro-orm/postgresql';
import type { Caller } from '../identity/caller.ts';
import { balancePaymentIdFor } from '../shared/ids.ts';
import { formatMoney, type Money } from '../shared/money.ts';
import { findFirstAnswer, fingerprintOf, hashKey, type StoredAnswer } from './idempotency.ts';
import { type BalancePaymentOutcome, payFromBalance } from './pay-from-balance.ts';
import type { ReferenceType } from './payment-order.ts';
import { getHandler } from './prepare-gateway-payment.ts';

export interface BalancePaymentRequest {
  reference_type: ReferenceType;
  reference_id: string;
  source_account_id: string;
  /** IDR, as the request wrote it. */
  amount: Money;
}

/** Who asks, under which key and in which request. */
export interface Asking {
  caller: Caller;
  key: string | undefined;
  requestId: string;
}

/** What a balance payment or a transfer answers with, as its `data`. */
export interface PaidAnswer {
  transaction_id: string;
  amount: Money;
  new_balance: Money;
  reference_type: string;
  reference_id: string;
}

/** The place in a kept answer where the database writes the new balance. */
export const newBalancePlace = '<new_balance>';

/** The body of the answer to a balance payment (giving-circles-payments.md section 4). */
export const presentPaid = (message: string, data: PaidAnswer) => ({
  status: 'success' as const,
  statusCode: 201 as const,
  message,
  data,
});

/** The answer kept under this key by an earlier request; refuses a key of another one. Null without a key. */
export async function findReplay(
  em: EntityManager,
  { caller, key }: Asking,
  fingerprint: string,
): Promise<StoredAnswer | null> {
  if (key === undefined) return null;
  return findFirstAnswer(em, { userId: caller.userId, keyHash: hashKey(key), fingerprint });
}

/**
 * Pays from a balance as a request asks: the handler with its rail and permission, the answer that its key may have
 * already, then the payment. Answers the body that is sent, byte for byte.
 */
export async function payAsAsked(
  em: EntityManager,
  body: BalancePaymentRequest,
  asking: Asking,
): Promise<StoredAnswer & { replayed: boolean }> {
  const { caller, key, requestId } = asking;
  const handler = getHandler(caller, body.reference_type, 'balance');
  const amount = formatMoney(body.amount);
  const fingerprint = fingerprintOf('POST', '/v1/payments/balance', { ...body, amount });
  const replay = await findReplay(em, asking, fingerprint);
  if (replay !== null) return { ...replay, replayed: true };
  const transactionId = balancePaymentIdFor(caller.userId, key);
  const answer = presentPaid('Payment completed', {
    transaction_id: transactionId,
    amount,
    new_balance: newBalancePlace,
    reference_type: body.reference_type,
    reference_id: body.reference_id,
  });
  const paid = await payFromBalance(em, handler, {
    payer: caller,
    transactionId,
    referenceId: body.reference_id,
    sourceAccountId: body.source_account_id,
    amount,
    requestId,
    answer: JSON.stringify(answer),
    idempotency: key === undefined ? null : { keyHash: hashKey(key), fingerprint },
  });
  return storedAnswerOf(paid);
}

/** What a payment from a balance answers with, and whether it was answered before. */
export const storedAnswerOf = (paid: BalancePaymentOutcome): StoredAnswer & { replayed: boolean } =>
  paid.outcome === 'replayed'
    ? { status: paid.status, body: paid.body, replayed: true }
    : { status: 201, body: paid.body, replayed: false };
