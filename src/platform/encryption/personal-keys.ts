import type { EntityManager } from '@mikro-orm/postgresql';
import { assert, must } from '../../shared/assert.ts';
import { budgets } from '../../shared/budgets.ts';
import { sha256 } from '../../shared/digest.ts';
import { errorCodeOf } from '../../shared/errors.ts';
import { withPatience } from '../../shared/patience.ts';
import { textArray } from '../../shared/postgres.ts';
import { readIdsInParts } from '../database/read-ids.ts';
import {
  type AgreedKeys,
  createOwnKeys,
  KeyMissing,
  KeysAway,
  newKey,
  type OwnKeys,
  openKey,
  type Wrapping,
} from './own-keys.ts';

/** Returns the plain text, or null if the person it belongs to has been erased. */
export async function unlessErased<T>(opening: Promise<T>): Promise<T | null> {
  try {
    return await opening;
  } catch (error) {
    if (errorCodeOf(error) === 'KEY_ERASED') return null;
    throw error;
  }
}

/**
 * For lists: the plain text, or null if the key is missing while the keys database is up, so that one lost key does not
 * hide the other rows.
 */
export async function unlessMissing<T>(opening: Promise<T>): Promise<T | null> {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof KeyMissing) return null;
    throw error;
  }
}

/**
 * The keys under which people's data is sealed, one per person. They are in a separate database, whose backups are
 * retained only briefly: once a key is gone from the database and its last backup, the data it sealed is unreadable in
 * every copy of everything else. Throws KeysAway if that database does not answer in time or is the wrong one.
 */
export interface PersonalKeys extends OwnKeys {
  /** Returns a new person's key, creating it if there is none. Throws KeyErased if it was destroyed. */
  make(id: string): Promise<Uint8Array>;
  /**
   * Returns the person's key. Throws KeyErased if it was destroyed, and KeyMissing if it has no row: the person was not
   * erased, but the keys database is an old copy.
   */
  find(id: string): Promise<Uint8Array>;
  /**
   * Permanently destroys the keys of these people, existing or not, so that none is ever created for them again. Skips
   * people whose keys are already destroyed; returns those whose keys it destroyed.
   */
  destroy(ids: readonly string[]): Promise<string[]>;
  /** Returns when the keys of these people were destroyed, by the database's clock; omits people whose key exists. */
  destroyedAt(ids: readonly string[]): Promise<{ id: string; erased_at: string }[]>;
  /** Yields the ids of all people whose keys were destroyed, in batches of at most a thousand. */
  listErased(): AsyncGenerator<string[], void, undefined>;
  /** The keys of partners' payments, payouts and refunds, by their ids. */
  orders: OwnKeys;
  /**
   * Destroys up to `limit` keys of orders created at least `days` ago. `prepare` gets their ids first and returns those
   * to keep, which are examined again after a day. Returns how many it examined.
   */
  destroyOrders(
    prepare: (ids: readonly string[]) => Promise<readonly { id: string }[]>,
    input: { days: number; limit: number },
  ): Promise<number>;
  /**
   * Returns the HMAC key for the digests by which encrypted values are looked up. Created on first use, one for
   * everyone.
   */
  lookUpKey(): Promise<Uint8Array>;
  /**
   * Examines up to `limit` keys created at least a day ago, and asks `find` for their people: marks the keys of people
   * who can no longer be deleted as settled, rechecks after a day the keys of people who still can be, and deletes keys
   * that belong to nobody. Returns how many it examined.
   */
  settle(find: (ids: readonly string[]) => Promise<readonly KeptPerson[]>, limit: number): Promise<number>;
  /** Throws unless the keys database answers. */
  ping(): Promise<void>;
}

interface LookUpKey {
  key: Uint8Array;
  /** The stored form. */
  sealed: string;
}

const asAgreed = 'are_agreed_keys(?)';
/** A keys database other than the agreed one, or no keys database. */
const isOtherDatabase = (error: unknown): boolean => /^(AM011|42883|42P01)$/.test(String(errorCodeOf(error)));

/** A person who has a row in `users`; an invited person may still be deleted. */
export interface KeptPerson {
  id: string;
  stays: boolean;
}

/**
 * Keys in the keys database. `wrapping` seals the keys themselves with the live encryption keys. Before anything is
 * created or read, `agree` gets a check value that identifies this database, and throws unless it is the right one.
 */
