import type { EntityManager } from '@mikro-orm/postgresql';
import { withTime } from '../../platform/database/database-time-outs.ts';
import { budgets } from '../../shared/budgets.ts';
import { failpoint } from '../../shared/failpoint.ts';

/**
 * Stores the closing balances of each sealed day, day after day, each in its own transaction; statements start from
 * them. Returns the days it closed, `YYYY-MM-DD`. Safe to repeat and to run concurrently.
 */
export async function closeDays(em: EntityManager): Promise<string[]> {
  const closed: string[] = [];
  for (;;) {
    const [row] = await withTime(em.fork(), budgets.database.seal, (tx) =>
      tx.execute<{ day: string | null }[]>('select close_day()::text as day'),
    );
    if (row?.day == null) return closed;
    closed.push(row.day);
    await failpoint('close-days.after');
  }
}
