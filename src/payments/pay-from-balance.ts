import type { EntityManager } from '@mikro-orm/postgresql';
import { executePrepared } from '../database/prepared-statements.ts';
import type { Payer } from '../identity/caller.ts';
import { Account } from '../ledger/account.entity.ts';
import { mayUseAccount } from '../ledger/may-use-account.ts';
import { insufficientBalance } from '../ledger/post-journal.ts';
import type { LedgerReferenceType, TransactionPurpose } from '../ledger/transaction.ts';
import { fromStored } from '../openings/open-once.ts';
import { must } from '../shared/assert.ts';
import { errorCodeOf, refuse } from '../shared/errors.ts';
import { failpoint } from '../shared/failpoint.ts';
import { journalKeys, newId } from '../shared/ids.ts';
import { formatMoney, type Money } from '../shared/money.ts';
import type {
  EffectPayment,
  PaymentEffect,
  PaymentHandler,
  PaymentIntent,
  SettledIn,
  SqlCall,
  WakingPort,
} from './handler.ts';

/** A payment from a balance, whatever asks for it: the dispatcher, a subscription, a circle, a transfer. */
export interface BalancePayment {
  payer: Payer;
  /** The id of its transaction: made from payer and idempotency key (`balancePaymentIdFor`), or random. */
  transactionId: string;
  referenceId: string;
  sourceAccountId: string;
  /** IDR, more than zero. */
  amount: Money;
  requestId: string | null;
  /**
   * The body of the answer, kept under the key; `<new_balance>` in it is filled in. A function makes it in the payment's
   * transaction, after all that follows from the payment (where its effect is made in the transaction).
   */
  answer?: string | ((tx: EntityManager) => Promise<string>);
  /** Only for requests that carry an `Idempotency-Key`. */
  idempotency?: NumberedKey | null;
}

/** The idempotency key of a request, and what the request says. */
export interface NumberedKey {
  keyHash: string;
  fingerprint: string;
  /** Orders the request among the refusals under its key: a whole number, taken before anything was judged. */
  number: string;
}

/** What was paid, or what was answered under this idempotency key before. */
export type BalancePaymentOutcome =
  | { outcome: 'paid'; transactionId: string; journalId: string; amount: Money; newBalance: Money; body: string }
  | { outcome: 'replayed'; status: number; body: string };

interface Movement {
  kind: string;
  referenceType: LedgerReferenceType;
  purpose: TransactionPurpose;
  /** What the request calls the source account. */
  sourceField: 'source_account_id' | 'account_id';
}

/** SQLSTATEs of other refusals. */
const targetRefuses = 'AM004';
const refusedBefore = 'AM007';
/** A debit so large that the account's column cannot hold what would be left: nobody has that much. */
const outOfRange = '22003';

/**
 * Pays for a handler's target from a balance: whose account, idempotency key, journal, transaction row, event and the
 * handler's effect in one database transaction. Permission and rail are checked by who calls. Refuses what the handler
 * refuses, a missing source account (NOT_FOUND), another's (FORBIDDEN), the target itself as the source and a balance
 * that does not cover it (400), a key of another request (IDEMPOTENCY_KEY_REUSED), and again what was refused for good
 * under its key; then nothing is left behind.
 */
export async function payFromBalance(
  em: EntityManager,
  handler: PaymentHandler,
  payment: BalancePayment,
): Promise<BalancePaymentOutcome> {
  const { payer, referenceId, sourceAccountId } = payment;
  const amount = formatMoney(payment.amount);
  const intent: PaymentIntent = { referenceId, amount, rail: 'balance', caller: payer };
  const movement: Movement = {
    kind: `balance-payment.${handler.referenceType}`,
    referenceType: handler.ledgerReferenceType,
    purpose: 'product_transfer',
    sourceField: 'source_account_id',
  };
  const handled: EffectPayment = {
    orderId: null,
    userId: payer.userId,
    organizationId: payer.organizationId,
    referenceId,
    sourceAccountId,
    amount,
    requestId: payment.requestId,
  };
  const quick = handler.effect && 'sql' in handler.effect ? handler.effect.quickTarget?.(intent) : undefined;
  if (quick !== undefined) {
    const moved = await moveOnce(em, payment, movement, quick, sqlOf(handler.effect, handled));
    if (moved.outcome !== 'unclear') return announce(moved);
  }
  const { accountId } = await handler.findTarget(em, intent);
  return moveFromBalance(em, payment, movement, { accountId, effect: handler.effect, handled });
}

/** `payFromBalance` in a transaction of its own, and then wakes the workflow that waits for the payment, if one does. */
export async function payAndWake(
  em: EntityManager,
  workflows: WakingPort,
  handler: PaymentHandler,
  payment: BalancePayment,
): Promise<BalancePaymentOutcome> {
  const paid = await payFromBalance(em, handler, payment);
  if (paid.outcome === 'paid') void handler.afterSettled?.(workflows, payment);
  return paid;
}

type SqlEffect = (settledIn: SettledIn) => SqlCall | undefined;
/** The effect as it travels with the journal, if it does. */
const sqlOf =
  (effect: PaymentEffect | undefined, handled: EffectPayment | undefined): SqlEffect =>
  (settledIn) =>
    effect && handled && 'sql' in effect ? effect.sql(handled, settledIn) : undefined;

async function announce(outcome: BalancePaymentOutcome): Promise<BalancePaymentOutcome> {
  await failpoint('pay-from-balance.after');
  return outcome;
}

/** The account that is credited, and what follows from the payment, if anything. */
interface Destination {
  accountId: string;
  effect?: PaymentEffect | undefined;
  handled?: EffectPayment;
}

