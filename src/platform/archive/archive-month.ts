import type { EntityManager } from '@mikro-orm/postgresql';
import { budgets } from '../../shared/budgets.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { allowTime, withTime } from '../database/database-time-outs.ts';
import { giveWaySoon, givingWay } from '../database/giving-way.ts';
import type { Storage } from '../storage/storage.ts';
import { type ArchivedPart, firstDayOf, type Manifest, manifestObject } from './archived-month.ts';
import { findMonth, type MonthPlace } from './find-months.ts';
import { findColumns, quoteName, readParts, storeObject, storePart } from './month-rows.ts';
import { whyNeeded, whyTooEarly } from './why-needed.ts';

export interface ArchiveOutcome {
  table: string;
  /** `absent`: neither the database nor the archive has this month. */
  state: 'archived' | 'archived before' | 'absent' | 'needed';
  rows: number;
  /** Why the month is `needed`. */
  reason?: string;
}

/** The trigger that closes a month. */
const closed = 'month_is_closed';

/**
 * Archives the month of one table, as the owner: closes it, copies it to the file store, reads the copy back, and only
 * then removes it from the database. Safe to kill at any point and rerun: rows stay in the database until the copy is
 * complete, and every copy is identical. A month that is still needed stays unchanged and open.
 */
export async function archiveMonth(
  em: EntityManager,
  storage: Storage,
  { table, month, afterMonths }: { table: string; month: string; afterMonths: number },
): Promise<ArchiveOutcome> {
  const place = await findMonth(em, table, month);
  if (place.archived !== null) return { table, state: 'archived before', rows: place.archived.rows };
  if (!place.attached) return { table, state: 'absent', rows: 0 };
  const reason = (await whyTooEarly(em, month, afterMonths)) ?? (await givingWay(() => close(em, place)));
  if (reason !== null) return { table, state: 'needed', rows: 0, reason };
  await failpoint('archive.closed');
  const manifest = await copy(em, storage, place);
  await failpoint('archive.copied');
  await givingWay(() => remove(em, place, manifest));
  await failpoint('archive.removed');
  return { table, state: 'archived', rows: manifest.rows };
}

/**
 * Closes the month to writers, after waiting for current ones, so that the copy is complete. If the month is still
 * needed, returns the reason and leaves it open.
 */
async function close(em: EntityManager, { table, month, partition }: MonthPlace): Promise<string | null> {
  const tx = em.fork();
  await tx.begin();
  try {
    await allowTime(tx, budgets.database.migration);
    await tx.execute(
      `create or replace trigger ${closed} before insert or update or delete on months.${quoteName(partition)}
       for each row execute function refuse_change()`,
    );
    const reason = await whyNeeded(tx, table, month);
    if (reason === null) await tx.commit();
    return reason;
  } finally {
    if (tx.isInTransaction()) await tx.rollback();
  }
}

async function copy(em: EntityManager, storage: Storage, { table, month, partition }: MonthPlace): Promise<Manifest> {
  const columns = await findColumns(em, table);
  const parts: ArchivedPart[] = [];
  for await (const rows of readParts(em, partition, columns)) {
    parts.push(await storePart(storage, { table, month, number: parts.length + 1 }, rows));
    await failpoint('archive.part');
  }
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const [{ count }] = await withTime(em, budgets.database.migration, (tx) =>
    tx.execute<[{ count: string }]>(`select count(*) from months.${quoteName(partition)}`),
  );
  if (Number(count) !== rows) throw new Error(`${partition} was changed while being archived`);
  const manifest: Manifest = { format: 1, table, month, columns, rows, parts };
  await storeObject(storage, { ...manifestObject(manifest), contentType: 'application/json' });
  return manifest;
}

/** Detaches and drops the partition and records the archive, in one transaction. Blocks readers only briefly. */
function remove(em: EntityManager, { table, month, partition }: MonthPlace, manifest: Manifest): Promise<void> {
  const { key, sha256 } = manifestObject(manifest);
  const name = `months.${quoteName(partition)}`;
  return withTime(em, budgets.database.migration, async (tx) => {
    await giveWaySoon(tx);
    // Lock the table before the month, in the same order as readers.
    await tx.execute(`alter table public.${quoteName(table)} detach partition ${name}`);
    const [trigger] = await tx.execute<unknown[]>(
      'select 1 from pg_trigger where tgrelid = ?::regclass and tgname = ?',
      [name, closed],
    );
    if (trigger === undefined) throw new Error(`${partition} was opened while being archived`);
    await tx.execute(
      `insert into archived_months (table_name, month, first_id, next_id, rows, manifest_key, manifest_sha256)
       select ?, m, first_id_at(m at time zone 'UTC'), first_id_at((m + interval '1 month') at time zone 'UTC'), ?, ?, ?
       from (select ?::timestamp as m) month`,
      [table, manifest.rows, key, sha256, firstDayOf(month)],
    );
    await tx.execute(`drop table ${name}`);
  });
}
