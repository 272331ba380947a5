import type { EntityManager } from '@mikro-orm/postgresql';
import { errorCodeOf } from '../../../src/shared/errors.ts';

interface TableColumns {
  name: string;
  columns: string;
}

const kept = 'schema_migrations';

async function tablesOf(em: EntityManager): Promise<TableColumns[]> {
  return em.execute<TableColumns[]>(
    `select c.relname as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname <> ?
       and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     group by c.relname`,
    [kept],
  );
}

/** Copies every table, as a backup would, in one snapshot. */
export function backUp(em: EntityManager): Promise<void> {
  return em.transactional(
    async (tx) => {
      await tx.execute('create schema backup');
      for (const { name } of await tablesOf(tx)) {
        await tx.execute(`create table backup."${name}" as table public."${name}"`);
      }
    },
    { isolationLevel: 'repeatable read' as never },
  );
}

/** SQLSTATE of a lock held by another session. */
const locked = '55P03';
const pauseMs = 20;

/**
 * Puts the copy back, as a restore from a backup does. It never waits for a lock, so it cannot deadlock; while a
 * worker's sweep holds one, it retries.
 */
export async function restore(em: EntityManager): Promise<void> {
  for (;;) {
    try {
      return await putBack(em.fork());
    } catch (error) {
      if (errorCodeOf(error) !== locked) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

function putBack(em: EntityManager): Promise<void> {
  return em.transactional(async (tx) => {
    await tx.execute("set local session_replication_role = 'replica'");
    const tables = await tablesOf(tx);
    const all = tables.map(({ name }) => `public."${name}"`).join(', ');
    await tx.execute(`lock table ${all} in access exclusive mode nowait`);
    // Deletes instead of truncating: most tables are empty, and to truncate one makes new files for all its indexes.
    for (const { name, columns } of tables) {
      await tx.execute(
        `delete from public."${name}";
         insert into public."${name}" (${columns}) overriding system value select ${columns} from backup."${name}"`,
      );
    }
  });
}
