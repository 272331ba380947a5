import type { EntityManager } from '@mikro-orm/postgresql';
import { exportJWK, generateKeyPair } from 'jose';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { byPlatform, recordAction } from '../../platform/events/record-event.ts';
import { forgetRows } from '../../platform/housekeeping/forget-rows.ts';
import { newId } from '../../shared/ids.ts';
import { retirementGraceSeconds } from './signing-key.ts';

const signingKeyLock = 7_262_625;

export interface RotateInput {
  sealer: Sealer;
  /** The lifetime of a token: the old key stays published that long after its last signature. */
  tokenTtlSeconds: number;
  /** Creates a key only if there is no current one (at the first start). */
  onlyIfMissing?: boolean;
}

/**
 * Creates a signing key and retires the current one, which stays published until its last token has expired. Returns
 * the new key's id, or null if `onlyIfMissing` found a key. Safe to run concurrently.
 */
export async function rotateSigningKey(em: EntityManager, input: RotateInput): Promise<string | null> {
  const { sealer, tokenTtlSeconds, onlyIfMissing = false } = input;
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const id = newId();
  const publicJwk = { ...(await exportJWK(publicKey)), kid: id, alg: 'EdDSA', use: 'sig' };
  const place = { table: 'token_signing_keys', column: 'private_key_sealed', row: id };
  const sealed = await sealer.seal(place, JSON.stringify(await exportJWK(privateKey)));
  return em.transactional(async (tx) => {
    await tx.execute('select pg_advisory_xact_lock(?)', [signingKeyLock]);
    const live = await tx.execute<unknown[]>('select 1 from token_signing_keys where published_until is null');
    if (onlyIfMissing && live.length > 0) return null;
    await tx.execute(
      `update token_signing_keys set published_until = clock_timestamp() + ? * interval '1 second'
       where published_until is null`,
      [tokenTtlSeconds + retirementGraceSeconds],
    );
    await forgetRows(tx, 'token_signing_keys', '30 days', 100);
    await tx.execute('insert into token_signing_keys (id, public_jwk, private_key_sealed) values (?, ?::jsonb, ?)', [
      id,
      JSON.stringify(publicJwk),
      sealed,
    ]);
    await recordAction(tx, byPlatform, 'RESOURCE_CREATED', ['token_signing_key', id]);
    return id;
  });
}