/** Moves money out of a balance of the payer's into an account, with everything that belongs to it. */
export async function moveFromBalance(
  em: EntityManager,
  payment: BalancePayment,
  movement: Movement,
  { accountId, effect, handled }: Destination,
): Promise<BalancePaymentOutcome> {
  const target: SqlCall = { call: '?::uuid', params: [accountId] };
  const own = effect && 'inTransaction' in effect ? effect : undefined;
  const move = async (tx: EntityManager): Promise<BalancePaymentOutcome> => {
    const moved = await moveOnce(tx, payment, movement, target, sqlOf(effect, handled));
    if (moved.outcome === 'unclear') throw new Error('an account that was named is clear');
    if (moved.outcome !== 'paid' || own === undefined || !handled) return moved;
    await own.inTransaction(tx, { ...handled, accountId }, moved);
    return typeof payment.answer === 'function'
      ? { ...moved, body: await keepAnswer(tx, payment, payment.answer) }
      : moved;
  };
  return announce(own === undefined ? await move(em) : await em.transactional(move));
}

/** Makes the body of the answer and keeps it under the key, whose row this transaction holds. */
async function keepAnswer(
  tx: EntityManager,
  { payer, idempotency }: BalancePayment,
  present: (tx: EntityManager) => Promise<string>,
): Promise<string> {
  const body = await present(tx);
  if (idempotency) {
    await tx.execute('update idempotency_keys set answer_body = ? where user_id = ? and key_hash = ?', [
      body,
      payer.userId,
      idempotency.keyHash,
    ]);
  }
  return body;
}

const columns = 'paid.outcome, paid.new_balance::text, paid.answer_status, paid.answer_body';
const paying = (target: string) =>
  `select * from pay_from_balance(?, ?, ?, ?, ?, ?, ?, ?, ${target}, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

interface MoveRow {
  outcome: 'paid' | 'replayed' | 'reused' | 'foreign' | 'missing' | 'itself' | 'unclear';
  new_balance: Money | null;
  answer_status: number | null;
  answer_body: string | null;
}

/** The one round trip; the handler's effect as an SQL call travels with it and is made only when money moved. */
async function moveOnce(
  em: EntityManager,
  { payer, transactionId, referenceId, sourceAccountId, amount, requestId, answer, idempotency }: BalancePayment,
  { kind, referenceType, purpose, sourceField }: Movement,
  target: SqlCall,
  effectOn: SqlEffect,
): Promise<BalancePaymentOutcome | { outcome: 'unclear' }> {
  const journalId = newId();
  const effect = effectOn({ journalId, transactionId });
  const sql =
    effect === undefined
      ? `select ${columns} from (${paying(target.call)}) paid`
      : `with paid as materialized (${paying(target.call)})
         select ${columns}, case when paid.outcome = 'paid' then (${effect.call})::text end as effect from paid`;
  const paidParams = [
    transactionId,
    journalId,
    journalKeys.balancePayment(transactionId),
    kind,
    payer.userId,
    payer.userType,
    payer.organizationId,
    sourceAccountId,
    ...target.params,
    amount,
    referenceType,
    referenceId,
    purpose,
    requestId,
    idempotency?.keyHash ?? null,
    idempotency?.fingerprint ?? null,
    typeof answer === 'string' ? answer : '',
    idempotency?.number ?? null,
  ];
  const rows = await refusing(() => executePrepared<MoveRow>(em, sql, [...paidParams, ...(effect?.params ?? [])]));
  const row = must(rows[0], 'a balance payment has an outcome');
  switch (row.outcome) {
    case 'unclear':
      return { outcome: 'unclear' };
    case 'itself':
      await refuseForeign(em, payer, sourceAccountId, sourceField);
      return refuse('REQUEST_INVALID', 'an account cannot pay into itself', { field: sourceField });
    case 'missing':
      return refuse('NOT_FOUND', 'no such account', { field: sourceField });
    case 'foreign':
      return refuse('FORBIDDEN', 'the account is not yours', { field: sourceField });
    case 'reused':
      return refuse('IDEMPOTENCY_KEY_REUSED', 'this key was used for a request with another body', {
        field: 'Idempotency-Key',
      });
    case 'replayed':
      return { outcome: 'replayed', status: row.answer_status ?? 201, body: row.answer_body ?? '' };
    case 'paid': {
      const newBalance = must(row.new_balance, 'what was paid left a balance');
      return {
        outcome: 'paid',
        transactionId,
        journalId,
        amount: formatMoney(amount),
        newBalance,
        body: row.answer_body ?? '',
      };
    }
  }
}

/** Another's account is another's first, whatever else is wrong with the payment. */
async function refuseForeign(em: EntityManager, payer: Payer, accountId: string, field: string): Promise<void> {
  const account = await em.findOne(Account, { id: accountId });
  if (account !== null && !mayUseAccount(payer, account)) refuse('FORBIDDEN', 'the account is not yours', { field });
}

/** The refusal that this request has met under its key. */
function refusalIn(error: unknown): unknown {
  const { detail } = error as { detail?: string };
  return detail === undefined ? error : fromStored(JSON.parse(detail));
}

async function refusing<T>(move: () => Promise<T>): Promise<T> {
  try {
    return await move();
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === insufficientBalance || code === outOfRange) {
      refuse('INSUFFICIENT_BALANCE', 'the balance of the account does not cover it', { field: 'amount', cause: error });
    }
    if (code === refusedBefore) throw refusalIn(error);
    if (code === targetRefuses && Error.isError(error)) {
      const { column: field = 'reference_id' } = error as { column?: string };
      refuse('REQUEST_INVALID', error.message, { field, cause: error });
    }
    throw error;
  }
}
