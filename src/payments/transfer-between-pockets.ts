import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../ledger/account.entity.ts';
import { mayUseAccount } from '../ledger/may-use-account.ts';
import { refuse } from '../shared/errors.ts';
import { balancePaymentIdFor } from '../shared/ids.ts';
import { formatMoney, type Money } from '../shared/money.ts';
import { fingerprintOf, type StoredAnswer } from './idempotency.ts';
import { moveFromBalance } from './pay-from-balance.ts';
import { type Asking, payUnderKey } from './pay-under-key.ts';
import { newBalancePlace, presentPaid } from './prepare-balance-payment.ts';

export interface TransferRequest {
  sourceAccountId: string;
  destinationAccountId: string;
  /** IDR. */
  amount: Money;
}

/**
 * Moves money between two of the caller's own accounts: a payment like any other, of purpose `pocket_transfer`
 * (docs/contract.md 2). Throws 404 for a missing account, 403 for another's, 400 when both are the same or the balance
 * is too low.
 */
export async function transferBetweenPockets(
  em: EntityManager,
  transfer: TransferRequest,
  asking: Asking,
): Promise<StoredAnswer & { replayed: boolean }> {
  const { caller, key, requestId } = asking;
  const { sourceAccountId, destinationAccountId } = transfer;
  const amount = formatMoney(transfer.amount);
  const path = `/v1/accounts/${sourceAccountId}/transfers`;
  const fingerprint = fingerprintOf('POST', path, { destination_account_id: destinationAccountId, amount });
  const transactionId = balancePaymentIdFor(caller.userId, key);
  const referenceType = 'account_top_up';
  const answer = presentPaid('Transfer completed', {
    transaction_id: transactionId,
    amount,
    new_balance: newBalancePlace,
    reference_type: referenceType,
    reference_id: destinationAccountId,
  });
  return payUnderKey(em, asking, fingerprint, async (idempotency) => {
    const accounts = await em.find(Account, { id: { $in: [sourceAccountId, destinationAccountId] } });
    for (const [field, accountId] of [
      ['account_id', sourceAccountId],
      ['destination_account_id', destinationAccountId],
    ]) {
      const account = accounts.find(({ id }) => id === accountId);
      if (account === undefined) refuse('NOT_FOUND', 'no such account', { field });
      if (!mayUseAccount(caller, account)) refuse('FORBIDDEN', 'the account is not yours', { field });
    }
    return moveFromBalance(
      em,
      {
        payer: caller,
        transactionId,
        referenceId: destinationAccountId,
        sourceAccountId,
        amount,
        requestId,
        answer: JSON.stringify(answer),
        idempotency,
      },
      {
        kind: 'pocket-transfer',
        referenceType,
        purpose: 'pocket_transfer',
        sourceField: 'account_id',
      },
      { accountId: destinationAccountId },
    );
  });
}
