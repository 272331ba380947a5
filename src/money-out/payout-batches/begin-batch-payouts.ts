import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { overdueGraceMs } from '../../shared/asking-intervals.ts';
import { failpoint } from '../../shared/failpoint.ts';
import type { PayoutWorkflows } from '../payouts/payout.ts';
import { mostUnsent, pauseAfterBeginning } from './payout-batch.ts';

/**
 * Starts the workflows of a batch's payouts one after another, with pauses, for `forMs` milliseconds. Starts no more
 * while `mostUnsent` have started but not been sent. A started payout is due for a sweep, which continues it; however
 * often it starts, it is sent once. Returns how many it started. Throws if Temporal does not accept one.
 */
export async function beginBatchPayouts(
  em: EntityManager,
  workflows: Pick<PayoutWorkflows, 'hintPayout'>,
  { batchId, forMs = 5000 }: { batchId: string; forMs?: number },
): Promise<number> {
  await failpoint('begin-batch-payouts.before');
  const started = performance.now();
  const isOver = () => performance.now() - started >= forMs;
  let begun = 0;
  for (;;) {
    const next = await findNext(em, batchId);
    if (next === null) return begun;
    for (const id of next) {
      const asked = performance.now();
      await workflows.hintPayout({ id, kind: 'partner_payout' });
      const tookMs = performance.now() - asked;
      await failpoint('begin-batch-payouts.after');
      await em.execute(
        `update payouts set look_again_at = now() + ? * interval '1 millisecond'
         where id = ? and status = 'pending' and look_again_at is null`,
        [overdueGraceMs, id],
      );
      begun += 1;
      if (isOver()) return begun;
      await delay(pauseAfterBeginning(tookMs));
    }
    if (isOver()) return begun;
    if (next.length === 0) await delay(pauseAfterBeginning(0));
  }
}

/** The payouts that may start now, in the batch's order; null once all have started. */
async function findNext(em: EntityManager, batchId: string): Promise<string[] | null> {
  const [{ ids, is_over }] = await em.execute<[{ ids: string[]; is_over: boolean }]>(
    `select coalesce(array_agg(u.id order by u.place) filter (where u.look_again_at is null and u.number <= ? - u.begun), '{}')
         as ids,
       not coalesce(bool_or(u.look_again_at is null), false) as is_over
     from (
       select p.id, i.place, p.look_again_at, count(p.look_again_at) over () as begun,
         row_number() over (partition by p.look_again_at is null order by i.place) as number
       from payout_batch_items i join payouts p on p.id = i.id
       where i.batch_id = ? and p.status = 'pending'
         and not exists (select from payout_attempts a where a.payout_id = i.id)
     ) u`,
    [mostUnsent, batchId],
  );
  return is_over ? null : ids;
}
