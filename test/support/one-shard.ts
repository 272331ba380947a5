import type { Stack } from './stack.ts';

/**
 * Makes every connection to the stack's database write to the same shards of balances and counts, as happens when pids
 * are equal modulo the number of shards: paths that lock shards in different orders then deadlock.
 */
export async function writeInOneShard(stack: Pick<Stack, 'owner'>): Promise<void> {
  await stack.owner().execute(
    `do $do$
     declare
       one text;
     begin
       for one in select pg_get_functiondef(p.oid) from pg_proc p
         where p.pronamespace = 'public'::regnamespace and p.prokind = 'f' and p.prosrc like '%pg_backend_pid()%'
       loop
         execute replace(one, 'pg_backend_pid()', '1');
       end loop;
     end $do$`,
  );
}

/** Returns the number of deadlocks that PostgreSQL has resolved in the stack's database. */
export async function countDeadlocks(stack: Pick<Stack, 'owner'>): Promise<number> {
  const em = stack.owner();
  await em.execute('select pg_stat_force_next_flush(), pg_stat_clear_snapshot()');
  const [row] = await em.execute<[{ deadlocks: string }]>(
    'select deadlocks::text from pg_stat_database where datname = current_database()',
  );
  return Number(row.deadlocks);
}
