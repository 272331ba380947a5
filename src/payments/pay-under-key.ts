import type { EntityManager } from '@mikro-orm/postgresql';
import type { Caller } from '../identity/caller.ts';
import { isVerdict, toStored } from '../openings/open-once.ts';
import { must } from '../shared/assert.ts';
import { isLostConnection } from '../shared/away.ts';
import { budgets } from '../shared/budgets.ts';
import { DomainError } from '../shared/errors.ts';
import type { Money } from '../shared/money.ts';
import { withPatience } from '../shared/patience.ts';
import { answerNaming, type BalancePaymentOutcome } from './balance-payment-outcome.ts';
import { answerOf, hashKey, type KeptAnswer, type StoredAnswer } from './idempotency.ts';
import { type BalancePayment, bodyOf, type NumberedKey } from './make-payments.ts';

/** The caller, the idempotency key and the id of a request. */
export interface Asking {
  caller: Caller;
  key: string | undefined;
  requestId: string;
}

/** What a request under a key asks for. */
interface Asked extends Pick<BalancePayment, 'transactionId'> {
  /** Of the request without its key. */
  fingerprint: string;
  /** The body of its answer, as `BalancePayment` has it. */
  answer: NonNullable<BalancePayment['answer']>;
}

type Claim = { userId: string; keyHash: string; fingerprint: string };

/**
 * Pays from a balance under the request's idempotency key, if any: returns the stored answer of the key's first
 * request, or that of `pay`. Where that answer was forgotten by its age, it is made again. A refusal is final: another
 * request with the key may have paid since this one was judged, or be about to, so a refusal is written down under the
 * key's lock before it is returned, and what was paid meanwhile is returned instead. Throws as `pay` does,
 * IDEMPOTENCY_KEY_REUSED for a key of another request, and SERVICE_UNAVAILABLE when the outcome is not known: without a
 * key it names the transaction that a payment would have, and is not to be repeated. What has not been judged by then is
 * not made any more (`deadlineOf`).
 */
export async function payUnderKey(
  em: EntityManager,
  asking: Asking,
  asked: Asked,
  pay: (key: NumberedKey | null) => Promise<BalancePaymentOutcome>,
): Promise<SentAnswer> {
  const { caller, key } = asking;
  try {
    return await withPatience(budgets.requests.balancePayment, async () =>
      key === undefined ? sentAs(await pay(null)) : await answerUnder(key, em, caller, asked, pay),
    );
  } catch (error) {
    if (!isLostConnection(error)) throw error;
    throw key === undefined
      ? new DomainError(
          'SERVICE_UNAVAILABLE',
          `It is not known whether this was paid. If it was, GET /v1/transactions/${asked.transactionId} finds it`,
          { cause: error },
        )
      : new DomainError(
          'SERVICE_UNAVAILABLE',
          'It is not known whether this was paid; repeat the request under its Idempotency-Key',
          { cause: error, retryAfterSeconds: 2 },
        );
  }
}

/** Until when a payment that is asked for may be made: ISO 8601, by the database's clock. */
export const deadlineOf = ({ askedAt }: Caller): string =>
  new Date(askedAt.getTime() + budgets.balancePayment.lives).toISOString();

type SentAnswer = StoredAnswer & { replayed: boolean };

async function answerUnder(
  key: string,
  em: EntityManager,
  caller: Caller,
  asked: Asked,
  pay: (key: NumberedKey) => Promise<BalancePaymentOutcome>,
): Promise<SentAnswer> {
  const { fingerprint } = asked;
  const claim: Claim = { userId: caller.userId, keyHash: hashKey(key), fingerprint };
  try {
    const { number, isUsed, first } = await lookUp(em, claim);
    const kept = first ?? (isUsed ? await tellAgain(em.fork(), claim.userId, asked) : null);
    if (kept !== null) return { ...kept, replayed: true };
    return sentAs(await pay({ keyHash: claim.keyHash, fingerprint, number }));
  } catch (error) {
    if (!isVerdict(error)) throw error;
    return { ...(await refuseForGood(em, claim, error)), replayed: true };
  }
}

/** The answer to a payment from a balance, and whether it is a replay. */
const sentAs = (paid: BalancePaymentOutcome): SentAnswer =>
  paid.outcome === 'replayed'
    ? { status: paid.status, body: paid.body, replayed: true }
    : { status: 201, body: paid.body, replayed: false };

/** The request's number, which orders it among the refusals under its key, and the answer stored already. */
async function lookUp(em: EntityManager, { userId, keyHash, fingerprint }: Claim) {
  const rows = await em.execute<({ number: string } & (KeptAnswer | { fingerprint: null }))[]>(
    `select nextval('opening_numbers')::text as number, k.fingerprint, k.answer_status, k.answer_body
     from (select) one left join idempotency_keys k on k.user_id = ? and k.key_hash = ?`,
    [userId, keyHash],
  );
  const { number, ...kept } = must(rows[0], 'a left join of one row has one');
  const isUsed = kept.fingerprint !== null;
  return { number, isUsed, first: isUsed ? answerOf(kept, fingerprint) : null };
}

/**
 * The answer to what was paid under the key, made again: with what was paid, which may be more than the amount asked for,
 * with the balance that the statement has after it, and of a contribution with what stands. Null when nothing was paid.
 */
async function tellAgain(
  em: EntityManager,
  userId: string,
  { transactionId, answer }: Asked,
): Promise<StoredAnswer | null> {
  const [row] = await em.execute<{ amount: Money; balance: Money }[]>(
    `select amount::text, balance_after(source_account_id, batch_id)::numeric(20, 4)::text as balance from transactions
     where id = ? and user_id = ?`,
    [transactionId, userId],
  );
  return row === undefined
    ? null
    : { status: 201, body: await bodyOf(em, answerNaming(answer, row.amount), row.balance) };
}

/** Writes the refusal down and throws it, or returns the answer of a payment made under the key meanwhile. */
async function refuseForGood(em: EntityManager, claim: Claim, refusal: DomainError): Promise<StoredAnswer> {
  const [kept] = await em
    .fork()
    .execute<KeptAnswer[]>(
      'select fingerprint, answer_status, answer_body from refuse_balance_payment(?, ?, ?, ?::jsonb)',
      [claim.userId, claim.keyHash, claim.fingerprint, JSON.stringify(toStored(refusal))],
    );
  const first = kept === undefined ? null : answerOf(kept, claim.fingerprint);
  if (first !== null) return first;
  throw refusal;
}
