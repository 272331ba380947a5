import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import { busy } from '../../shared/concurrency.ts';
import { type DomainError, refuse } from '../../shared/errors.ts';
import { executePrepared } from '../database/prepared-statements.ts';
import { toStored } from './open-once.ts';
import type { OpeningStamp } from './opening.ts';
import { type Stamping, stamping, stampOf } from './stamp-opening.ts';

/** An idempotency key of a user or a partner, and the fingerprint of the request under it. */
export type KeyClaim = { keyHash: string; fingerprint: string } & ({ userId: string } | { partnerId: string });

/** What is stored under a key. */
export interface KeyRow {
  fingerprint: string;
  resource_id: string;
  answer_status: number | null;
  answer_body: string | null;
  /** Of a partner: it may hold a bank account number. */
  answer_sealed: string | null;
}

/** An answer as it is stored: plain, or sealed for the row `id`. */
export type StoredAnswer = { status: number } & ({ body: string } | { sealed: string; id: string });

/** SHA-256 of a key: its text is the client's own, may be anything, and is stored nowhere. */
export const hashKey = (key: string): string => createHash('sha256').update(key).digest('hex');

const placeOf = (claim: KeyClaim): string[] => ['partnerId' in claim ? claim.partnerId : claim.userId, claim.keyHash];

function refuseReused(claim: KeyClaim): never {
  if ('partnerId' in claim) {
    refuse('REQUEST_IDEMPOTENCY_KEY_REUSED', 'this key is attached to a different request', {
      field: 'X-Idempotency-Key',
    });
  }
  refuse('IDEMPOTENCY_KEY_REUSED', 'this key was used for a request with another body', { field: 'Idempotency-Key' });
}

/**
 * Attaches the key to a resource in the transaction that makes it, for the request of this number; a concurrent request
 * with the key waits here. Throws IDEMPOTENCY_KEY_REUSED (of a partner REQUEST_IDEMPOTENCY_KEY_REUSED) when it is
 * attached to another request or resource, and SERVICE_UNAVAILABLE when a later request was refused under it.
 */
export async function claimKey(
  tx: EntityManager,
  claim: KeyClaim & { resourceId: string; number: string },
): Promise<void> {
  const [row] = await tx.execute<[{ is_claimed: boolean | null }]>('select claim_key(?, ?, ?, ?, ?) as is_claimed', [
    ...placeOf(claim),
    claim.fingerprint,
    claim.resourceId,
    claim.number,
  ]);
  if (row.is_claimed === null) throw busy('Another request with this key came between; try again');
  if (!row.is_claimed) refuseReused(claim);
}

const columns = 'k.fingerprint, k.resource_id, k.answer_status, k.answer_body, k.answer_sealed';
const atKey = 'k.owner_id = ? and k.key_hash = ? and k.made is not null';

/** The row, if there is one; throws as `claimKey` does for the key of another request. */
function ofRequest(claim: KeyClaim, row: KeyRow | undefined): KeyRow | null {
  if (row !== undefined && row.fingerprint !== claim.fingerprint) refuseReused(claim);
  return row ?? null;
}

/** What was made under the key, or null; throws as `claimKey` does for the key of another request. */
export async function findUnderKey(em: EntityManager, claim: KeyClaim): Promise<KeyRow | null> {
  const sql = `select ${columns} from idempotency_keys k where ${atKey}`;
  return ofRequest(claim, (await executePrepared<KeyRow>(em, sql, placeOf(claim)))[0]);
}

/** Stamps a request under a key when it arrives, as `stampOpening`, and finds what was made under it, in one round trip. */
export async function arriveUnderKey(
  em: EntityManager,
  claim: KeyClaim,
): Promise<{ stamp: OpeningStamp; made: KeyRow | null }> {
  const [row] = await executePrepared<Stamping & (KeyRow | { fingerprint: null })>(
    em,
    `select stamp.number, stamp.asked_at, ${columns} from (${stamping}) stamp left join idempotency_keys k on ${atKey}`,
    placeOf(claim),
  );
  const arrived = must(row, 'a stamp is one row');
  return { stamp: stampOf(arrived), made: ofRequest(claim, arrived.fingerprint === null ? undefined : arrived) };
}

/**
 * Writes down that no request of before makes anything under the key, also one that is under way, which is waited for;
 * later ones are free to. Where something was made meanwhile, returns that instead, and nothing is written; otherwise null.
 */
export async function refuseUnderKey(em: EntityManager, claim: KeyClaim, refusal: DomainError): Promise<KeyRow | null> {
  const [row] = await em.execute<KeyRow[]>(`select ${columns} from refuse_under_key(?, ?, ?, ?::jsonb) k`, [
    ...placeOf(claim),
    claim.fingerprint,
    JSON.stringify(toStored(refusal)),
  ]);
  return ofRequest(claim, row);
}

/** Stores the first answer under the key; returns whether it was this one. One where nothing was made is not stored. */
export async function keepAnswer(em: EntityManager, claim: KeyClaim, answer: StoredAnswer): Promise<boolean> {
  const [body, sealed, id] = 'body' in answer ? [answer.body, null, null] : [null, answer.sealed, answer.id];
  const kept = await executePrepared(
    em,
    `update idempotency_keys set answer_status = ?, answer_body = ?, answer_sealed = ?, id = ?::uuid,
       decided_at = clock_timestamp()
     where owner_id = ? and key_hash = ? and fingerprint = ? and made is not null and answer_status is null returning 1`,
    [answer.status, body, sealed, id, ...placeOf(claim), claim.fingerprint],
  );
  return kept.length > 0;
}
