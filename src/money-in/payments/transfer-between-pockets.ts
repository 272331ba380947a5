import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../../ledger/accounts/account.entity.ts';
import { mayUseAccount } from '../../ledger/may-use-account.ts';
import { fingerprintOf, type StoredAnswer } from '../../platform/idempotency/idempotency.ts';
import { refuse, withFieldNames } from '../../shared/errors.ts';
import { balancePaymentIdFor } from '../../shared/ids.ts';
import { formatMoney, type Money } from '../../shared/money.ts';
import { newBalancePlace, presentPaid } from './balance-payment.ts';
import { type GatheredKind, moveTogether, type PayTogether } from './pay-from-balance.ts';
import { type Asking, deadlineOf, payUnderKey } from './pay-under-key.ts';

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
  },
  together: {
    targets: (payments) => ({
      call: 'targets_at(?::uuid[])',
      params: [payments.map(({ referenceId }) => referenceId)],
    }),
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
  const answer = presentPaid('Transfer completed', {
    transaction_id: transactionId,
    amount,
    new_balance: newBalancePlace,
    reference_type: pocketTransfer.movement.referenceType,
    reference_id: destinationAccountId,
  });
  return payUnderKey(em, asking, { fingerprint, transactionId, answer }, async (idempotency) => {
    const accounts = await em.find(Account, { id: { $in: [sourceAccountId, destinationAccountId] } });
    for (const [field, accountId] of [
      ['account_id', sourceAccountId],
      ['destination_account_id', destinationAccountId],
    ]) {
      const account = accounts.find(({ id }) => id === accountId);
      if (account === undefined) refuse('NOT_FOUND', 'the account was not found', { field });
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
    return withFieldNames({ source_account_id: 'account_id' }, () =>
      moveTogether(em, pocketTransfer, payment, payTogether),
    );
  });
}
