import type { EntityManager } from '@mikro-orm/postgresql';

/** SQL that creates the monthly partitions of all partitioned tables, from `ago` (an interval) to this month. */
export const monthsSince = (ago: string): string =>
  `select make_month(c.relname, m.at::date) from pg_class c
   cross join generate_series(date_trunc('month', (now() - interval '${ago}') at time zone 'UTC'), now() at time zone 'UTC',
     interval '1 month') m (at)
   where c.relnamespace = 'public'::regnamespace and c.relkind = 'p'`;

/** Creates those partitions, as the owner, for past rows. */
export const makeMonthsSince = (owner: EntityManager, ago: string): Promise<unknown> => owner.execute(monthsSince(ago));
