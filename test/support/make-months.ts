import type { EntityManager } from '@mikro-orm/postgresql';

/** SQL: creates the months of all partitioned tables, from the one `ago` (an interval) to this one. */
export const monthsSince = (ago: string): string =>
  `select make_month(c.relname, m.at::date) from pg_class c
   cross join generate_series(date_trunc('month', (now() - interval '${ago}') at time zone 'UTC'), now() at time zone 'UTC',
     interval '1 month') m (at)
   where c.relnamespace = 'public'::regnamespace and c.relkind = 'p'`;

/** Creates them, as the owner, for rows of the past. */
export const makeMonthsSince = (owner: EntityManager, ago: string): Promise<unknown> => owner.execute(monthsSince(ago));
