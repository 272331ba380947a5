import type { MikroORM } from '@mikro-orm/postgresql';
import { type CryptoKey, importJWK, type JWK } from 'jose';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { must } from '../../shared/assert.ts';
import { rotateSigningKey } from './rotate-signing-key.ts';
import { type SigningKeyRow, signingKeysMaxAgeMs } from './signing-key.ts';

interface PublishedKey {
  id: string;
  jwk: JWK;
  key: CryptoKey;
  publishedUntil: number;
}

export interface SigningKeys {
  /** The current key, read at most a few seconds ago. */
  signer(): Promise<{ id: string; key: CryptoKey }>;
  /** The public key with this id, or undefined when it is not published. */
  find(id: string): Promise<CryptoKey | undefined>;
  /** Whether the key with this id is cached here and still published. */
  isPublished(id: string): boolean;
  published(): Promise<JWK[]>;
}

/** The form of our key ids; anything else needs no database look-up. */
const keyIdPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface SigningKeysInput {
  orm: MikroORM;
  sealer: Sealer;
  tokenTtlSeconds: number;
}

async function importKey(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, 'EdDSA');
  if (key instanceof Uint8Array) throw new Error('a signing key is not asymmetric');
  return key;
}

const openKey = async (sealer: Sealer, { id, private_key_sealed: sealed }: SigningKeyRow): Promise<JWK> =>
  JSON.parse(await sealer.open({ table: 'token_signing_keys', column: 'private_key_sealed', row: id }, sealed));

/** Creates the cache of the signing keys, refreshed when they may be stale. Creates the first key if there is none. */
export function createSigningKeys({ orm, sealer, tokenTtlSeconds }: SigningKeysInput): SigningKeys {
  let keys = new Map<string, PublishedKey>();
  let signing: { id: string; key: CryptoKey } | undefined;
  let loadedAt = Number.NEGATIVE_INFINITY;
  let loading: Promise<void> | undefined;

  async function load(): Promise<void> {
    const startedAt = performance.now();
    const read = () =>
      orm.em.fork().execute<SigningKeyRow[]>(
        `select id, public_jwk, private_key_sealed, published_until from token_signing_keys
         where published_until is null or published_until > clock_timestamp() order by created_at desc`,
      );
    let rows = await read();
    if (!rows.some(({ published_until }) => published_until === null)) {
      await rotateSigningKey(orm.em.fork(), { sealer, tokenTtlSeconds, onlyIfMissing: true });
      rows = await read();
    }
    const live = must(
      rows.find(({ published_until }) => published_until === null),
      'there is a signing key',
    );
    if (signing?.id !== live.id) signing = { id: live.id, key: await importKey(await openKey(sealer, live)) };
    const published = await Promise.all(rows.map((row) => readPublished(row, keys.get(row.id))));
    keys = new Map(published.filter((key) => key !== null).map((key) => [key.id, key]));
    loadedAt = startedAt;
  }

  /**
   * Returns the published key of a row, cached or derived from the sealed private key, never from `public_jwk`:
   * otherwise anyone who can write rows could forge tokens. Returns null for a row that cannot be decrypted.
   */
  async function readPublished(row: SigningKeyRow, known: PublishedKey | undefined): Promise<PublishedKey | null> {
    const publishedUntil =
      row.published_until === null ? Number.POSITIVE_INFINITY : new Date(row.published_until).getTime();
    if (known !== undefined) return { ...known, publishedUntil };
    const opened = await openKey(sealer, row).catch(() => null);
    if (opened === null) return null;
    const { d: _, ...publicPart } = opened;
    const jwk: JWK = { ...publicPart, kid: row.id, alg: 'EdDSA', use: 'sig' };
    return { id: row.id, jwk, key: await importKey(jwk), publishedUntil };
  }

  /** Rereads keys that were read before `moment` (monotonic clock); concurrent calls share one read. */
  async function refresh(moment: number): Promise<void> {
    while (loadedAt < moment) {
      loading ??= load().finally(() => {
        loading = undefined;
      });
      try {
        await loading;
      } catch (error) {
        if (keys.size === 0) throw error;
        return; // With the database down, keep using the cached keys.
      }
    }
  }

  const isLive = ({ publishedUntil }: PublishedKey): boolean => publishedUntil > Date.now();

  return {
    async signer() {
      await refresh(performance.now() - signingKeysMaxAgeMs);
      return must(signing, 'the signing key is loaded');
    },
    async find(id) {
      // Another process may have signed with a key that was created a moment ago.
      if (!keys.has(id) && keyIdPattern.test(id)) await refresh(performance.now());
      const found = keys.get(id);
      return found && isLive(found) ? found.key : undefined;
    },
    isPublished(id) {
      const found = keys.get(id);
      return found !== undefined && isLive(found);
    },
    async published() {
      await refresh(performance.now() - signingKeysMaxAgeMs);
      return [...keys.values()].filter(isLive).map(({ jwk }) => jwk);
    },
  };
}
