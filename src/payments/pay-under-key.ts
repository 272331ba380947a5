import type { EntityManager } from '@mikro-orm/postgresql';
import type { Caller } from '../identity/caller.ts';
import { isVerdict, toStored } from '../openings/open-once.ts';
import { must } from '../shared/assert.ts';
import type { DomainError } from '../shared/errors.ts';
import type { BalancePaymentOutcome } from './balance-payment-outcome.ts';
import { answerOf, hashKey, type KeptAnswer, type StoredAnswer } from './idempotency.ts';
import type { NumberedKey } from './make-payments.ts';

/** The caller, the idempotency key and the id of a request. */
export interface Asking {
  caller: Caller;
  key: string | undefined;
  requestId: string;
}

type Claim = { userId: string; keyHash: string; fingerprint: string };

/**
 * Pays from a balance under the request's idempotency key, if any: returns the stored answer of the key's first
 * request, or that of `pay`. A refusal is final: another request with the key may have paid since this one was judged,
 * or be about to, so a refusal is written down under the key's lock before it is returned, and what was paid meanwhile
 * is returned instead. Throws as `pay` does, and IDEMPOTENCY_KEY_REUSED for a key of another request.
 */
export async function payUnderKey(
  em: EntityManager,
  { caller, key }: Asking,
  fingerprint: string,
  pay: (key: NumberedKey | null) => Promise<BalancePaymentOutcome>,
): Promise<StoredAnswer & { replayed: boolean }> {
  if (key === undefined) return sentAs(await pay(null));
  const claim: Claim = { userId: caller.userId, keyHash: hashKey(key), fingerprint };
  try {
    const { number, first } = await lookUp(em, claim);
    if (first !== null) return { ...first, replayed: true };
    return sentAs(await pay({ keyHash: claim.keyHash, fingerprint, number }));
  } catch (error) {
    if (!isVerdict(error)) throw error;
    return { ...(await refuseForGood(em, claim, error)), replayed: true };
  }
}

/** The answer to a payment from a balance, and whether it is a replay. */
const sentAs = (paid: BalancePaymentOutcome): StoredAnswer & { replayed: boolean } =>
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
  return { number, first: kept.fingerprint === null ? null : answerOf(kept, fingerprint) };
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
