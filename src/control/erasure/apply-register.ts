import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import { User } from '../../people/members/user.entity.ts';
import { readIdsInParts } from '../../platform/database/read-ids.ts';
import type { PersonalKeys } from '../../platform/encryption/personal-keys.ts';
import { byPlatform, recordAction } from '../../platform/events/record-event.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { isDomainError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { textArray } from '../../shared/postgres.ts';
import { emptyRows } from './empty-rows.ts';
import { readRegister } from './erasure-register.ts';
import { noteDestroyed } from './note-destroyed.ts';

/** Counts of what a database restore had brought back and `applyRegister` erased again. */
export interface ErasedAgain {
  /** Rows of people in the main database. */
  people: number;
  /** Keys of people in the keys database. */
  keys: number;
  /** Whether the file store answered; otherwise only the databases' own records were applied. */
  isWhole: boolean;
}

interface Register {
  personalKeys: Pick<PersonalKeys, 'destroy' | 'destroyedAt' | 'listErased'>;
  storage: Storage;
}

/**
 * Repeats the erasure of people whom a database restored from an older backup has brought back. Erasures recorded in
 * either database or in the file store's register are applied to both. Rows are emptied at once, and the erasure's
 * workflow continues from there. Throws when a database is down.
 */
export async function applyRegister(em: EntityManager, { personalKeys, storage }: Register): Promise<ErasedAgain> {
  const again: ErasedAgain = { people: 0, keys: 0, isWhole: true };
  const apply = async (known: AsyncIterable<string[]>) => {
    for await (const ids of known) {
      const destroyed = await personalKeys.destroy(ids);
      again.keys += destroyed.length;
      again.people += await eraseAll(em, ids);
      await noteDestroyed(em, personalKeys, ids);
    }
  };
  await apply(personalKeys.listErased());
  await apply(listErasedUsers(em));
  try {
    await apply(readRegister(storage));
  } catch (error) {
    if (!isDomainError(error) || error.code !== 'SERVICE_UNAVAILABLE') throw error;
    again.isWhole = false;
  }
  return again;
}

const againMs = 10_000;

/**
 * Runs `applyRegister` until the file store's register has been read, every ten seconds while the store is down.
 * Returns a function that stops the retries.
 */
export async function applyRegisterWhole(
  deps: Register & { orm: { em: EntityManager }; log: Logger },
): Promise<() => void> {
  const { log } = deps;
  const apply = async (): Promise<boolean> => {
    const again = await applyRegister(deps.orm.em.fork(), deps);
    if (again.people + again.keys > 0)
      log.warn(again, 'erased again the people whom a database restore had brought back');
    return again.isWhole;
  };
  if (await apply()) return () => undefined;
  log.warn('the file store is down: the register of erasures will be read once it is up');
  const timer = setInterval(() => {
    apply().then(
      (isWhole) => {
        if (isWhole) clearInterval(timer);
      },
      (error: unknown) => log.warn({ err: error }, 'could not apply the register of erasures; will retry'),
    );
  }, againMs);
  timer.unref();
  return () => clearInterval(timer);
}

const listErasedUsers = (em: EntityManager) =>
  readIdsInParts(em, 'select id from users where erased_at is not null and id > ? order by id limit 1000');

async function eraseAll(em: EntityManager, ids: readonly string[]): Promise<number> {
  const back = await em.execute<{ id: string }[]>(
    'select id from users where id = any(?::uuid[]) and erased_at is null order by id',
    [textArray(ids)],
  );
  for (const { id } of back) await em.fork().transactional((tx) => eraseAgain(tx, id));
  return back.length;
}

async function eraseAgain(tx: EntityManager, userId: string): Promise<void> {
  // Locks in the same order as an erasure.
  await tx.execute("select 1 from erasures where user_id = ? and status <> 'stopped' for update", [userId]);
  const user = await tx.findOne(User, userId, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (user === null || user.erased_at) return;
  // A person who was only invited has done nothing yet, so the row can be deleted.
  if (user.status === 'invited') {
    for (const table of ['invitations', 'cause_managers']) {
      await tx.execute(`delete from ${table} where user_id = ?`, [userId]);
    }
    await tx.execute('delete from users where id = ?', [userId]);
  } else {
    await emptyRows(tx, user);
    const begun = await tx.execute<unknown[]>(
      `update erasures set status = 'erasing', held_because = null, erased_at = clock_timestamp()
       where user_id = ? and status = 'waiting' returning 1`,
      [userId],
    );
    if (begun.length === 0) {
      await tx.execute(
        `insert into erasures (id, user_id, status, erased_at) select ?, ?, 'erasing', clock_timestamp()
         where not exists (select from erasures where user_id = ? and status <> 'stopped')`,
        [newId(), userId, userId],
      );
    }
  }
  await recordAction(tx, byPlatform, ['PERSON_ERASED_AGAIN', 'HIGH'], ['user', userId]);
}