export function createPersonalKeys(
  orm: { em: { fork(): Pick<EntityManager, 'execute'> } },
  wrapping: Wrapping,
  agree: (checkValue: string) => Promise<void>,
): PersonalKeys {
  // The keys queries use no entities and no transactions, so one entity manager serves all callers.
  const em = orm.em.fork();
  const lookUpId = 'email';
  /** The look-up key with its stored form, which identifies this database. */
  let agreed: Promise<LookUpKey> | null = null;
  function agreement(): Promise<LookUpKey> {
    agreed ??= withPatience(budgets.keyLookUp.runMs, async () => {
      const found = await readLookUpKey();
      await agree(sha256(`check value of ${Buffer.from(found.key).toString('hex')}`));
      return found;
    }).catch((cause: unknown) => {
      agreed = null;
      throw errorCodeOf(cause) === 'KEYS_AWAY' ? cause : new KeysAway('the look-up key could not be read', { cause });
    });
    return agreed;
  }
  /**
   * After a failover or a misconfiguration, a new connection may reach a different database, so each statement checks
   * that its database is still the agreed one. If that check fails, the agreement is renewed and the statement runs once
   * more; a re-encrypted look-up key also fails it.
   */
  const execute = async (sql: string, params: readonly unknown[] = []): Promise<unknown> => {
    const at = sql.indexOf(asAgreed);
    assert(at >= 0, 'every statement on keys calls are_agreed_keys');
    const place = sql.slice(0, at).split('?').length - 1;
    const ask = async () => em.execute(sql, params.toSpliced(place, 0, (await agreement()).sealed));
    try {
      return await ask();
    } catch (error) {
      if (!isOtherDatabase(error)) throw error;
      agreed = null;
      return ask().catch((cause: unknown) => {
        throw isOtherDatabase(cause) ? new KeysAway('connections reach different keys databases', { cause }) : cause;
      });
    }
  };
  const keys: AgreedKeys = { agree: agreement, execute: execute as AgreedKeys['execute'] };
  const people = createOwnKeys(keys, 'personal_keys', wrapping);
  const orders = createOwnKeys(keys, 'order_keys', wrapping);

  async function readLookUpKey(): Promise<LookUpKey> {
    const find = async () => {
      const [row] = await em.execute<{ key_sealed: string }[]>('select key_sealed from look_up_keys where id = ?', [
        lookUpId,
      ]);
      return row?.key_sealed ?? null;
    };
    const open = async (sealed: string) => ({
      sealed,
      key: await openKey(wrapping, 'look_up_keys', lookUpId, sealed),
    });
    const found = await find();
    if (found !== null) return open(found);
    await em.execute('insert into look_up_keys (id, key_sealed) values (?, ?) on conflict (id) do nothing', [
      lookUpId,
      (await newKey(wrapping, 'look_up_keys', lookUpId)).sealed,
    ]);
    return open(must(await find(), 'the look-up key was just inserted'));
  }

  return {
    make: people.make,
    find: people.find,
    orders,
    async destroy(ids) {
      people.forget(ids);
      const destroyed = await keys.execute<{ id: string }[]>(
        `insert into personal_keys (id, erased_at, is_settled)
           select id, clock_timestamp(), true
           from (select where are_agreed_keys(?)) agreed cross join unnest(?::uuid[]) id
         on conflict (id) do update set key_sealed = null, overwritten = repeat('-', length(personal_keys.key_sealed)),
           erased_at = excluded.erased_at, is_settled = true
           where personal_keys.erased_at is null returning id`,
        [textArray(ids)],
      );
      people.forget(ids);
      return destroyed.map(({ id }) => id);
    },
    destroyedAt: (ids) =>
      keys.execute(
        `select id, erased_at::text from personal_keys
         where are_agreed_keys(?) and id = any(?::uuid[]) and erased_at is not null`,
        [textArray(ids)],
      ),
    listErased: () =>
      readIdsInParts(
        keys,
        'select id from personal_keys where are_agreed_keys(?) and erased_at is not null and id > ? order by id limit 1000',
      ),
    lookUpKey: async () => (await agreement()).key,
    async settle(find, limit) {
      const rows = await keys.execute<{ id: string }[]>(
        `select id from personal_keys where are_agreed_keys(?) and not is_settled and look_after < now() order by look_after limit ?`,
        [limit],
      );
      if (rows.length === 0) return 0;
      const ids = rows.map(({ id }) => id);
      const there = await find(ids);
      const idsOf = (people: readonly KeptPerson[]) => textArray(people.map(({ id }) => id));
      const those = (stay: boolean) => idsOf(there.filter(({ stays }) => stays === stay));
      await keys.execute(
        'update personal_keys set is_settled = true where are_agreed_keys(?) and id = any(?::uuid[])',
        [those(true)],
      );
      await keys.execute(
        "update personal_keys set look_after = now() + interval '1 day' where are_agreed_keys(?) and not is_settled " +
          'and id = any(?::uuid[])',
        [those(false)],
      );
      await keys.execute(
        `delete from personal_keys where are_agreed_keys(?) and not is_settled and id = any(?::uuid[]) and id <> all(?::uuid[])`,
        [textArray(ids), idsOf(there)],
      );
      return rows.length;
    },
    async destroyOrders(prepare, { days, limit }) {
      const rows = await keys.execute<{ id: string }[]>(
        `select id from order_keys where are_agreed_keys(?) and erased_at is null and kept_since < now() - make_interval(days => ?)
         order by kept_since limit ?`,
        [days, limit],
      );
      if (rows.length === 0) return 0;
      const ids = rows.map(({ id }) => id);
      const kept = textArray((await prepare(ids)).map(({ id }) => id));
      await keys.execute(
        `update order_keys set kept_since = now() - make_interval(days => ?) + interval '1 day'
         where are_agreed_keys(?) and erased_at is null and id = any(?::uuid[])`,
        [days, kept],
      );
      const destroyed = await keys.execute<{ id: string }[]>(
        `update order_keys set key_sealed = null, overwritten = repeat('-', length(key_sealed)),
           erased_at = clock_timestamp()
         where are_agreed_keys(?) and erased_at is null and id = any(?::uuid[]) and id <> all(?::uuid[]) returning id`,
        [textArray(ids), kept],
      );
      orders.forget(destroyed.map(({ id }) => id));
      return rows.length;
    },
    async ping() {
      await keys.execute('select where are_agreed_keys(?)');
    },
  };
}
