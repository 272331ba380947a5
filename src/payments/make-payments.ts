import type { EntityManager } from '@mikro-orm/postgresql';
import { executePrepared } from '../database/prepared-statements.ts';
import type { Payer } from '../identity/caller.ts';
import { readPayer } from '../identity/read-payer.ts';
import { insufficientBalance } from '../ledger/post-journal.ts';
import type { LedgerReferenceType, TransactionPurpose } from '../ledger/transaction.ts';
import { must } from '../shared/assert.ts';
import { budgets } from '../shared/budgets.ts';
import { errorCodeOf } from '../shared/errors.ts';
import { journalKeys, newId } from '../shared/ids.ts';
import { formatMoney, type Money } from '../shared/money.ts';
import type { SettledIn, SqlCall } from './handler.ts';

/** A payment from a balance, whoever asks for it: the dispatcher, a subscription, a circle or a transfer. */
export interface BalancePayment {
  payer: Payer;
  /** The id of its transaction: derived from payer and idempotency key (`balancePaymentIdFor`), or random. */
  transactionId: string;
  referenceId: string;
  sourceAccountId: string;
  /** IDR, more than zero. */
  amount: Money;
  /** The member of a shared target that it is for; absent or null: its payer. */
  onBehalfOf?: string | null;
  requestId: string | null;
  /**
   * Until when it may be made, by the database's clock (ISO 8601). Absent where no request waits for it: then it is
   * repeated under the same id.
   */
  deadline?: string;
  /**
   * The body of the answer, stored under the key, with `newBalancePlace` where the balance goes. A function makes it in the
   * payment's transaction, after the effect (if the effect is made in the transaction).
   */
  answer?: string | ((tx: EntityManager) => Promise<string>);
  /** Only for requests that carry an `Idempotency-Key`. */
  idempotency?: NumberedKey | null;
}

/** The placeholder in an answer that the new balance replaces. */
export const newBalancePlace = '<new_balance>';

/** The body of the answer to a payment that is made, where the database did not make it: with this new balance. */
export const bodyOf = async (
  tx: EntityManager,
  answer: NonNullable<BalancePayment['answer']>,
  newBalance: Money,
): Promise<string> => (typeof answer === 'function' ? answer(tx) : answer.replace(newBalancePlace, newBalance));

/** A request's idempotency key and fingerprint. */
export interface NumberedKey {
  keyHash: string;
  fingerprint: string;
  /** Orders the request among the refusals under its key: a whole number, drawn before anything was judged. */
  number: string;
}

/** How a payment from a balance appears in the ledger. */
export interface Movement {
  kind: string;
  referenceType: LedgerReferenceType;
  purpose: TransactionPurpose;
  /** The request's name for the source account. */
  sourceField: 'source_account_id' | 'account_id';
}

/** SQLSTATE of a request that was already refused under its key. */
const refusedBefore = 'AM007';

/** The effect of a payment as an SQL call in the journal's statement, if it is one. */
export type SqlEffect = (settledIn: SettledIn) => SqlCall | undefined;

/** A payment in the form that `pay_from_balances` takes: its type `balance_payment`. */
const askedOf = (payment: BalancePayment, { kind, referenceType, purpose }: Movement) => ({
  transaction_id: payment.transactionId,
  journal_id: newId(),
  kind,
  user_id: payment.payer.userId,
  user_type: payment.payer.userType,
  organization_id: payment.payer.organizationId,
  source_account_id: payment.sourceAccountId,
  amount: formatMoney(payment.amount),
  reference_type: referenceType,
  reference_id: payment.referenceId,
  purpose,
  request_id: payment.requestId,
  key_hash: payment.idempotency?.keyHash ?? null,
  fingerprint: payment.idempotency?.fingerprint ?? null,
  answer: typeof payment.answer === 'string' ? payment.answer : '',
  request_number: payment.idempotency?.number ?? null,
});

/**
 * Waits for the lock of a payment's source account and holds it until the caller's transaction ends, so that the target
 * is judged after the wait, and so is the payer, who may have been suspended meanwhile (FORBIDDEN, as `readPayer`).
 * Locks nothing for an account that is not the payer's.
 */
export async function lockSource(tx: EntityManager, source: Source): Promise<void> {
  await waitForSource(tx, source);
  await readPayer(tx, source.payer.userId);
}

type Source = Pick<BalancePayment, 'payer' | 'sourceAccountId'>;

/** The lock of `lockSource` alone: the payer is not judged. */
export async function waitForSource(tx: EntityManager, { payer, sourceAccountId }: Source): Promise<void> {
  const { userId, userType, organizationId } = payer;
  await tx.execute('select lock_source(?, ?, ?, ?)', [userId, userType, organizationId, sourceAccountId]);
}

interface Making {
  payments: readonly BalancePayment[];
  /** The accounts that are credited, in the order of the payments: an SQL expression of type uuid[]. */
  targets: SqlCall;
  /** The effect of those that are paid, as an SQL expression; evaluated when there are any. */
  effect: string;
}

