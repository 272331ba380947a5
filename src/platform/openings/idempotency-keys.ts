import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import { sha256 } from '../../shared/digest.ts';
import { refuse } from '../../shared/errors.ts';
import type { KeyClaim, OpeningStamp } from '../../shared/opening.ts';
import { executePrepared } from '../database/prepared-statements.ts';

export interface KeyRow {
  fingerprint: string;
  resource_id: string;
  answer_status: number | null;
  answer_body: string | null;
  /** Sealed for a partner, as it may contain a bank account number. */
  answer_sealed: string | null;
}

/** A response as sent, byte for byte. */
export interface StoredAnswer {
  status: number;
  body: string;
}
/** The first response, or a replay of it. */
export type SentAnswer = StoredAnswer & { replayed: boolean };
/** A response to a partner, sealed for the row `id`. */
export interface SealedAnswer {
  status: number;
  sealed: string;
  id: string;
}

/** Returns a key's SHA-256; its text is arbitrary and not stored. */
export const hashKey = (key: string): string => sha256(key);

/** Returns the fingerprint of a request: method, path and the validated body, with its fields in canonical order. */
export function fingerprintOf(method: string, path: string, body: Record<string, unknown>): string {
  const fields = Object.keys(body)
    .filter((name) => body[name] !== undefined)
    .sort()
    .map((name) => [name, body[name]]);
  return sha256(JSON.stringify([method, path, fields]));
}

export const claimFor = (userId: string, key: string | undefined, path: string, body: Record<string, unknown>) =>
  key === undefined ? null : { userId, keyHash: hashKey(key), fingerprint: fingerprintOf('POST', path, body) };

/** Returns a key's owner and hash, which locate its row. */
export const placeOf = (claim: KeyClaim): string[] => [
  'partnerId' in claim ? claim.partnerId : claim.userId,
  claim.keyHash,
];

/** Throws IDEMPOTENCY_KEY_REUSED (partners: REQUEST_IDEMPOTENCY_KEY_REUSED), as the key belongs to another request. */
export function refuseReused(owner: { userId: string } | { partnerId: string }): never {
  if ('partnerId' in owner) {
    refuse('REQUEST_IDEMPOTENCY_KEY_REUSED', 'this key is attached to a different request', {
      field: 'X-Idempotency-Key',
    });
  }
  refuse('IDEMPOTENCY_KEY_REUSED', 'this key was used for a request with another body', { field: 'Idempotency-Key' });
}

const columns = 'k.fingerprint, k.resource_id, k.answer_status, k.answer_body, k.answer_sealed';
const atKey = 'k.owner_id = ? and k.key_hash = ? and k.made is not null';

function ofRequest(claim: KeyClaim, row: KeyRow | undefined): KeyRow | null {
  if (row !== undefined && row.fingerprint !== claim.fingerprint) refuseReused(claim);
  return row ?? null;
}

/** Returns the resource created under the key, or null; throws like `refuseReused` if another request used the key. */
export async function findUnderKey(em: EntityManager, claim: KeyClaim): Promise<KeyRow | null> {
  const sql = `select ${columns} from requests k where ${atKey}`;
  return ofRequest(claim, (await executePrepared<KeyRow>(em, sql, placeOf(claim)))[0]);
}

/**
 * Stamps a request on arrival, before it waits or reads anything it depends on, and finds the resource created under
 * its key, in one round trip. `livesMs` applies to a request without a key: nobody can join it after its response.
 */
export async function arriveUnderKey(
  em: EntityManager,
  claim: KeyClaim | null,
  { livesMs }: Pick<OpeningStamp, 'livesMs'> = {},
): Promise<{ stamp: OpeningStamp; made: KeyRow | null }> {
  const [row] = await executePrepared<{ number: string; asked_at: string } & (KeyRow | { fingerprint: null })>(
    em,
    `select stamp.number, stamp.asked_at, ${columns}
     from (select nextval('opening_numbers')::text as number, to_json(clock_timestamp()) #>> '{}' as asked_at) stamp
     left join requests k on ${atKey}`,
    claim === null ? [null, null] : placeOf(claim),
  );
  const { number, asked_at: askedAt, ...made } = must(row, 'a stamp is one row');
  return {
    stamp: { number, askedAt, ...(claim === null && livesMs !== undefined && { livesMs }) },
    made: claim === null || made.fingerprint === null ? null : ofRequest(claim, made),
  };
}

/** Stamps a request whose key, if any, is looked up elsewhere. */
export const stampOpening = async (em: EntityManager, options?: Pick<OpeningStamp, 'livesMs'>): Promise<OpeningStamp> =>
  (await arriveUnderKey(em, null, options)).stamp;

/** Stores the first response under the key, if a resource was created; returns whether it stored this one. */
export async function keepAnswer(
  em: EntityManager,
  claim: KeyClaim,
  answer: StoredAnswer | SealedAnswer,
): Promise<boolean> {
  const [body, sealed, id] = 'body' in answer ? [answer.body, null, null] : [null, answer.sealed, answer.id];
  const kept = await executePrepared(
    em,
    `update requests set answer_status = ?, answer_body = ?, answer_sealed = ?, id = ?::uuid,
       decided_at = clock_timestamp()
     where owner_id = ? and key_hash = ? and fingerprint = ? and made is not null and answer_status is null returning 1`,
    [answer.status, body, sealed, id, ...placeOf(claim), claim.fingerprint],
  );
  return kept.length > 0;
}

/** Returns the response stored under a key, or null when there is none yet. */
export const answerOf = (kept: KeyRow | null): SentAnswer | null =>
  kept === null || kept.answer_status === null || kept.answer_body === null
    ? null
    : { status: kept.answer_status, body: kept.answer_body, replayed: true };

/** Returns the first response stored for this key, or null. Throws when the key belongs to another request. */
export const findFirstAnswer = async (em: EntityManager, claim: KeyClaim): Promise<SentAnswer | null> =>
  answerOf(await findUnderKey(em, claim));

/**
 * Returns the first response for this key, storing this one if there is none; without a key, this one. Throws for
 * another request's key.
 */
export const keepFirstAnswer = async (
  em: EntityManager,
  claim: KeyClaim | null,
  answer: SentAnswer,
): Promise<SentAnswer> =>
  claim === null || (await keepAnswer(em, claim, answer)) ? answer : ((await findFirstAnswer(em, claim)) ?? answer);
