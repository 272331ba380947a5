import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';

/** Figures for web clients only: counts and a percentage, as formatted by the database. */
export interface CauseAggregation {
  donation_count: string;
  donor_count: string;
  progress_percent: string;
}

/**
 * Counts the donations to a cause and its donors, and computes the share of its target received (percent, two
 * decimals).
 */
export async function measureCause(em: EntityManager, causeId: string): Promise<CauseAggregation> {
  const [row] = await em.execute<CauseAggregation[]>(
    `select (select coalesce(sum(donations), 0) from cause_totals t where t.cause_id = c.id)::text as donation_count,
       (select count(distinct user_id) from donations d where d.cause_id = c.id and d.status = 'completed')::text
         as donor_count,
       round(cause_current_amount(c.id) * 100 / c.target_amount, 2)::text as progress_percent
     from charitable_causes c where c.id = ?`,
    [causeId],
  );
  return must(row, 'the cause exists');
}
