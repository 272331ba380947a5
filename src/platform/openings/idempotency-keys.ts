import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import { refuse } from '../../shared/errors.ts';
import type { KeyClaim, OpeningStamp } from '../../shared/opening.ts';
import { executePrepared } from '../database/prepared-statements.ts';
import { type Stamping, stamping, stampOf } from './stamp-opening.ts';

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

/** The owner of a key, and the key: where its row is. */
export const placeOf = (claim: KeyClaim): string[] => [
  'partnerId' in claim ? claim.partnerId : claim.userId,
  claim.keyHash,
];

/** Throws IDEMPOTENCY_KEY_REUSED, of a partner REQUEST_IDEMPOTENCY_KEY_REUSED: the key is attached to another request. */
export function refuseReused(claim: KeyClaim): never {
  if ('partnerId' in claim) {
    refuse('REQUEST_IDEMPOTENCY_KEY_REUSED', 'this key is attached to a different request', {
      field: 'X-Idempotency-Key',
    });
  }
  refuse('IDEMPOTENCY_KEY_REUSED', 'this key was used for a request with another body', { field: 'Idempotency-Key' });
}

const columns = 'k.fingerprint, k.resource_id, k.answer_status, k.answer_body, k.answer_sealed';
const atKey = 'k.owner_id = ? and k.key_hash = ? and k.made is not null';

/** The row, if there is one; throws as `refuseReused` for the key of another request. */
function ofRequest(claim: KeyClaim, row: KeyRow | undefined): KeyRow | null {
  if (row !== undefined && row.fingerprint !== claim.fingerprint) refuseReused(claim);
  return row ?? null;
}

/** What was made under the key, or null; throws as `refuseReused` for the key of another request. */
export async function findUnderKey(em: EntityManager, claim: KeyClaim): Promise<KeyRow | null> {
  const sql = `select ${columns} from requests k where ${atKey}`;
  return ofRequest(claim, (await executePrepared<KeyRow>(em, sql, placeOf(claim)))[0]);
}

/** Stamps a request under a key when it arrives, as `stampOpening`, and finds what was made under it, in one round trip. */
export async function arriveUnderKey(
  em: EntityManager,
  claim: KeyClaim,
): Promise<{ stamp: OpeningStamp; made: KeyRow | null }> {
  const [row] = await executePrepared<Stamping & (KeyRow | { fingerprint: null })>(
    em,
    `select stamp.number, stamp.asked_at, ${columns} from (${stamping}) stamp left join requests k on ${atKey}`,
    placeOf(claim),
  );
  const arrived = must(row, 'a stamp is one row');
  return { stamp: stampOf(arrived), made: ofRequest(claim, arrived.fingerprint === null ? undefined : arrived) };
}

/** Stores the first answer under the key; returns whether it was this one. One where nothing was made is not stored. */
export async function keepAnswer(em: EntityManager, claim: KeyClaim, answer: StoredAnswer): Promise<boolean> {
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
