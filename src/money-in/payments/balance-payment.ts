import type { EntityManager } from '@mikro-orm/postgresql';
import { executePrepared } from '../../platform/database/prepared-statements.ts';
import { fromStored, type StoredRefusal } from '../../platform/openings/open-once.ts';
import { must } from '../../shared/assert.ts';
import type { Payer } from '../../shared/caller.ts';
import { busy } from '../../shared/concurrency.ts';
import { errorCodeOf, refuse } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { formatMoney, type Money } from '../../shared/money.ts';
import type { HandledPayment, PaymentHandler, PaymentTarget, SqlCall } from './handler.ts';

/** A payment from a balance, requested by the dispatcher, a subscription, a circle or a transfer. */
export interface BalancePayment {
  payer: Payer;
  /** The id of its transaction: derived from payer and idempotency key (`balancePaymentIdFor`), or random. */
  transactionId: string;
  referenceId: string;
  sourceAccountId: string;
  /** IDR, greater than zero. */
  amount: Money;
  /** The member of a shared target; if absent or null, the payer. */
  onBehalfOf?: string | null;
  requestId: string | null;
  /** The latest time for the payment, by the database's clock (ISO 8601). Absent if no request waits for it. */
  deadline?: string;
  /** Only for requests with an `Idempotency-Key`. */
  idempotency?: NumberedKey | null;
}

export interface NumberedKey {
  keyHash: string;
  fingerprint: string;
  /** Orders the request relative to the refusals under its key: a whole number, drawn before any check. */
  number: string;
}

export const handledOf = (payment: BalancePayment): HandledPayment => ({
  ...payment,
  orderId: null,
  userId: payment.payer.userId,
  amount: formatMoney(payment.amount),
  onBehalfOf: payment.onBehalfOf ?? null,
});

/** A payment in the form that `pay_from_balances` accepts, the type `balance_payment`. */
const askedOf = (payment: BalancePayment, { referenceType, ledgerReferenceType, movement }: PaymentHandler) => ({
  transaction_id: payment.transactionId,
  journal_id: newId(),
  kind: movement?.kind ?? `balance-payment.${referenceType}`,
  user_id: payment.payer.userId,
  user_type: payment.payer.userType,
  organization_id: payment.payer.organizationId,
  source_account_id: payment.sourceAccountId,
  amount: formatMoney(payment.amount),
  reference_type: ledgerReferenceType,
  reference_id: payment.referenceId,
  purpose: movement?.purpose ?? 'product_transfer',
  request_id: payment.requestId,
  key_hash: payment.idempotency?.keyHash ?? null,
  fingerprint: payment.idempotency?.fingerprint ?? null,
  request_number: payment.idempotency?.number ?? null,
});

interface Making {
  payments: readonly BalancePayment[];
  /** The targets, in order: an SQL expression of type payment_target[]. */
  targets: SqlCall;
  /** The effect of the successful payments; evaluated only if there are any. */
  effect?: string | undefined;
  /** The lock time-out in milliseconds. Do not set it inside a transaction, where it would outlast the statement. */
  lockMs?: number;
}

export interface MadeRow {
  outcome: 'paid' | 'replayed' | 'refused' | 'busy';
  /** The amount, and the source's balance after the payment. */
  amount: Money;
  new_balance: Money;
  refusal: StoredRefusal | null;
}

/** In an effect: the successful payments, as an SQL expression of type balance_payment[]. */
export const paidOnes = "(select array_agg(paid.payment) from paid where paid.outcome = 'paid')";

/** Makes all the payments in one round trip; returns the outcome of each, in order. */
export async function makePayments(
  em: EntityManager,
  handler: PaymentHandler,
  { payments, targets, effect, lockMs }: Making,
): Promise<MadeRow[]> {
  const sql = `with paid as materialized (select * from pay_from_balances(?::jsonb, ${targets.call}, ?::integer)),
      effect as materialized (
        select (${effect ?? 'null'})::text from (select) one where exists (select from paid where outcome = 'paid'))
    select paid.outcome, (paid.payment).amount::numeric(20, 4)::text as amount, paid.refusal,
      paid.new_balance::numeric(20, 4)::text as new_balance, in_time(?::timestamptz, (select count(*) from effect)) as effects
    from paid order by paid.place`;
  const asked = payments.map((payment) => askedOf(payment, handler));
  // If the earliest deadline has passed, the statement fails and each payment is made alone.
  const [deadline = null] = payments.flatMap((payment) => payment.deadline ?? []).toSorted();
  const params = [JSON.stringify(asked), ...targets.params, lockMs ?? null, deadline];
  return executePrepared<MadeRow>(em, sql, params);
}

/** A paid amount and the source's balance after it; IDR, scale 4. */
export interface PaidAmount {
  amount: Money;
  balance: Money;
}

/** The payment made now, or earlier with the same key or id if `replayed`. */
export interface Paid {
  replayed: boolean;
  made?: PaidAmount;
}

/** The result of a payment, from its row. Throws its refusal, and SERVICE_UNAVAILABLE if a lock blocked it. */
export function readRow({ outcome, amount, new_balance: balance, refusal }: MadeRow): Paid {
  if (outcome === 'busy') throw busy('The account or its owner is being changed; try again');
  if (outcome === 'refused') throw fromStored(must(refusal, 'a refused payment has a refusal'));
  return outcome === 'replayed' ? { replayed: true } : { replayed: false, made: { amount, balance } };
}

/** SQLSTATEs of a refusal by the target's effect, and of a payment after its request's deadline. */
const targetRefuses = 'AM004';
const tooLate = 'AM013';

/** Turns the database's refusals into REQUEST_INVALID, and a missed deadline into SERVICE_UNAVAILABLE. */
export async function refusing<T>(move: () => Promise<T>): Promise<T> {
  try {
    return await move();
  } catch (error) {
    if (errorCodeOf(error) === targetRefuses && Error.isError(error)) {
      const { column: field = 'reference_id' } = error as { column?: string };
      refuse('REQUEST_INVALID', error.message, { field, cause: error });
    }
    if (errorCodeOf(error) === tooLate) {
      refuse('SERVICE_UNAVAILABLE', 'The request waited too long, and nothing was paid; try again', {
        retryAfterSeconds: 2,
        cause: error,
      });
    }
    throw error;
  }
}

/** Evaluates a payment's target (an SQL expression of type payment_target[]); throws its refusal. */
export async function readTarget(em: EntityManager, { call, params }: SqlCall): Promise<PaymentTarget> {
  const [row] = await executePrepared<{ account_id: string | null; refusal: StoredRefusal | null }>(
    em,
    `select account_id, refusal from unnest(${call})`,
    params,
  );
  if (row?.refusal) throw fromStored(row.refusal);
  return { accountId: must(row?.account_id, 'a target that is not locked has an account') };
}
