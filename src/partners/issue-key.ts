import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import type { Sealer } from '../platform/encryption/sealer.ts';
import { recordAction } from '../platform/events/record-event.ts';
import type { Caller } from '../shared/caller.ts';
import { changesTo } from '../shared/changes.ts';
import { sha256 } from '../shared/digest.ts';
import { refuse } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { lockPartner } from './find-partner.ts';
import { type PartnerPermission, rotationOverlapHours } from './partner.ts';
import { PartnerKey } from './partner-key.entity.ts';
import { newApiKey, newSigningSecret, prefixOf, signingSecretPlace } from './partner-secrets.ts';

interface KeyChange {
  caller: Pick<Caller, 'userId'> | null;
  requestId: string | null;
  partnerId: string;
}

interface NewKey extends KeyChange {
  permissions: readonly PartnerPermission[];
  /** Whether requests also need the second signature. Default: false. */
  requireSignatureV2?: boolean;
  secrets?: { apiKey: string; signingSecret: string };
}

/** A new key with its secrets, returned only once. */
export interface IssuedKey {
  key: PartnerKey;
  apiKey: string;
  signingSecret: string;
}

/** Issues an API key with these permissions; generates its secrets unless they are given. */
export function issueKey(em: EntityManager, sealer: Sealer, input: NewKey): Promise<IssuedKey> {
  return em.transactional(async (tx) => {
    await lockPartner(tx, input.partnerId);
    return makeKey(tx, sealer, input, null);
  });
}

/**
 * Issues a successor of a key with the same permissions; the old key works for another 24 hours. Throws
 * KEY_ALREADY_ROTATED for a key already revoked or rotated.
 */
export function rotateKey(em: EntityManager, sealer: Sealer, input: KeyChange & { keyId: string }): Promise<IssuedKey> {
  return em.transactional(async (tx) => {
    const old = await lockKey(tx, input);
    const now = await readDatabaseClock(tx);
    if (old.revoked_at || old.valid_until)
      refuse('KEY_ALREADY_ROTATED', 'The key has already been rotated or revoked: use its successor');
    old.valid_until = new Date(now.getTime() + rotationOverlapHours * 3_600_000);
    await tx.flush();
    const { permissions, require_signature_v2: requireSignatureV2 } = old;
    return makeKey(tx, sealer, { ...input, permissions, requireSignatureV2 }, old.id);
  });
}

/** Changes the signature that a key requires. Throws NOT_FOUND for another partner's key. */
export function updateKey(
  em: EntityManager,
  input: KeyChange & { keyId: string; changes: { require_signature_v2?: boolean | undefined } },
): Promise<PartnerKey> {
  return em.transactional(async (tx) => {
    const key = await lockKey(tx, input);
    const changes = changesTo<typeof input.changes>(key, input.changes);
    if (Object.keys(changes).length === 0) return key;
    tx.assign(key, changes);
    await tx.flush();
    await recordAction(tx, input, ['RESOURCE_UPDATED', 'HIGH'], ['partner_key', key.id], {
      partner_id: input.partnerId,
      ...changes,
    });
    return key;
  });
}

/** Revokes a key at once; does nothing if it is already revoked. */
export function revokeKey(em: EntityManager, input: KeyChange & { keyId: string }): Promise<PartnerKey> {
  return em.transactional(async (tx) => {
    const key = await lockKey(tx, input);
    if (!key.revoked_at) {
      key.revoked_at = await readDatabaseClock(tx);
      await tx.flush();
      await recordAction(tx, input, 'RESOURCE_DELETED', ['partner_key', key.id], { partner_id: input.partnerId });
    }
    return key;
  });
}

async function lockKey(tx: EntityManager, { partnerId, keyId }: KeyChange & { keyId: string }): Promise<PartnerKey> {
  await lockPartner(tx, partnerId);
  const key = await tx.findOne(PartnerKey, { id: keyId, partner_id: partnerId }, { refresh: true });
  return key ?? refuse('NOT_FOUND', 'the key was not found', { field: 'key_id' });
}

async function makeKey(
  tx: EntityManager,
  sealer: Sealer,
  { caller, requestId, partnerId, permissions, requireSignatureV2 = false, secrets }: NewKey,
  rotatedFrom: string | null,
): Promise<IssuedKey> {
  const id = newId();
  const { apiKey, signingSecret } = secrets ?? { apiKey: newApiKey(), signingSecret: newSigningSecret() };
  const key = tx.create(PartnerKey, {
    id,
    partner_id: partnerId,
    prefix: prefixOf(apiKey),
    key_hash: sha256(apiKey),
    signing_secret_sealed: await sealer.seal(signingSecretPlace(id), signingSecret),
    permissions: [...new Set(permissions)],
    require_signature_v2: requireSignatureV2,
    rotated_from: rotatedFrom,
    created_by: caller?.userId ?? null,
    created_at: await readDatabaseClock(tx),
  });
  await tx.flush();
  await recordAction(tx, { caller, requestId }, ['RESOURCE_CREATED', 'HIGH'], ['partner_key', id], {
    partner_id: partnerId,
    permissions: key.permissions,
    require_signature_v2: requireSignatureV2,
    rotated_from: rotatedFrom,
  });
  return { key, apiKey, signingSecret };
}
