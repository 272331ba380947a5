import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../ledger/account.entity.ts';
import { mayUseAccount } from '../ledger/may-use-account.ts';
import { refuse } from '../shared/errors.ts';
import { balancePaymentIdFor } from '../shared/ids.ts';
import { formatMoney, type Money } from '../shared/money.ts';
import { fingerprintOf, type StoredAnswer } from './idempotency.ts';
import { newBalancePlace } from './make-payments.ts';
import { type GatheredKind, moveTogether, type PayTogether } from './pay-from-balance.ts';
import { type Asking, deadlineOf, payUnderKey } from './pay-under-key.ts';
import { presentPaid } from './prepare-balance-payment.ts';

export interface TransferRequest {
  sourceAccountId: string;
  destinationAccountId: string;
  /** IDR. */
  amount: Money;
}

/** The accounts at both ends are the caller's own, for good, and take any amount: nothing is judged but the balance. */
const pocketTransfer: GatheredKind = {
  movement: {
    kind: 'pocket-transfer',
    referenceType: 'account_top_up',
    purpose: 'pocket_transfer',
    sourceField: 'account_id',
  },
  together: {
    targets: (payments) => ({ call: '?::uuid[]', params: [payments.map(({ referenceId }) => referenceId)] }),
    effect: () => 'null',
  },
};

/**
 * Moves money between two of the caller's own accounts: a payment like any other, of purpose `pocket_transfer`
 * (docs/contract.md 2). Throws 404 for a missing account, 403 for another's, 400 when both are the same or the balance
 * is too low.
 */
export async function transferBetweenPockets(
  { em, payTogether }: { em: EntityManager; payTogether?: PayTogether },
  transfer: TransferRequest,
  asking: Asking,
): Promise<StoredAnswer & { replayed: boolean }> {
  const { caller, key, requestId } = asking;
  const { sourceAccountId, destinationAccountId } = transfer;
  const amount = formatMoney(transfer.amount);
  const path = `/v1/accounts/${sourceAccountId}/transfers`;
  const fingerprint = fingerprintOf('POST', path, { destination_account_id: destinationAccountId, amount });
  const transactionId = balancePaymentIdFor(caller.userId, key);
  const paid = presentPaid('Transfer completed', {
    transaction_id: transactionId,
    amount,
    new_balance: newBalancePlace,
    reference_type: pocketTransfer.movement.referenceType,
    reference_id: destinationAccountId,
  });
  const answer = JSON.stringify(paid);
  return payUnderKey(em, asking, { fingerprint, transactionId, answer }, async (idempotency) => {
    const accounts = await em.find(Account, { id: { $in: [sourceAccountId, destinationAccountId] } });
    for (const [field, accountId] of [
      ['account_id', sourceAccountId],
      ['destination_account_id', destinationAccountId],
    ]) {
      const account = accounts.find(({ id }) => id === accountId);
      if (account === undefined) refuse('NOT_FOUND', 'no such account', { field });
      if (!mayUseAccount(caller, account)) refuse('FORBIDDEN', 'the account is not yours', { field });
    }
    const payment = {
      payer: caller,
      transactionId,
      referenceId: destinationAccountId,
      sourceAccountId,
      amount,
      requestId,
      deadline: deadlineOf(caller),
      answer,
      idempotency,
    };
    return moveTogether(em, pocketTransfer, payment, payTogether);
  });
}
