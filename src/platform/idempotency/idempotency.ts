import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { findUnderKey, type KeyRow, keepAnswer } from '../../platform/openings/idempotency-keys.ts';
import type { KeyClaim } from '../../shared/opening.ts';

export interface StoredAnswer {
  status: number;
  /** The body as it was sent, byte for byte. */
  body: string;
}

/** The fingerprint of a request: method, path and the validated body, in canonical order of its fields. */
export function fingerprintOf(method: string, path: string, body: Record<string, unknown>): string {
  const fields = Object.keys(body)
    .filter((name) => body[name] !== undefined)
    .sort()
    .map((name) => [name, body[name]]);
  return createHash('sha256')
    .update(JSON.stringify([method, path, fields]))
    .digest('hex');
}

type UserClaim = Extract<KeyClaim, { userId: string }>;

/** The answer that is stored under a key, or null when there is none yet. */
export const answerOf = (kept: KeyRow | null): StoredAnswer | null =>
  kept === null || kept.answer_status === null || kept.answer_body === null
    ? null
    : { status: kept.answer_status, body: kept.answer_body };

/** The first answer under this key, or null when there is none yet. Throws when the key belongs to another request. */
export const findFirstAnswer = async (em: EntityManager, claim: UserClaim): Promise<StoredAnswer | null> =>
  answerOf(await findUnderKey(em, claim));

/**
 * Stores the first answer under this key; returns the stored one and whether it was this one. Throws when the key
 * belongs to another request, even a concurrent one.
 */
export async function keepFirstAnswer(
  em: EntityManager,
  claim: UserClaim,
  answer: StoredAnswer,
): Promise<StoredAnswer & { first: boolean }> {
  const kept = (await keepAnswer(em, claim, answer)) ? null : await findFirstAnswer(em, claim);
  return kept === null ? { ...answer, first: true } : { ...kept, first: false };
}
