import { budgets } from '../../src/shared/budgets.ts';

/**
 * Makes a database refuse a migration that would block others: that waits too long for an exclusive lock, or builds an
 * index while blocking writes. Tables that the migration created, and empty ones, are exempt.
 */
export const watchMigrations = `
  create function refuse_to_stop_others() returns event_trigger language plpgsql as $$
  declare
    stopped text;
    most constant integer := ${budgets.database.migration.lock};
  begin
    select string_agg(distinct c.relname, ', ') into stopped
      from pg_locks l join pg_class c on c.oid = l.relation
      where l.pid = pg_backend_pid() and c.relkind = 'r' and c.reltuples > 0
        and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
        and (tg_tag = 'CREATE INDEX'
          or (select setting::integer not between 1 and most from pg_settings where name = 'lock_timeout'));
    if stopped is not null then
      raise exception '% blocks others that use %', tg_tag, stopped
        using hint = 'Keep the lock_timeout of migrations, and build indexes concurrently.';
    end if;
  end $$;
  create event trigger migrations_let_others_work on ddl_command_end execute function refuse_to_stop_others();
`;
