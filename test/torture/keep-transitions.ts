import type { EntityManager } from '@mikro-orm/postgresql';
import { transitionTables } from './oracles/books.ts';

/**
 * Writes down every change of a status, whoever makes it, by triggers of the torture's own in a schema of its own: a row
 * shows only where it ended, and an event only what the code meant to do.
 */
export async function keepTransitions(em: EntityManager): Promise<void> {
  await em.execute(`
    create schema torture;
    create table torture.transitions (
      number bigint generated always as identity primary key,
      place text not null, row_id text not null, was text not null, became text not null,
      at timestamptz not null default clock_timestamp());
    create function torture.note() returns trigger language plpgsql security definer set search_path = torture as $$
    declare
      was text := to_jsonb(old) ->> tg_argv[0];
      became text := to_jsonb(new) ->> tg_argv[0];
    begin
      if was is distinct from became then
        insert into torture.transitions (place, row_id, was, became) values (tg_table_name, new.id::text, was, became);
      end if;
      return null;
    end $$;`);
  for (const table of Object.keys(transitionTables)) {
    const column = table === 'receipts' ? 'state' : 'status';
    await em.execute(
      `create trigger torture_notes_${table} after update on ${table} for each row execute function torture.note('${column}')`,
    );
  }
}
