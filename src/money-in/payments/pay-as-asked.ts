import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../../ledger/accounts/account.entity.ts';
import type { SentAnswer } from '../../platform/openings/idempotency-keys.ts';
import { withFieldNames } from '../../shared/errors.ts';
import { formatMoney, type Money } from '../../shared/money.ts';
import { accountTopUp } from './account-top-up.ts';
import { getHandler, type HandlingPorts, type PaymentHandler } from './handler.ts';
import { type PayTogether, payAndWake, payFromBalance } from './pay-from-balance.ts';
import { type Answer, type Asking, payUnderKey } from './pay-under-key.ts';
import type { BalancePaymentRequest } from './present-order.ts';

/** What requests ask to be paid from a balance: a target of a handler, or a pocket of one's own. */

/** The body of the answer (docs/contract.md 3). */
const presentPaid =
  (message: string, reference: { reference_type: string; reference_id: string }): Answer =>
  async (_, { transactionId: transaction_id, amount, balance: new_balance }) => {
    const data = { transaction_id, amount, new_balance, ...reference };
    return JSON.stringify({ status: 'success', statusCode: 201, message, data });
  };

/**
 * Pays from a balance: looks up the stored answer of the key, then checks handler, rail and permission, then pays, then
 * wakes the workflow that waits for the payment. Returns the body as it is sent, byte for byte.
 */
export async function payAsAsked(
  em: EntityManager,
  ports: HandlingPorts & { payTogether: PayTogether },
  body: BalancePaymentRequest,
  asking: Asking,
): Promise<SentAnswer> {
  const { reference_type, reference_id, source_account_id: sourceAccountId } = body;
  const amount = formatMoney(body.amount);
  const answer = presentPaid('Payment completed', { reference_type, reference_id });
  return payUnderKey(em, asking, { path: '/v1/payments/balance', body: { ...body, amount }, answer }, (payment) => {
    const handler = getHandler(ports, asking.caller, { referenceType: reference_type, rail: 'balance' });
    return payAndWake(em, ports, handler, { ...payment, referenceId: reference_id, sourceAccountId, amount });
  });
}

export interface TransferRequest {
  sourceAccountId: string;
  destinationAccountId: string;
  /** IDR. */
  amount: Money;
}

/** The accounts at both ends are the caller's own, for good, and take any amount: nothing is judged but the balance. */
const pocketTransfer: PaymentHandler = {
  ...accountTopUp,
  movement: { kind: 'pocket-transfer', purpose: 'pocket_transfer' },
  together: {
    targets: (payments) => ({
      call: 'targets_at(?::uuid[])',
      params: [payments.map(({ referenceId }) => referenceId)],
    }),
  },
};

/**
 * Moves money between two of the caller's own accounts: a payment like any other, of purpose `pocket_transfer`
 * (docs/contract.md 2). Throws 404 for a missing account, 403 for another's, 400 when both are the same or the balance
 * is too low.
 */
export async function transferBetweenPockets(
  em: EntityManager,
  payTogether: PayTogether,
  transfer: TransferRequest,
  asking: Asking,
): Promise<SentAnswer> {
  const { sourceAccountId, destinationAccountId: referenceId } = transfer;
  const amount = formatMoney(transfer.amount);
  const { referenceType: reference_type } = pocketTransfer;
  const request = {
    path: `/v1/accounts/${sourceAccountId}/transfers`,
    body: { destination_account_id: referenceId, amount },
    answer: presentPaid('Transfer completed', { reference_type, reference_id: referenceId }),
  };
  return payUnderKey(em, asking, request, async (payment) => {
    // Read both at once: `findTarget` then finds them here.
    await em.find(Account, { id: { $in: [sourceAccountId, referenceId] } });
    for (const [field, id] of Object.entries({ account_id: sourceAccountId, destination_account_id: referenceId })) {
      const asked = { referenceId: id, caller: asking.caller };
      await withFieldNames({ reference_id: field }, () => accountTopUp.findTarget(em, asked));
    }
    return withFieldNames({ source_account_id: 'account_id' }, () =>
      payFromBalance(em, pocketTransfer, { ...payment, referenceId, sourceAccountId, amount }, payTogether),
    );
  });
}
