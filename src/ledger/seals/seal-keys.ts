import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { CompactSign, compactVerify, decodeProtectedHeader } from 'jose';
import type { Config } from '../../platform/config/config.ts';
import { ConfigError } from '../../shared/errors.ts';
import { type SealStatement, sealFormat } from './seal.ts';

/** A public key that verifies seals, as in `SEAL_VERIFICATION_KEYS`. */
export interface SealPublicKey {
  id: string;
  /** The key's 32 bytes in base64. */
  publicKey: string;
}

/** The result of verifying a JWS. */
export interface OpenedSeal {
  /** The seal's content, even if no known key signed it; null when it is unreadable. */
  statement: SealStatement | null;
  /** Why the seal cannot be trusted, as a sentence; null if it can. */
  problem: string | null;
}

/** The keys of seals, which are not in the database. */
export interface SealKeys {
  /** Signs the statement as a compact JWS (EdDSA). Throws in a process without a signing key. */
  sign(statement: SealStatement): Promise<string>;
  open(jws: string): Promise<OpenedSeal>;
  /** The keys whose signatures are accepted here. */
  readonly publicKeys: readonly SealPublicKey[];
}

/** The JWS type of a seal, in case the key ever signs anything else. */
const type = 'amanah-seal';

/** The DER prefix of an Ed25519 private key's 32 bytes in PKCS #8, and of a public key's in SPKI. */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');
const spkiHead = Buffer.from('302a300506032b6570032100', 'hex');

const privateKeyOf = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([pkcs8Head, seed]), format: 'der', type: 'pkcs8' });
const publicKeyOf = (bytes: Uint8Array): KeyObject =>
  createPublicKey({ key: Buffer.concat([spkiHead, bytes]), format: 'der', type: 'spki' });
const bytesOf = (key: KeyObject): string =>
  key.export({ format: 'der', type: 'spki' }).subarray(spkiHead.length).toString('base64');

/** Creates the keys from the configuration. Throws ConfigError if two different keys have the same id. */
export function createSealKeys({
  SEAL_SIGNING_KEY,
  SEAL_VERIFICATION_KEYS = [],
}: Pick<Config, 'SEAL_SIGNING_KEY' | 'SEAL_VERIFICATION_KEYS'>): SealKeys {
  const known = new Map(SEAL_VERIFICATION_KEYS.map(({ id, key }) => [id, publicKeyOf(key)]));
  const signer = SEAL_SIGNING_KEY?.map(({ id, key }) => ({ id, key: privateKeyOf(key) }))[0];
  if (signer !== undefined) {
    const publicKey = createPublicKey(signer.key);
    const other = known.get(signer.id);
    if (other !== undefined && !other.equals(publicKey)) {
      throw new ConfigError(
        `The configuration cannot be used: SEAL_VERIFICATION_KEYS and SEAL_SIGNING_KEY differ in the key ${signer.id}.`,
      );
    }
    known.set(signer.id, publicKey);
  }
  return {
    async sign(statement) {
      if (signer === undefined) throw new ConfigError('SEAL_SIGNING_KEY is missing: this process cannot seal.');
      return new CompactSign(new TextEncoder().encode(JSON.stringify(statement)))
        .setProtectedHeader({ alg: 'EdDSA', typ: type, kid: signer.id })
        .sign(signer.key);
    },
    async open(jws) {
      const statement = readStatement(jws);
      if (statement === null) return { statement, problem: 'it cannot be read' };
      const { kid = '', typ } = decodeProtectedHeader(jws);
      const key = known.get(kid);
      if (key === undefined) return { statement, problem: `no known key ${kid} (SEAL_VERIFICATION_KEYS)` };
      const signed = await compactVerify(jws, key, { algorithms: ['EdDSA'] }).then(
        () => typ === type,
        () => false,
      );
      return { statement, problem: signed ? null : `the key ${kid} has not signed it` };
    },
    publicKeys: [...known].map(([id, key]) => ({ id, publicKey: bytesOf(key) })),
  };
}

function readStatement(jws: string): SealStatement | null {
  try {
    decodeProtectedHeader(jws);
    const statement = JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString());
    return statement?.format === sealFormat ? statement : null;
  } catch {
    return null;
  }
}
