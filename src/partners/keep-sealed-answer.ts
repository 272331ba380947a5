import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { openKept } from '../platform/encryption/open-unless-gone.ts';
import { KeysAway } from '../platform/encryption/own-keys.ts';
import type { Sealer } from '../platform/encryption/sealer.ts';
import { findUnderKey, type KeyRow, keepAnswer } from '../platform/openings/idempotency-keys.ts';
import { partnerKeyRowIdFor } from '../shared/ids.ts';
import type { KeyClaim } from '../shared/opening.ts';

export interface KeptAnswer {
  status: number;
  /** The bytes as sent. */
  body: Buffer;
}

export type WebhookedResource = 'payment' | 'payout' | 'refund' | 'payout_batch' | 'instrument';

/**
 * The fingerprint of a request: method, path, and the body as canonical JSON, so that formatting does not matter, or as
 * bytes if it cannot be parsed.
 */
export const fingerprintOfRequest = (method: string, path: string, meaning: string | Uint8Array): string =>
  createHash('sha256').update(`${method} ${path}\n`).update(meaning).digest('hex');

type PartnerClaim = Extract<KeyClaim, { partnerId: string }>;

/** The created resource and the first response under a partner's key; each null while there is none. */
export interface UnderPartnerKey {
  resourceId: string | null;
  answer: KeptAnswer | null;
}

const placeOfAnswer = ({ partnerId, keyHash }: PartnerClaim) => ({
  table: 'requests',
  column: 'answer_sealed',
  row: partnerKeyRowIdFor(partnerId, keyHash),
});

/** Reads a key's row. Throws KeysAway if the response's encryption key was lost, as it may be restored. */
export async function openUnderKey(sealer: Sealer, claim: PartnerClaim, row: KeyRow | null): Promise<UnderPartnerKey> {
  if (row === null) return { resourceId: null, answer: null };
  const { resource_id: resourceId, answer_status: status, answer_sealed: sealed } = row;
  if (status === null || sealed === null) return { resourceId, answer: null };
  const opened = await openKept(sealer, placeOfAnswer(claim), sealed);
  if ('text' in opened) return { resourceId, answer: { status, body: Buffer.from(opened.text) } };
  if (opened.gone === 'lost') throw new KeysAway(`the key of the answer about ${resourceId} was lost`);
  return { resourceId, answer: null };
}

/**
 * Stores the first response for this key, sealed; under the order's own key if it shows a bank account or metadata.
 * Returns the response to send and whether it is this one (`first`). A key under which nothing was
 * created stays free. Throws REQUEST_IDEMPOTENCY_KEY_REUSED if the key belongs to another request.
 */
export async function keepSealed(
  em: EntityManager,
  sealer: Sealer,
  claim: PartnerClaim,
  answer: KeptAnswer & { beneficiaryOf?: string | null },
): Promise<KeptAnswer & { first: boolean }> {
  const place = placeOfAnswer(claim);
  const order = answer.beneficiaryOf ? { id: answer.beneficiaryOf } : null;
  const sealed = await sealer.seal({ ...place, order }, answer.body.toString());
  if (await keepAnswer(em, claim, { status: answer.status, sealed, id: place.row })) return { ...answer, first: true };
  const { answer: earlier } = await openUnderKey(sealer, claim, await findUnderKey(em, claim));
  return earlier === null ? { ...answer, first: true } : { ...earlier, first: false };
}
