import type { EntityManager } from '@mikro-orm/postgresql';
import { type SweepFailure, sweepRows } from '../../platform/housekeeping/sweep-rows.ts';
import { must } from '../../shared/assert.ts';
import type { PayoutBatchWorkflows } from '../payout-batches/payout-batch.ts';
import type { PayoutPlace, PayoutWorkflows } from './payout.ts';

/** Payouts that are due for a look; each look sets the time of the next. */
export const overduePayouts = 'select id, look_again_at as since from payouts where look_again_at < now()';

/** Batches of payouts that their workflow should have looked at. */
const overdueBatches = 'select id, look_again_at as since from payout_batches where look_again_at < now()';

/**
 * Wakes payouts that are due for a look: pending ones whose workflow is late (Temporal may have lost it), and final
 * ones that may still be reversed; and batches whose workflow is late. Returns how many.
 */
export function sweepPayouts(
  em: EntityManager,
  workflows: Pick<PayoutWorkflows, 'hintPayout'> & Pick<PayoutBatchWorkflows, 'lookAfterPayoutBatch'>,
  failed: SweepFailure,
): Promise<number> {
  const wake = async (id: string) => {
    const [payout] = await em.fork().execute<PayoutPlace[]>('select id, kind from payouts where id = ?', [id]);
    await workflows.hintPayout(must(payout, 'a payout is kept'));
  };
  const wakeBatch = (id: string) => workflows.lookAfterPayoutBatch(id);
  return sweepRows(
    em,
    [
      { kind: 'payout', due: overduePayouts, wake },
      { kind: 'payout_batch', due: overdueBatches, wake: wakeBatch },
    ],
    failed,
  );
}
