import type { EntityManager } from '@mikro-orm/postgresql';
import { failpoint } from '../../shared/failpoint.ts';
import type { PayoutWorkflows } from '../payouts/payout.ts';
import { type BegunPayouts, begunAtOnce } from './payout-batch.ts';

/**
 * Begins the workflows of the next few payouts of a batch, after the place `after`, but never so many that more than
 * `begunAtOnce` are begun and not yet sent: a batch goes at the pace of what sends it. Those that were sent already are
 * left alone. Each sends its transfer once, however often it is begun. Throws when Temporal does not take one.
 */
export async function beginBatchPayouts(
  em: EntityManager,
  workflows: Pick<PayoutWorkflows, 'hintPayout'>,
  { batchId, after }: { batchId: string; after: number },
): Promise<BegunPayouts> {
  await failpoint('begin-batch-payouts.before');
  const unsent = `select i.id, i.place from payout_batch_items i join payouts p on p.id = i.id
    where i.batch_id = ? and p.status = 'pending' and not exists (select from payout_attempts a where a.payout_id = i.id)`;
  const [{ free }] = await em.execute<[{ free: number }]>(
    `select greatest(0, ? - count(*))::int as free from (${unsent} and i.place <= ?) begun`,
    [begunAtOnce, batchId, after],
  );
  const next = await em.execute<{ id: string; place: number }[]>(`${unsent} and i.place > ? order by i.place limit ?`, [
    batchId,
    after,
    free,
  ]);
  await Promise.all(next.map(({ id }) => workflows.hintPayout({ id, kind: 'partner_payout' })));
  await failpoint('begin-batch-payouts.after');
  return { begun: next.at(-1)?.place ?? after, isDone: next.length < free };
}