/**
 * What a payment does about locks that others hold: `wait`; `skip` a locked source (the outcome is 'busy'), and wait for
 * any other lock; or `brief`: skip a locked source and wait half a second for any other lock, then 'busy', with nothing
 * done. A locked payer or organization is skipped by all three, and causes are waited for half a second at most, as
 * `hold_causes` says. `brief` is not for use inside a transaction, where the time-out would outlast the statement.
 */
export type Patience = 'wait' | 'skip' | 'brief';

interface MakingOne {
  /** The account that is credited, as an SQL expression. */
  target: SqlCall;
  patience: Patience;
  effectOn: SqlEffect;
}

/** The outcome of a payment, from the database. */
export interface MadeRow {
  outcome:
    | 'paid'
    | 'replayed'
    | 'reused'
    | 'refused'
    | 'insufficient'
    | 'foreign'
    | 'missing'
    | 'itself'
    | 'unclear'
    | 'inactive'
    | 'busy';
  journal_id: string;
  new_balance: Money | null;
  answer_status: number | null;
  answer_body: string | null;
}

/** The paid ones, as an SQL expression of type balance_payment[]. */
export const paidOnes = "(select array_agg(paid.payment) from paid where paid.outcome = 'paid')";

/** Writes all the payments in one round trip; returns the outcome of each, in their order. */
export async function makePayments(
  em: EntityManager,
  movement: Movement,
  { payments, targets, effect }: Making,
): Promise<MadeRow[]> {
  const sql = `with paid as materialized (select * from pay_from_balances(?::jsonb, ${targets.call})),
      effect as materialized (
        select ${effect} from (select) one where exists (select from paid where outcome = 'paid'))
    select paid.outcome, (paid.payment).journal_id, paid.new_balance::text, paid.answer_status, paid.answer_body,
      in_time(?::timestamptz, (select count(*) from effect)) as effects
    from paid order by paid.place`;
  const asked = payments.map((payment) => askedOf(payment, movement));
  // Where it is too late for one of them, each is made alone.
  const [deadline = null] = payments.flatMap((payment) => payment.deadline ?? []).toSorted();
  return executePrepared<MadeRow>(em, sql, [JSON.stringify(asked), ...targets.params, deadline]);
}

const columns = 'paid.outcome, paid.new_balance::text, paid.answer_status, paid.answer_body';
const waiting: Record<Patience, string> = { wait: 'true', skip: 'false', brief: 'brief.lock_timeout is null' };
const payingFrom = (target: string, patience: Patience) =>
  `pay_from_balance(?, ?, ?, ?, ?, ?, ?, ?, ${target}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${waiting[patience]})`;
/** The last argument of a brief payment depends on the time-out, which is therefore set first. */
const paying = (target: string, patience: Patience) =>
  patience === 'brief'
    ? `select made.outcome, made.new_balance, made.answer_status, made.answer_body
       from (select set_config('lock_timeout', '${budgets.balancePayment.briefMs}ms', true) as lock_timeout) brief
       cross join lateral ${payingFrom(target, patience)} made`
    : `select * from ${payingFrom(target, patience)}`;
/** SQLSTATE lock_not_available. */
const lockNotAvailable = '55P03';

/** The same for one payment; after 'insufficient' and 'refused' the surrounding transaction must be rolled back. */
export async function makePayment(
  em: EntityManager,
  payment: BalancePayment,
  movement: Movement,
  { target, patience, effectOn }: MakingOne,
): Promise<MadeRow> {
  const asked = askedOf(payment, movement);
  const { transaction_id: transactionId, journal_id: journalId } = asked;
  const effect = effectOn({ journalId, transactionId });
  const made = paying(target.call, patience);
  const sql = `with paid as materialized (${made})
    select ${columns}, case when paid.outcome = 'paid'
      then in_time(?::timestamptz, num_nulls((${effect?.call ?? 'null'})::text)) end from paid`;
  const params = [
    transactionId,
    journalId,
    journalKeys.balancePayment(transactionId),
    asked.kind,
    asked.user_id,
    asked.user_type,
    asked.organization_id,
    asked.source_account_id,
    ...target.params,
    asked.amount,
    asked.reference_type,
    asked.reference_id,
    asked.purpose,
    asked.request_id,
    asked.key_hash,
    asked.fingerprint,
    asked.answer,
    asked.request_number,
    payment.deadline ?? null,
    ...(effect?.params ?? []),
  ];
  const nothing = { journal_id: journalId, new_balance: null, answer_status: null, answer_body: null };
  try {
    const rows = await executePrepared<Omit<MadeRow, 'journal_id'>>(em, sql, params);
    return { ...must(rows[0], 'a payment has an outcome'), journal_id: journalId };
  } catch (error) {
    const code = errorCodeOf(error);
    if (patience === 'brief' && code === lockNotAvailable) return { ...nothing, outcome: 'busy' };
    if (code === insufficientBalance) return { ...nothing, outcome: 'insufficient' };
    const { detail = null } = error as { detail?: string | null };
    if (code === refusedBefore && detail !== null) return { ...nothing, outcome: 'refused', answer_body: detail };
    throw error;
  }
}
