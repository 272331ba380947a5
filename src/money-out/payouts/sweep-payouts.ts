import type { EntityManager } from '@mikro-orm/postgresql';
import { either, type SweepFailure, sweepRows } from '../../platform/housekeeping/sweep-rows.ts';
import { must } from '../../shared/assert.ts';
import type { PayoutPlace, PayoutWorkflows } from './payout.ts';

/** Payouts due for a check; each check sets the time of the next. */
export const overduePayouts = 'select id, look_again_at as since from payouts where look_again_at < now()';

/** Payouts that were held and not processed since their release, except those that their batch has not started. */
const releasedPayouts = `select p.id, s.changed_at as since from payouts p join payout_switch s on s.enabled
  where p.status = 'pending' and p.look_again_at is not null and (p.last_word is null or p.last_word in ('unsent', 'not known'))
    and coalesce(p.asked_at, p.created_at) < s.changed_at
    and not exists (select from decisions d where d.withdrawal_id = p.id and d.status = 'pending')`;

/** Batches that their workflow has not checked in time. */
export const overdueBatches = 'select id, look_again_at as since from payout_batches where look_again_at < now()';

/**
 * Wakes overdue batches and payouts due for a check: pending ones whose workflow is late (Temporal may have lost it),
 * final ones that may still be reversed, and released ones. Returns how many it woke.
 */
export function sweepPayouts(
  em: EntityManager,
  workflows: Pick<PayoutWorkflows, 'hintPayout'> & { lookAfterPayoutBatch(batchId: string): Promise<void> },
  failed: SweepFailure,
): Promise<number> {
  const wake = async (id: string) => {
    const [payout] = await em.fork().execute<PayoutPlace[]>('select id, kind from payouts where id = ?', [id]);
    await workflows.hintPayout(must(payout, 'payouts are never deleted'));
  };
  const wakeBatch = (id: string) => workflows.lookAfterPayoutBatch(id);
  return sweepRows(
    em,
    [
      { kind: 'payout', due: either(overduePayouts, releasedPayouts), wake },
      { kind: 'payout_batch', due: overdueBatches, wake: wakeBatch },
    ],
    failed,
  );
}
