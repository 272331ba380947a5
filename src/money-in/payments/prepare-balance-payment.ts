import type { EntityManager } from '@mikro-orm/postgresql';
import { fingerprintOf, type StoredAnswer } from '../../platform/idempotency/idempotency.ts';
import { balancePaymentIdFor } from '../../shared/ids.ts';
import { formatMoney, type Money } from '../../shared/money.ts';
import { newBalancePlace, presentPaid } from './balance-payment.ts';
import type { HandlingPorts } from './handler.ts';
import { type PayTogether, payAndWake } from './pay-from-balance.ts';
import { type Asking, deadlineOf, payUnderKey } from './pay-under-key.ts';
import type { ReferenceType } from './payment-order.ts';
import { getHandler } from './prepare-gateway-payment.ts';

export interface BalancePaymentRequest {
  reference_type: ReferenceType;
  reference_id: string;
  source_account_id: string;
  /** IDR, as the request wrote it. */
  amount: Money;
}

/**
 * Pays from a balance: looks up the stored answer of the key, then checks handler, rail and permission, then pays, then
 * wakes the workflow that waits for the payment. Returns the body as it is sent, byte for byte.
 */
export async function payAsAsked(
  em: EntityManager,
  ports: HandlingPorts & { payTogether: PayTogether },
  body: BalancePaymentRequest,
  asking: Asking,
): Promise<StoredAnswer & { replayed: boolean }> {
  const { caller, key, requestId } = asking;
  const amount = formatMoney(body.amount);
  const fingerprint = fingerprintOf('POST', '/v1/payments/balance', { ...body, amount });
  const transactionId = balancePaymentIdFor(caller.userId, key);
  const answer = presentPaid('Payment completed', {
    transaction_id: transactionId,
    amount,
    new_balance: newBalancePlace,
    reference_type: body.reference_type,
    reference_id: body.reference_id,
  });
  return payUnderKey(em, asking, { fingerprint, transactionId, answer }, (idempotency) =>
    payAndWake(em, ports, getHandler(ports, caller, { referenceType: body.reference_type, rail: 'balance' }), {
      payer: caller,
      transactionId,
      referenceId: body.reference_id,
      sourceAccountId: body.source_account_id,
      amount,
      requestId,
      deadline: deadlineOf(caller),
      answer,
      idempotency,
    }),
  );
}
