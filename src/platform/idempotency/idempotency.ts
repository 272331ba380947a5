import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { refuse } from '../../shared/errors.ts';

/** Idempotency keys of users: one scope per user across both payment rails and transfers (docs/contract.md 3). */
export interface KeyClaim {
  userId: string;
  keyHash: string;
  fingerprint: string;
  /** The order or journal that the key made. */
  resourceId: string;
}

export interface StoredAnswer {
  status: number;
  /** The body as it was sent, byte for byte. */
  body: string;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Keys are stored as hashes: their text is the client's own and may be anything. */
export const hashKey = (key: string): string => sha256(key);

/** The fingerprint of a request: method, path and the validated body, in canonical order of its fields. */
export function fingerprintOf(method: string, path: string, body: Record<string, unknown>): string {
  const fields = Object.keys(body)
    .filter((name) => body[name] !== undefined)
    .sort()
    .map((name) => [name, body[name]]);
  return sha256(JSON.stringify([method, path, fields]));
}

const reused = (): never =>
  refuse('IDEMPOTENCY_KEY_REUSED', 'this key was used for a request with another body', { field: 'Idempotency-Key' });

/**
 * Claims the key inside the caller's transaction; a concurrent request with the key waits here. Throws
 * IDEMPOTENCY_KEY_REUSED when the key belongs to another request.
 */
export async function claimIdempotencyKey(tx: EntityManager, claim: KeyClaim): Promise<void> {
  const rows = await tx.execute<{ fingerprint: string; resource_id: string }[]>(
    `insert into idempotency_keys (user_id, key_hash, fingerprint, resource_id) values (?, ?, ?, ?)
     on conflict (user_id, key_hash) do update set answer_status = idempotency_keys.answer_status
     returning fingerprint, resource_id`,
    [claim.userId, claim.keyHash, claim.fingerprint, claim.resourceId],
  );
  const kept = rows[0];
  if (kept?.fingerprint !== claim.fingerprint || kept.resource_id !== claim.resourceId) reused();
}

/** What is stored under a key. */
export interface KeptAnswer {
  fingerprint: string;
  answer_status: number | null;
  answer_body: string | null;
}

/** The answer stored for a request, or null when there is none yet. Throws when the key belongs to another request. */
export function answerOf(kept: KeptAnswer, fingerprint: string): StoredAnswer | null {
  if (kept.fingerprint !== fingerprint) reused();
  return kept.answer_status === null || kept.answer_body === null
    ? null
    : { status: kept.answer_status, body: kept.answer_body };
}

/** The first answer under this key, or null when there is none yet. Throws when the key belongs to another request. */
export async function findFirstAnswer(
  em: EntityManager,
  { userId, keyHash, fingerprint }: Omit<KeyClaim, 'resourceId'>,
): Promise<StoredAnswer | null> {
  const [kept] = await em.execute<KeptAnswer[]>(
    'select fingerprint, answer_status, answer_body from idempotency_keys where user_id = ? and key_hash = ?',
    [userId, keyHash],
  );
  return kept === undefined ? null : answerOf(kept, fingerprint);
}

/**
 * Stores the first answer under this key; returns the stored one and whether it was this one. Throws when the key
 * belongs to another request, even a concurrent one.
 */
export async function keepFirstAnswer(
  em: EntityManager,
  claim: Omit<KeyClaim, 'resourceId'>,
  answer: StoredAnswer,
): Promise<StoredAnswer & { first: boolean }> {
  const mine = await em.execute<unknown[]>(
    `update idempotency_keys set answer_status = ?, answer_body = ?
     where user_id = ? and key_hash = ? and fingerprint = ? and answer_status is null returning 1`,
    [answer.status, answer.body, claim.userId, claim.keyHash, claim.fingerprint],
  );
  if (mine.length > 0) return { ...answer, first: true };
  const kept = await findFirstAnswer(em, claim);
  return kept === null ? { ...answer, first: true } : { ...kept, first: false };
}
