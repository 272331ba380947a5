import { randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { budgets } from '../../shared/budgets.ts';
import { isDataError, isDomainError } from '../../shared/errors.ts';
import { createGathering } from '../../shared/gather.ts';
import { textArray } from '../../shared/postgres.ts';

/** 256 bits, for A256GCM and HMAC-SHA256. */
const keyBytes = 32;
/** Maximum keys that a process caches, and for how long: after that time a destroyed key is unusable everywhere. */
const mostCached = 10_000;
const cachedMs = 5 * 60_000;
const mostTogether = 500;

/** The keys database is unreachable, or a key that should exist is missing. Not a refusal: the caller retries. */
export class KeysAway extends Error {
  override readonly name: string = 'KeysAway';
  readonly code = 'KEYS_AWAY';
}

/**
 * The keys database is up but has no row for this key, which was not destroyed. Work that needs the key is retried as
 * if the keys were down; lists show the other people.
 */
export class KeyMissing extends KeysAway {
  override readonly name = 'KeyMissing';
}

/** The value was encrypted under a key that has been destroyed: it can never be read again. */
export class KeyErased extends Error {
  override readonly name: string = 'KeyErased';
  readonly code = 'KEY_ERASED';
}

/** The value's key was not destroyed but lost with its database, and may be restored. */
export class KeyLost extends KeyErased {
  override readonly name = 'KeyLost';
}

/** The tables of the keys database. */
export type KeyTable = 'personal_keys' | 'order_keys' | 'look_up_keys';

export interface KeyPlace {
  table: KeyTable;
  column: string;
  row: string;
}

/** Encrypts the keys themselves. */
export interface Wrapping {
  seal(place: KeyPlace, plain: string): Promise<string>;
  open(place: KeyPlace, sealed: string): Promise<string>;
}

const placeOf = (table: KeyTable, id: string): KeyPlace => ({ table, column: 'key_sealed', row: id });

/** Creates a key for this row, in plain and sealed form. */
export async function newKey(
  wrapping: Wrapping,
  table: KeyTable,
  id: string,
): Promise<{ key: Uint8Array; sealed: string }> {
  const key = randomBytes(keyBytes);
  return { key: new Uint8Array(key), sealed: await wrapping.seal(placeOf(table, id), key.toString('base64')) };
}

/** Decrypts a stored key of this row. */
export const openKey = async (wrapping: Wrapping, table: KeyTable, id: string, sealed: string): Promise<Uint8Array> =>
  new Uint8Array(Buffer.from(await wrapping.open(placeOf(table, id), sealed), 'base64'));

/** One key per person or order, by the id of the person or order. */
export interface OwnKeys {
  /** Returns the key, creating it if there is none. Throws KeyErased if it was destroyed, and KeysAway. */
  make(id: string): Promise<Uint8Array>;
  /** Returns the key. Throws KeyErased if it was destroyed, and KeysAway; for an unknown key, one of the two. */
  find(id: string): Promise<Uint8Array>;
}

/** The error for an id without a key. */
const withoutTrace = {
  // The person was not erased: the keys database is an old copy or a different one.
  personal_keys: (id: string): Error => new KeyMissing(`there is no key of ${id}`),
  // Callers do not wait for an order's lost key, unlike a person's.
  order_keys: (id: string): Error => new KeyLost(`the key of ${id} was lost`),
};

interface Question {
  id: string;
  isToBeMade: boolean;
}
interface KeyRow {
  id: string;
  key_sealed: string | null;
  /** Set if this process created the key, so that it need not be decrypted. */
  key?: Uint8Array | undefined;
}

/** Runs statements on keys; each has the condition `are_agreed_keys(?)`, whose parameter `execute` adds. */
export interface AgreedKeys extends Pick<EntityManager, 'execute'> {
  /** Throws KeysAway unless this is the right database. */
  agree(): Promise<unknown>;
}

/** The keys of one table: concurrent look-ups are batched, and recently used keys cached. */
export function createOwnKeys(
  em: AgreedKeys,
  table: keyof typeof withoutTrace,
  wrapping: Wrapping,
): OwnKeys & { forget(ids: readonly string[]): void } {
  const cache = createKeyCache();
  const read = (ids: readonly string[]) =>
    em.execute<KeyRow[]>(`select id, key_sealed from ${table} where are_agreed_keys(?) and id = any(?::uuid[])`, [
      textArray(ids),
    ]);

  async function make(ids: readonly string[]): Promise<KeyRow[]> {
    const made = await Promise.all(ids.map((id) => newKey(wrapping, table, id)));
    await em.execute(
      `insert into ${table} (id, key_sealed)
         select made.* from (select where are_agreed_keys(?)) agreed cross join unnest(?::uuid[], ?::text[]) made
       on conflict (id) do nothing`,
      [textArray(ids), textArray(made.map(({ sealed }) => sealed))],
    );
    const ours = new Map(made.map(({ key, sealed }) => [sealed, key]));
    // Another process may have created a key first: every process uses the stored one.
    return (await read(ids)).map((row) => ({ ...row, key: ours.get(row.key_sealed ?? '') }));
  }

  /** Returns for each id the key, null if it was destroyed, or an error if it is missing or cannot be decrypted. */
  const ask = createGathering<Question, Uint8Array | Error | null>({
    async run(questions) {
      const ids = [...new Set(questions.map(({ id }) => id))];
      const rows = new Map((await read(ids)).map((row) => [row.id, row]));
      const missing = questions.filter(({ id, isToBeMade }) => isToBeMade && !rows.has(id)).map(({ id }) => id);
      if (missing.length > 0) for (const row of await make([...new Set(missing)])) rows.set(row.id, row);
      const keys = await Promise.all(
        ids.map(async (id) => {
          const row = rows.get(id);
          if (row === undefined) return [id, withoutTrace[table](id)] as const;
          const { key_sealed: sealed, key } = row;
          const opened = sealed === null ? null : (key ?? openKey(wrapping, table, id, sealed).catch(asError));
          return [id, await opened] as const;
        }),
      );
      const byId = new Map(keys);
      return questions.map(({ id }) => byId.get(id) ?? null);
    },
    isOfOne: isDataError,
    most: mostTogether,
    ...budgets.keyLookUp,
  });

  async function keyOf(question: Question): Promise<Uint8Array> {
    const cached = cache.get(question.id);
    if (cached !== null) return cached;
    await em.agree();
    const key = await reached(ask(question));
    if (key === null) throw new KeyErased(`the key of ${question.id} was destroyed`);
    if (Error.isError(key)) throw key;
    cache.set(question.id, key);
    return key;
  }

  return {
    make: (id) => keyOf({ id, isToBeMade: true }),
    find: (id) => keyOf({ id, isToBeMade: false }),
    forget(ids) {
      for (const id of ids) cache.delete(id);
    },
  };
}

const asError = (thrown: unknown): Error => (Error.isError(thrown) ? thrown : new Error(String(thrown)));

/** Turns a refusal for a time-out into KeysAway, so that steps are retried. */
async function reached<T>(asking: Promise<T>): Promise<T> {
  try {
    return await asking;
  } catch (error) {
    if (!isDomainError(error)) throw error;
    throw new KeysAway('the keys did not answer in time', { cause: error });
  }
}

/** The recently used keys, each for five minutes at most. */
function createKeyCache() {
  const kept = new Map<string, { key: Uint8Array; until: number }>();
  return {
    get(id: string): Uint8Array | null {
      const found = kept.get(id);
      if (found === undefined) return null;
      kept.delete(id);
      if (found.until < performance.now()) return null;
      kept.set(id, found);
      return found.key;
    },
    set(id: string, key: Uint8Array): void {
      kept.set(id, { key, until: performance.now() + cachedMs });
      const [oldest] = kept.keys();
      if (kept.size > mostCached && oldest !== undefined) kept.delete(oldest);
    },
    delete: (id: string): void => void kept.delete(id),
  };
}
