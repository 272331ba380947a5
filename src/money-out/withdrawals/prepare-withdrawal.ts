import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../../ledger/accounts/account.entity.ts';
import { mayUseAccount } from '../../ledger/may-use-account.ts';
import { getOwnBankAccount } from '../../people/bank-accounts/get-own-bank-account.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import type { Money } from '../../shared/money.ts';
import { judgeDisbursement } from './judge-disbursement.ts';
import { priceWithdrawal, refuseUnusable } from './price-withdrawal.ts';
import { placeOfNote, type WithdrawalOpening, type WithdrawalTerms } from './withdrawal.ts';
import { readWithdrawalHeadroom, refuseBeyondWithdrawalHeadroom } from './withdrawal-headroom.ts';

export interface WithdrawalRequest {
  bank_account_id: string;
  /** IDR, at most four decimals. */
  amount: Money;
  /** Both or neither; both make it a disbursement. */
  cause_id?: string | undefined;
  purpose_note?: string | undefined;
}

/**
 * Runs every check that can refuse a withdrawal before its workflow starts; returns the workflow's input. Checks limit
 * and balance only to reject hopeless requests early; the binding check is under the locks. Throws NOT_FOUND for a
 * missing account or bank account, FORBIDDEN for another owner's, and as `refuseUnusable`, `priceWithdrawal`, and
 * `refuseBeyondWithdrawalHeadroom` or `judgeDisbursement` do.
 */
export async function prepareWithdrawal(
  em: EntityManager,
  { config: terms, sealer }: { config: WithdrawalTerms; sealer: Sealer },
  input: {
    id: string;
    caller: Caller;
    accountId: string;
    body: WithdrawalRequest;
    idempotency: WithdrawalOpening['idempotency'];
    requestId: string;
  },
): Promise<Omit<WithdrawalOpening, 'stamp'>> {
  const { id, caller, accountId, body, idempotency, requestId } = input;
  const { cause_id: causeId, purpose_note: note } = body;
  const account = await em.findOne(Account, { id: accountId });
  if (account === null) refuse('NOT_FOUND', 'the account was not found', { field: 'account_id' });
  if (!mayUseAccount(caller, account)) refuse('FORBIDDEN', 'the account is not yours', { field: 'account_id' });
  const bankAccount = await getOwnBankAccount(em, caller, body.bank_account_id, { field: 'bank_account_id' });
  refuseOtherOwner(account, bankAccount);
  await refuseUnusable(em, bankAccount);
  const { bank_code: bankCode } = bankAccount;
  const price = await priceWithdrawal(em, { bankCode, amount: body.amount, fee: terms.WITHDRAWAL_FEE });
  const headroom = await readWithdrawalHeadroom(em, { userId: caller.userId, accountId });
  if (causeId === undefined) refuseBeyondWithdrawalHeadroom(headroom, price.amount, terms.WITHDRAWAL_DAILY_LIMIT);
  else await judgeDisbursement(em, headroom, { causeId, accountId, amount: price.amount });
  return {
    userId: caller.userId,
    accountId,
    bankAccountId: bankAccount.id,
    ...price,
    disbursement:
      causeId === undefined || note === undefined
        ? null
        : { causeId, noteSealed: await sealer.seal(placeOfNote(id), note) },
    requestId,
    idempotency,
  };
}

/** Refuses a bank account whose owner is not the account's: the user may have belonged to an organization before. */
export function refuseOtherOwner(
  account: { organization_id?: string | null },
  bankAccount: { organization_id?: string | null },
): void {
  if ((account.organization_id ?? null) === (bankAccount.organization_id ?? null)) return;
  refuse('FORBIDDEN', 'the bank account and the account have different owners', { field: 'bank_account_id' });
}
