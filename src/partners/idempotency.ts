import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../encryption/sealer.ts';
import { findDuplicateKey } from '../http/body.ts';
import { canonicalJson } from '../shared/canonical-json.ts';
import { refuse } from '../shared/errors.ts';
import { answersKeptDays } from './partner.ts';

/** A partner's idempotency key as it is passed on: hashed, as the key itself does not go beyond the partner door. */
export interface PartnerKeyClaim {
  keyHash: string;
  fingerprint: string;
}

export interface KeptAnswer {
  status: number;
  /** The bytes as they were sent. */
  body: Buffer;
}

/** How many plaintext answers one sweep seals; the next sweep continues. */
const sealedAtOnce = 5000;

export type WebhookedResource = 'payment' | 'payout' | 'refund';

/** SHA-256 of a key; keys are stored as hashes only. */
export const hashPartnerKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/**
 * The fingerprint of a request: method, path and the canonical JSON of its decoded body, so that formatting does not
 * matter. A body that is no JSON or ambiguous counts by its bytes.
 */
export function fingerprintOfRequest(method: string, path: string, body: Uint8Array): string {
  const meaning = canonicalTextOf(body) ?? body;
  return createHash('sha256').update(`${method} ${path}\n`).update(meaning).digest('hex');
}

/** The canonical JSON of a body; null when it is no JSON or has a duplicate key, which parsers read differently. */
function canonicalTextOf(body: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    return findDuplicateKey(text) === null ? canonicalJson(JSON.parse(text)) : null;
  } catch {
    return null;
  }
}

const reused = (): never =>
  refuse('REQUEST_IDEMPOTENCY_KEY_REUSED', 'this key is attached to a different request', {
    field: 'X-Idempotency-Key',
  });

/**
 * Claims the key inside the transaction that creates the resource; a concurrent duplicate waits here for the first.
 * Throws REQUEST_IDEMPOTENCY_KEY_REUSED when the key is attached to another request or resource.
 */
export async function claimPartnerKey(
  tx: EntityManager,
  claim: PartnerKeyClaim & { partnerId: string; resourceType: WebhookedResource; resourceId: string },
): Promise<void> {
  const rows = await tx.execute<{ fingerprint: string; resource_id: string }[]>(
    `insert into partner_idempotency_keys (partner_id, key_hash, fingerprint, resource_type, resource_id)
     values (?, ?, ?, ?, ?) on conflict (partner_id, key_hash)
       do update set answered_at = partner_idempotency_keys.answered_at
     returning fingerprint, resource_id`,
    [claim.partnerId, claim.keyHash, claim.fingerprint, claim.resourceType, claim.resourceId],
  );
  if (rows[0]?.fingerprint !== claim.fingerprint || rows[0].resource_id !== claim.resourceId) reused();
}

interface KeyRow {
  id: string;
  fingerprint: string;
  resource_id: string;
  answer_status: number | null;
  /** Plaintext, written by the previous release. */
  answer_body: Buffer | null;
  answer_sealed: string | null;
}

const placeOfAnswer = (id: string) => ({ table: 'partner_idempotency_keys', column: 'answer_sealed', row: id });

/** What is stored under this key: the created resource and the first answer, each null while there is none. */
export async function findUnderKey(
  em: EntityManager,
  sealer: Sealer,
  { partnerId, keyHash, fingerprint }: PartnerKeyClaim & { partnerId: string },
): Promise<{ resourceId: string | null; answer: KeptAnswer | null }> {
  const [row] = await em.execute<KeyRow[]>(
    `select id, fingerprint, resource_id, answer_status, answer_body, answer_sealed from partner_idempotency_keys
     where partner_id = ? and key_hash = ?`,
    [partnerId, keyHash],
  );
  if (row === undefined) return { resourceId: null, answer: null };
  if (row.fingerprint !== fingerprint) reused();
  const { answer_status: status, answer_sealed: sealed } = row;
  const body = sealed === null ? row.answer_body : Buffer.from(await sealer.open(placeOfAnswer(row.id), sealed));
  return { resourceId: row.resource_id, answer: status === null || body === null ? null : { status, body } };
}

/**
 * Keeps the first answer under this key, sealed as it may hold a bank account number. Returns the answer to send and
 * whether it is this one (`first`). A key under which nothing was created stays free. Throws
 * REQUEST_IDEMPOTENCY_KEY_REUSED when the key is attached to another request.
 */
export async function keepAnswer(
  em: EntityManager,
  sealer: Sealer,
  claim: PartnerKeyClaim & { partnerId: string },
  answer: KeptAnswer,
): Promise<KeptAnswer & { first: boolean }> {
  const [free] = await em.execute<{ id: string }[]>(
    `select id from partner_idempotency_keys
     where partner_id = ? and key_hash = ? and fingerprint = ? and answer_status is null`,
    [claim.partnerId, claim.keyHash, claim.fingerprint],
  );
  if (free !== undefined) {
    const sealed = await sealer.seal(placeOfAnswer(free.id), answer.body.toString());
    const kept = await em.execute<unknown[]>(
      `update partner_idempotency_keys set answer_status = ?, answer_sealed = ?, answered_at = now()
       where id = ? and answer_status is null returning 1`,
      [answer.status, sealed, free.id],
    );
    if (kept.length > 0) return { ...answer, first: true };
  }
  const { answer: earlier } = await findUnderKey(em, sealer, claim);
  return earlier === null ? { ...answer, first: true } : { ...earlier, first: false };
}

/**
 * Deletes answers older than `answersKeptDays`, up to `limit`, and returns how many; also seals those that the previous
 * release kept in plaintext. The key itself stays attached to what it created: however late a retry comes, it never
 * makes a second payment.
 */
export async function sweepPartnerAnswers(em: EntityManager, sealer: Sealer, limit = 10_000): Promise<number> {
  const rows = await em.execute<unknown[]>(
    `update partner_idempotency_keys set answer_status = null, answer_body = null, answer_sealed = null
     where ctid = any (array(select ctid from partner_idempotency_keys
       where answer_status is not null and answered_at < now() - make_interval(days => ?)
       order by answered_at limit ?)) returning 1`,
    [answersKeptDays, limit],
  );
  await sealClearAnswers(em, sealer);
  return rows.length;
}

async function sealClearAnswers(em: EntityManager, sealer: Sealer): Promise<void> {
  const clear = await em.execute<{ id: string; answer_body: Buffer }[]>(
    `select id, answer_body from partner_idempotency_keys where answer_body is not null limit ${sealedAtOnce}`,
  );
  for (const { id, answer_body } of clear) {
    await em.execute(
      `update partner_idempotency_keys set answer_body = null, answer_sealed = ?
       where id = ? and answer_body is not null`,
      [await sealer.seal(placeOfAnswer(id), answer_body.toString()), id],
    );
  }
}
