import { randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { readIdsInParts } from '../database/read-ids.ts';
import { must } from '../shared/assert.ts';
import { budgets } from '../shared/budgets.ts';
import { sha256 } from '../shared/digest.ts';
import { errorCodeOf, isDataError, isDomainError } from '../shared/errors.ts';
import { createGathering } from '../shared/gather.ts';
import { withPatience } from '../shared/patience.ts';
import { textArray } from '../shared/postgres.ts';

/** 256 bits, for A256GCM and HMAC-SHA256. */
const keyBytes = 32;
/** Keys that a process keeps at hand, and for how long: one that was destroyed is gone everywhere after that time. */
const mostCached = 10_000;
const cachedMs = 5 * 60_000;
const mostTogether = 500;

/** The keys cannot be reached, or one is missing that should be there. Not a refusal: it is simply to be done again. */
export class KeysAway extends Error {
  override readonly name = 'KeysAway';
  readonly code = 'KEYS_AWAY';
}

/** What is to be read was sealed under a key that was destroyed: nobody reads it again. */
export class KeyErased extends Error {
  override readonly name = 'KeyErased';
  readonly code = 'KEY_ERASED';
}

/** What is opened; null when it was sealed under the key of somebody who was erased. */
export async function unlessErased<T>(opening: Promise<T>): Promise<T | null> {
  try {
    return await opening;
  } catch (error) {
    if (errorCodeOf(error) === 'KEY_ERASED') return null;
    throw error;
  }
}

/**
 * The keys of their own under which people are sealed, by the id of the person. They live in a database of their own,
 * whose backups are kept for a short time only: once a key is destroyed there and in the last of those backups, whatever
 * it sealed is gone from every copy of everything else. Throws KeysAway when that database does not answer in time, and
 * what `agree` throws when it is the wrong one.
 */
export interface PersonalKeys {
  /** The person's key, made if there is none. Throws KeyErased once it was destroyed. */
  make(id: string): Promise<Uint8Array>;
  /**
   * The person's key. Throws KeyErased when it was destroyed, and KeysAway when there is no trace of it: the database of
   * the keys is then another one, or of before, and nobody was erased.
   */
  find(id: string): Promise<Uint8Array>;
  /**
   * Destroys the keys of these people for good, whether they are there or not: none is ever made for them again. Does
   * nothing about those of whom that was done already; returns those of whom it was done now.
   */
  destroy(ids: readonly string[]): Promise<string[]>;
  /** The ids of all whose keys were destroyed, in parts of at most a thousand. */
  listErased(): AsyncGenerator<string[], void, undefined>;
  /** The key of the digests by which sealed texts are found, made at first; the same for everybody. */
  lookUpKey(): Promise<Uint8Array>;
  /**
   * Looks at keys that were made a day ago or earlier, up to `limit` of them, and asks `find` whose they are: settles
   * those of people who are there to stay, looks after a day again at those of people who may still go, and deletes the
   * others, which were made for somebody who was never written down or has gone. Returns how many it looked at.
   */
  settle(find: (ids: readonly string[]) => Promise<readonly KeptPerson[]>, limit: number): Promise<number>;
  /** Throws unless the database of the keys answers. */
  ping(): Promise<void>;
}

/** Somebody who is written down; whoever was only invited may go again. */
export interface KeptPerson {
  id: string;
  stays: boolean;
}

/** What seals the keys themselves. */
interface Wrapping {
  seal(place: { table: string; column: string; row: string }, plain: string): Promise<string>;
  open(place: { table: string; column: string; row: string }, sealed: string): Promise<string>;
}

interface Question {
  id: string;
  isToBeMade: boolean;
}
interface KeyRow {
  id: string;
  key_sealed: string | null;
}

const placeOf = (table: 'personal_keys' | 'look_up_keys', id: string) => ({ table, column: 'key_sealed', row: id });

/**
 * Over the database of the keys. `wrapping` seals the keys themselves, with the live encryption keys. Before anything is
 * made or read, `agree` is told a check value by which this database is known from others, and throws unless it is the
 * right one.
 */
export function createPersonalKeys(
  orm: { em: { fork(): Pick<EntityManager, 'execute'> } },
  wrapping: Wrapping,
  agree: (checkValue: string) => Promise<void>,
): PersonalKeys {
  // No entities and no transaction: one manager serves all.
  const em = orm.em.fork();
  const cache = createKeyCache();
  const newKey = (table: 'personal_keys' | 'look_up_keys', id: string): Promise<string> =>
    wrapping.seal(placeOf(table, id), randomBytes(keyBytes).toString('base64'));
  const unwrap = async (table: 'personal_keys' | 'look_up_keys', id: string, sealed: string): Promise<Uint8Array> =>
    new Uint8Array(Buffer.from(await wrapping.open(placeOf(table, id), sealed), 'base64'));
  const read = (ids: readonly string[]) =>
    em.execute<KeyRow[]>('select id, key_sealed from personal_keys where id = any(?::uuid[])', [textArray(ids)]);

  async function make(ids: readonly string[]): Promise<KeyRow[]> {
    const keys = await Promise.all(ids.map((id) => newKey('personal_keys', id)));
    await em.execute(
      'insert into personal_keys (id, key_sealed) select * from unnest(?::uuid[], ?::text[]) on conflict (id) do nothing',
      [textArray(ids), textArray(keys)],
    );
    // Another process may have made one first: everybody takes what is written down.
    return read(ids);
  }

  /** Of each the key; null for one that was destroyed, and an error for one that is not there or does not open. */
  const ask = createGathering<Question, Uint8Array | Error | null>({
    async run(questions) {
      const ids = [...new Set(questions.map(({ id }) => id))];
      const rows = new Map((await read(ids)).map((row) => [row.id, row]));
      const missing = questions.filter(({ id, isToBeMade }) => isToBeMade && !rows.has(id)).map(({ id }) => id);
      if (missing.length > 0) for (const row of await make([...new Set(missing)])) rows.set(row.id, row);
      const keys = await Promise.all(
        ids.map(async (id) => {
          const row = rows.get(id);
          if (row === undefined) return [id, new KeysAway(`there is no key of ${id}`)] as const;
          const { key_sealed: sealed } = row;
          const opened = sealed === null ? null : unwrap('personal_keys', id, sealed).catch(asError);
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
    await lookUpKey();
    const key = await reached(ask(question));
    if (key === null) throw new KeyErased(`the key of ${question.id} was destroyed`);
    if (Error.isError(key)) throw key;
    cache.set(question.id, key);
    return key;
  }

  const lookUpId = 'email';
  let lookUp: Promise<Uint8Array> | null = null;
  function lookUpKey(): Promise<Uint8Array> {
    lookUp ??= withPatience(budgets.keyLookUp.runMs, async () => {
      const key = await readLookUpKey();
      await agree(sha256(`check value of ${Buffer.from(key).toString('hex')}`));
      return key;
    }).catch((cause: unknown) => {
      lookUp = null;
      throw errorCodeOf(cause) === 'KEYS_AWAY'
        ? cause
        : new KeysAway('the key of look-ups could not be read', { cause });
    });
    return lookUp;
  }
  async function readLookUpKey(): Promise<Uint8Array> {
    const find = async () => {
      const [row] = await em.execute<KeyRow[]>('select id, key_sealed from look_up_keys where id = ?', [lookUpId]);
      return row?.key_sealed ?? null;
    };
    const found = await find();
    if (found !== null) return unwrap('look_up_keys', lookUpId, found);
    await em.execute('insert into look_up_keys (id, key_sealed) values (?, ?) on conflict (id) do nothing', [
      lookUpId,
      await newKey('look_up_keys', lookUpId),
    ]);
    return unwrap('look_up_keys', lookUpId, must(await find(), 'the key was just written'));
  }

  return {
    make: (id) => keyOf({ id, isToBeMade: true }),
    find: (id) => keyOf({ id, isToBeMade: false }),
    async destroy(ids) {
      await lookUpKey();
      for (const id of ids) cache.delete(id);
      const destroyed = await em.execute<{ id: string }[]>(
        `insert into personal_keys (id, erased_at, is_settled)
           select id, clock_timestamp(), true from unnest(?::uuid[]) id
         on conflict (id) do update set key_sealed = null, erased_at = excluded.erased_at, is_settled = true
           where personal_keys.erased_at is null returning id`,
        [textArray(ids)],
      );
      for (const id of ids) cache.delete(id);
      return destroyed.map(({ id }) => id);
    },
    listErased: () =>
      readIdsInParts(em, 'select id from personal_keys where erased_at is not null and id > ? order by id limit 1000'),
    lookUpKey,
    async settle(find, limit) {
      await lookUpKey();
      const rows = await em.execute<{ id: string }[]>(
        `select id from personal_keys where not is_settled and look_after < now() order by look_after limit ?`,
        [limit],
      );
      if (rows.length === 0) return 0;
      const ids = rows.map(({ id }) => id);
      const there = await find(ids);
      const idsOf = (people: readonly KeptPerson[]) => textArray(people.map(({ id }) => id));
      const those = (stay: boolean) => idsOf(there.filter(({ stays }) => stays === stay));
      await em.execute('update personal_keys set is_settled = true where id = any(?::uuid[])', [those(true)]);
      await em.execute(
        "update personal_keys set look_after = now() + interval '1 day' where not is_settled and id = any(?::uuid[])",
        [those(false)],
      );
      await em.execute(
        `delete from personal_keys where not is_settled and id = any(?::uuid[]) and id <> all(?::uuid[])`,
        [textArray(ids), idsOf(there)],
      );
      return rows.length;
    },
    async ping() {
      await em.execute('select 1');
    },
  };
}

const asError = (thrown: unknown): Error => (Error.isError(thrown) ? thrown : new Error(String(thrown)));

/** A wait that was too long is no refusal: a step that gets it is repeated. */
async function reached<T>(asking: Promise<T>): Promise<T> {
  try {
    return await asking;
  } catch (error) {
    if (!isDomainError(error)) throw error;
    throw new KeysAway('the keys did not answer in time', { cause: error });
  }
}

/** The keys used last, each for five minutes at most. */
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
