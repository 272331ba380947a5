import type { EntityManager } from '@mikro-orm/postgresql';
import { statusLaws } from '../support/status-laws.ts';

/**
 * Records every change of a status, whatever its cause, by the torture's own triggers in their own schema: a row shows
 * only the last status, and an event only what the code intended.
 */
export async function keepTransitions(em: EntityManager): Promise<void> {
  await em.execute(`
    create schema torture;
    create table torture.transitions (
      number bigint generated always as identity primary key,
      place text not null, row_id text not null, was text, became text not null,
      at timestamptz not null default clock_timestamp());
    create table torture.periods (subscription_id uuid not null);
    create function torture.note() returns trigger language plpgsql security definer set search_path = pg_catalog, torture, pg_temp as $$
    declare
      was text := to_jsonb(old) ->> tg_argv[0];
      became text := to_jsonb(new) ->> tg_argv[0];
    begin
      if was is distinct from became then
        insert into torture.transitions (place, row_id, was, became)
          values (tg_argv[2], to_jsonb(new) ->> tg_argv[1], was, coalesce(became, 'nothing'));
      end if;
      return null;
    end $$;
    grant usage on schema torture to amanah_app;
    grant select on all tables in schema torture to amanah_app;`);
  const keys = await em.execute<{ table: string; key: string }[]>(
    `select k.conrelid::regclass::text as "table", a.attname as key
     from pg_constraint k join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
     where k.contype = 'p' and k.connamespace = 'public'::regnamespace`,
  );
  const keyOf = new Map(keys.map(({ table, key }) => [table, key]));
  for (const place of Object.keys(statusLaws)) {
    const [table = '', column] = place.split('.');
    await em.execute(
      `create trigger torture_notes_${column} after insert or update on ${table}
       for each row execute function torture.note('${column}', '${keyOf.get(table)}', '${place}')`,
    );
  }
}
