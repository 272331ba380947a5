import type { EntityManager } from '@mikro-orm/postgresql';
import { overdueGraceMs } from '../../shared/asking-intervals.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { textArray } from '../../shared/postgres.ts';
import type { PayoutWorkflows } from '../payouts/payout.ts';
import { begunAtOnce } from './payout-batch.ts';

/**
 * Begins the workflows of the next few payouts of a batch, but never so many that more than `begunAtOnce` are begun and
 * not yet sent: a batch goes at the pace of what sends it. One that is begun is due for a look from then on, so a sweep
 * continues it; each sends its transfer once, however often it is begun. Returns how many. Throws when Temporal does not
 * take one.
 */
export async function beginBatchPayouts(
  em: EntityManager,
  workflows: Pick<PayoutWorkflows, 'hintPayout'>,
  { batchId }: { batchId: string },
): Promise<number> {
  await failpoint('begin-batch-payouts.before');
  const unsent = `from payout_batch_items i join payouts p on p.id = i.id where i.batch_id = ? and p.status = 'pending'
    and not exists (select from payout_attempts a where a.payout_id = i.id)`;
  const [{ free }] = await em.execute<[{ free: number }]>(
    `select greatest(0, ? - count(*))::int as free ${unsent} and p.look_again_at is not null`,
    [begunAtOnce, batchId],
  );
  const next = await em.execute<{ id: string }[]>(
    `select i.id ${unsent} and p.look_again_at is null order by i.place limit ?`,
    [batchId, free],
  );
  if (next.length === 0) return 0;
  const ids = next.map(({ id }) => id);
  await Promise.all(ids.map((id) => workflows.hintPayout({ id, kind: 'partner_payout' })));
  await failpoint('begin-batch-payouts.after');
  await em.execute(
    `update payouts set look_again_at = now() + ? * interval '1 millisecond'
     where id = any(?::uuid[]) and status = 'pending' and look_again_at is null`,
    [overdueGraceMs, textArray(ids)],
  );
  return ids.length;
}
