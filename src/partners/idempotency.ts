import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { executePrepared } from '../platform/database/prepared-statements.ts';
import { openKept } from '../platform/encryption/open-unless-gone.ts';
import { KeysAway } from '../platform/encryption/own-keys.ts';
import type { Sealer } from '../platform/encryption/sealer.ts';
import type { OpeningStamp } from '../platform/openings/opening.ts';
import { type Stamping, stamping, stampOf } from '../platform/openings/stamp-opening.ts';
import { must } from '../shared/assert.ts';
import { refuse } from '../shared/errors.ts';
import { partnerKeyRowIdFor } from '../shared/ids.ts';
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

export type WebhookedResource = 'payment' | 'payout' | 'refund' | 'payout_batch' | 'instrument';

/** SHA-256 of a key; keys are stored as hashes only. */
export const hashPartnerKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/**
 * The fingerprint of a request: method, path and what its body means, which is its canonical JSON, so that formatting
 * does not matter, or its bytes where it cannot be read.
 */
export const fingerprintOfRequest = (method: string, path: string, meaning: string | Uint8Array): string =>
  createHash('sha256').update(`${method} ${path}\n`).update(meaning).digest('hex');

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
    `insert into partner_idempotency_keys (id, partner_id, key_hash, fingerprint, resource_type, resource_id)
     values (?, ?, ?, ?, ?, ?) on conflict (partner_id, key_hash)
       do update set answered_at = partner_idempotency_keys.answered_at
     returning fingerprint, resource_id`,
    [
      partnerKeyRowIdFor(claim.partnerId, claim.keyHash),
      claim.partnerId,
      claim.keyHash,
      claim.fingerprint,
      claim.resourceType,
      claim.resourceId,
    ],
  );
  if (rows[0]?.fingerprint !== claim.fingerprint || rows[0].resource_id !== claim.resourceId) reused();
}

type OwnedClaim = PartnerKeyClaim & { partnerId: string };

/** What is stored under a key: the created resource and the first answer, each null while there is none. */
export interface UnderKey {
  resourceId: string | null;
  answer: KeptAnswer | null;
}

interface KeyRow {
  fingerprint: string;
  resource_id: string;
  answer_status: number | null;
  answer_sealed: string | null;
}

const placeOfAnswer = ({ partnerId, keyHash }: OwnedClaim) => ({
  table: 'partner_idempotency_keys',
  column: 'answer_sealed',
  row: partnerKeyRowIdFor(partnerId, keyHash),
});

const underKey = 'k.fingerprint, k.resource_id, k.answer_status, k.answer_sealed';
const atKey = 'k.partner_id = ? and k.key_hash = ?';

/**
 * Throws REQUEST_IDEMPOTENCY_KEY_REUSED when the key is attached to another request, and KeysAway when the key of the
 * answer was lost: what was answered is not guessed while it may be found again.
 */
async function readUnderKey(sealer: Sealer, claim: OwnedClaim, row: KeyRow | undefined): Promise<UnderKey> {
  if (row === undefined) return { resourceId: null, answer: null };
  if (row.fingerprint !== claim.fingerprint) reused();
  const { resource_id: resourceId, answer_status: status, answer_sealed: sealed } = row;
  if (status === null || sealed === null) return { resourceId, answer: null };
  const opened = await openKept(sealer, placeOfAnswer(claim), sealed);
  if ('text' in opened) return { resourceId, answer: { status, body: Buffer.from(opened.text) } };
  if (opened.gone === 'lost') throw new KeysAway(`the key of the answer about ${resourceId} was lost`);
  return { resourceId, answer: null };
}

/**
 * What is stored under this key. Throws REQUEST_IDEMPOTENCY_KEY_REUSED when it is attached to another request, and
 * KeysAway.
 */
export async function findUnderKey(em: EntityManager, sealer: Sealer, claim: OwnedClaim): Promise<UnderKey> {
  const [row] = await em.execute<KeyRow[]>(`select ${underKey} from partner_idempotency_keys k where ${atKey}`, [
    claim.partnerId,
    claim.keyHash,
  ]);
  return readUnderKey(sealer, claim, row);
}

/** A request under a key as it arrives: what is stored under the key, and its stamp. In one round trip. */
export async function arriveUnderKey(
  em: EntityManager,
  sealer: Sealer,
  claim: OwnedClaim,
): Promise<UnderKey & { stamp: OpeningStamp }> {
  const [arrived] = await executePrepared<Stamping & { [Column in keyof KeyRow]: KeyRow[Column] | null }>(
    em,
    `select stamp.number, stamp.asked_at, ${underKey} from (${stamping}) stamp left join partner_idempotency_keys k on ${atKey}`,
    [claim.partnerId, claim.keyHash],
  );
  const { number, asked_at, ...row } = must(arrived, 'a stamp is one row');
  const under = await readUnderKey(sealer, claim, row.resource_id === null ? undefined : (row as KeyRow));
  return { ...under, stamp: stampOf({ number, asked_at }) };
}

/**
 * Keeps the first answer under this key, sealed as it may hold a bank account number: then under the order's own key. Returns the answer to send and
 * whether it is this one (`first`). A key under which nothing was created stays free. Throws
 * REQUEST_IDEMPOTENCY_KEY_REUSED when the key is attached to another request.
 */
export async function keepAnswer(
  em: EntityManager,
  sealer: Sealer,
  claim: OwnedClaim,
  answer: KeptAnswer & { beneficiaryOf?: string | null },
): Promise<KeptAnswer & { first: boolean }> {
  const kept = await executePrepared(
    em,
    `update partner_idempotency_keys set answer_status = ?, answer_sealed = ?, answered_at = now()
     where partner_id = ? and key_hash = ? and fingerprint = ? and answer_status is null returning 1`,
    [
      answer.status,
      await sealer.seal(
        { ...placeOfAnswer(claim), order: answer.beneficiaryOf ? { id: answer.beneficiaryOf } : null },
        answer.body.toString(),
      ),
      claim.partnerId,
      claim.keyHash,
      claim.fingerprint,
    ],
  );
  if (kept.length > 0) return { ...answer, first: true };
  const { answer: earlier } = await findUnderKey(em, sealer, claim);
  return earlier === null ? { ...answer, first: true } : { ...earlier, first: false };
}

/**
 * Deletes answers older than `answersKeptDays`, up to `limit`, and returns how many. The key itself stays attached to
 * what it created: however late a retry comes, it never makes a second payment.
 */
export async function sweepPartnerAnswers(em: EntityManager, limit: number): Promise<number> {
  const rows = await em.execute<unknown[]>(
    `update partner_idempotency_keys set answer_status = null, answer_sealed = null
     where ctid = any (array(select ctid from partner_idempotency_keys
       where answer_status is not null and answered_at < now() - make_interval(days => ?)
       order by answered_at limit ? for update skip locked)) returning 1`,
    [answersKeptDays, limit],
  );
  return rows.length;
}
