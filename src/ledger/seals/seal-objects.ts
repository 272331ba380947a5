import type { EntityManager } from '@mikro-orm/postgresql';
import type { Storage } from '../../platform/storage/storage.ts';
import { isDomainError } from '../../shared/errors.ts';
import { textArray } from '../../shared/postgres.ts';
import { maximumSealBytes, parseSealKey, parseSealObject, sealKey, sealPrefix } from './seal.ts';
import type { SealKeys } from './seal-keys.ts';

const keysPerPage = 500;

/** A difference from what was sealed. */
export interface SealDifference {
  /** The seal's number; null when it belongs to no seal. */
  seal: number | null;
  /** The journal, where it is known. */
  journal: string | null;
  /** The difference, as a sentence. */
  what: string;
}

export type Differ = (difference: SealDifference) => void;

/** Wraps the file store, which is not called again after a failure. */
export function sealStoreOf(storage: Storage) {
  let away: string | null = null;
  const leave = (error: unknown) => {
    if (!isDomainError(error)) throw error;
    away = 'the file store does not answer';
  };
  return {
    away: () => away,
    /** `bytes` is null if there is no such object, absent if that is unknown. */
    async read(key: string, maximumBytes: number): Promise<{ bytes?: Buffer | null }> {
      if (away !== null) return {};
      try {
        return { bytes: await storage.read(key, maximumBytes) };
      } catch (error) {
        leave(error);
        return {};
      }
    },
    async *pages(prefix: string, size: number): AsyncGenerator<string[]> {
      if (away !== null) return;
      let page: string[] = [];
      try {
        for await (const key of storage.list(prefix)) {
          page.push(key);
          if (page.length < size) continue;
          yield page;
          page = [];
        }
      } catch (error) {
        leave(error);
      }
      yield page;
    },
  };
}

/**
 * Reports objects without a row: those of this chain, whose rows were deleted or lost in a restore, and those of other
 * chains signed by one of our keys, which remain if all seals are deleted and a new chain begins. An object stored
 * during the run has a row, because its row is always inserted first.
 */
export async function findRowless(
  em: EntityManager,
  { store, keys, chain }: { store: ReturnType<typeof sealStoreOf>; keys: SealKeys; chain: string | null },
  differ: Differ,
): Promise<void> {
  const foreign = new Set<string>();
  for await (const page of store.pages(sealPrefix, keysPerPage)) {
    const found = page.map(parseSealKey).filter((key) => key !== null);
    const ours = found.filter((key) => key.chain === chain);
    const rows = await em
      .fork()
      .execute<{ hash: string }[]>('select hash from seals where hash = any(?::text[])', [
        textArray(ours.map(({ hash }) => hash)),
      ]);
    const known = new Set(rows.map(({ hash }) => hash));
    for (const { number, hash } of ours) {
      if (!known.has(hash)) differ({ seal: number, journal: null, what: `an object ${hash} of it has no row` });
    }
    for (const { chain: other, number, hash } of found) {
      if (other === chain || foreign.has(other)) continue;
      foreign.add(other);
      const { bytes } = await store.read(sealKey({ chain: other, number }, hash), maximumSealBytes);
      if (!bytes) continue;
      const { problem } = await keys.open(parseSealObject(bytes.toString()).jws);
      if (problem === null) {
        differ({ seal: null, journal: null, what: `a key of ours has signed seals that have no row: ${other}` });
      }
    }
  }
}
