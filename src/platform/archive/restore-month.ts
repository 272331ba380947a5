import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import { budgets } from '../../shared/budgets.ts';
import { sha256 } from '../../shared/digest.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { withTime } from '../database/database-time-outs.ts';
import { giveWaySoon, givingWay } from '../database/giving-way.ts';
import type { Storage } from '../storage/storage.ts';
import { firstDayOf, type Manifest, parseManifest } from './archived-month.ts';
import { findMonth, type MonthPlace } from './find-months.ts';
import { quoteName, readObject, readPart, readParts } from './month-rows.ts';

export interface RestoreOutcome {
  table: string;
  /** `absent`: the database has no record that it was ever archived. */
  state: 'restored' | 'there' | 'absent';
  rows: number;
}

/**
 * Restores an archived month of one table from the file store, as the owner: loads its rows into a separate table,
 * compares them with the manifest, and attaches them, all in one transaction. Safe to kill at any point and rerun. If
 * an object is missing or differs, throws an error that names it and leaves the table unchanged.
 */
export async function restoreMonth(
  em: EntityManager,
  storage: Storage,
  { table, month }: { table: string; month: string },
): Promise<RestoreOutcome> {
  const place = await findMonth(em, table, month);
  if (place.attached) return { table, state: 'there', rows: 0 };
  if (place.archived === null) return { table, state: 'absent', rows: 0 };
  const manifest = parseManifest(await readObject(storage, place.archived));
  return withTime(em, budgets.database.migration, async (tx): Promise<RestoreOutcome> => {
    const bounds = await take(tx, place);
    if (bounds === null) return { table, state: 'there', rows: 0 };
    await load(tx, storage, place, manifest);
    await failpoint('restore.loaded');
    // If the table is busy, retries only the attaching, not the loading.
    await givingWay(() => tx.transactional((nested) => attach(nested, place, bounds)));
    await failpoint('restore.attached');
    return { table, state: 'restored', rows: manifest.rows };
  });
}

interface Bounds {
  first_id: string;
  next_id: string;
}

/**
 * Deletes the month's record in this transaction, after waiting for any concurrent restore. Returns null if that
 * restore succeeded.
 */
async function take(tx: EntityManager, { table, month }: MonthPlace): Promise<Bounds | null> {
  const [bounds] = await tx.execute<Bounds[]>(
    'delete from archived_months where table_name = ? and month = ?::date returning first_id, next_id',
    [table, firstDayOf(month)],
  );
  return bounds ?? null;
}

/** Loads the rows into a separate table and compares them with the manifest. */
async function load(tx: EntityManager, storage: Storage, { table, partition }: MonthPlace, manifest: Manifest) {
  const name = `months.${quoteName(partition)}`;
  const columns = manifest.columns.map(quoteName).join(', ');
  await tx.execute(`create table ${name} (like public.${quoteName(table)} including all)`);
  for (const part of manifest.parts) {
    const lines = await readPart(storage, part);
    await tx.execute(
      `insert into ${name} (${columns})
       select ${columns} from jsonb_populate_recordset(null::public.${quoteName(table)}, ?::jsonb)`,
      [`[${lines.join(',')}]`],
    );
    await failpoint('restore.part');
  }
  let number = 0;
  for await (const { lines } of readParts(tx, partition, manifest.columns)) {
    const part = must(manifest.parts[number], 'every restored row belongs to an archived part');
    if (sha256(lines) !== part.lines_sha256)
      throw new Error(`the restored rows of ${part.key} differ from the archived ones`);
    number += 1;
  }
  if (number !== manifest.parts.length) throw new Error(`not all rows of ${table} ${manifest.month} were restored`);
}

async function attach(tx: EntityManager, { table, partition }: MonthPlace, { first_id, next_id }: Bounds) {
  await giveWaySoon(tx);
  await tx.execute(
    `alter table public.${quoteName(table)} attach partition months.${quoteName(partition)}
     for values from ('${first_id}') to ('${next_id}')`,
  );
}
