import type { EntityManager } from '@mikro-orm/postgresql';
import type { Payer } from '../identity/caller.ts';
import { refuseInactive } from '../identity/read-payer.ts';
import { Account } from '../ledger/account.entity.ts';
import { mayUseAccount } from '../ledger/may-use-account.ts';
import { fromStored } from '../openings/open-once.ts';
import { must } from '../shared/assert.ts';
import { busy } from '../shared/concurrency.ts';
import { refuse } from '../shared/errors.ts';
import { formatMoney, type Money } from '../shared/money.ts';
import type { BalancePayment, MadeRow, Movement } from './make-payments.ts';

/** The payment, or the stored answer under its idempotency key. */
export type BalancePaymentOutcome =
  | { outcome: 'paid'; transactionId: string; journalId: string; amount: Money; newBalance: Money; body: string }
  | { outcome: 'replayed'; status: number; body: string };

/** The payment with the amount that its target takes (IDR, scale 4) instead of the one named; its answer says so. */
export function withAmount(payment: BalancePayment, amount: Money): BalancePayment {
  const { answer } = payment;
  return { ...payment, amount, ...(answer !== undefined && { answer: answerNaming(answer, amount) }) };
}

/** The body of an answer, with the amount that was paid (IDR, scale 4); one that is made in the transaction reads it. */
export function answerNaming<Answer extends NonNullable<BalancePayment['answer']>>(answer: Answer, amount: Money) {
  if (typeof answer !== 'string') return answer;
  const body = JSON.parse(answer);
  return JSON.stringify({ ...body, data: { ...body.data, amount } });
}

/** What became of a payment, from its row; throws its refusal. Not for 'unclear' ones, which are made again. */
export async function readRow(
  em: EntityManager,
  row: MadeRow,
  { payer, transactionId, sourceAccountId, amount }: BalancePayment,
  { sourceField }: Movement,
): Promise<BalancePaymentOutcome> {
  switch (row.outcome) {
    case 'unclear':
      throw new Error('an account that was named is clear');
    case 'busy':
      // After the wait for its source another row is still locked, e.g. that of an organization just joined.
      throw busy('The account or its owner is being changed; try again');
    case 'itself':
      await refuseForeign(em, payer, sourceAccountId, sourceField);
      return refuse('REQUEST_INVALID', 'an account cannot pay into itself', { field: sourceField });
    case 'missing':
      return refuse('NOT_FOUND', 'no such account', { field: sourceField });
    case 'foreign':
      return refuse('FORBIDDEN', 'the account is not yours', { field: sourceField });
    case 'inactive':
      return refuseInactive();
    case 'insufficient':
      return refuse('INSUFFICIENT_BALANCE', 'the balance of the account does not cover it', { field: 'amount' });
    case 'reused':
      return refuse('IDEMPOTENCY_KEY_REUSED', 'this key was used for a request with another body', {
        field: 'Idempotency-Key',
      });
    case 'refused':
      throw fromStored(JSON.parse(must(row.answer_body, 'what was refused has its refusal')));
    case 'replayed':
      return { outcome: 'replayed', status: row.answer_status ?? 201, body: row.answer_body ?? '' };
    case 'paid': {
      const newBalance = must(row.new_balance, 'what was paid left a balance');
      return {
        outcome: 'paid',
        transactionId,
        journalId: row.journal_id,
        amount: formatMoney(amount),
        newBalance,
        body: row.answer_body ?? '',
      };
    }
  }
}

/** FORBIDDEN comes first for another's account, whatever else is wrong with the payment. */
async function refuseForeign(em: EntityManager, payer: Payer, accountId: string, field: string): Promise<void> {
  const account = await em.findOne(Account, { id: accountId });
  if (account !== null && !mayUseAccount(payer, account)) refuse('FORBIDDEN', 'the account is not yours', { field });
}
