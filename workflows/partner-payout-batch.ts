import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import {
  isFinalBatch,
  type PayoutBatchInput,
  type PayoutBatchStanding,
  type PayoutBatchStatus,
} from '../src/money-out/payout-batches/payout-batch.ts';
import { formatWesternIndonesia } from '../src/shared/clock.ts';
import { tellDetails } from './go-on.ts';
import { startDelivery } from './start-delivery.ts';
import { ledgerStep } from './step-options.ts';

/** A hint that somebody created, approved or rejected the batch: the workflow reads its row. */
export const batchChanged = defineSignal('batchChanged');

const { beginBatchPayouts, lookAtPayoutBatch } = proxyActivities<Activities>(ledgerStep);

/** History length, in events, after which the run continues as new. */
const longestHistory = 1500;

/**
 * A batch of payouts from creation to its final state: waits until a second key decides or the batch lapses, then
 * starts the payouts one after another, and waits until all are final.
 */
export async function partnerPayoutBatch({ batchId }: PayoutBatchInput): Promise<PayoutBatchStatus> {
  let hints = 0;
  setHandler(
    batchChanged,
    () => {
      hints += 1;
    },
    { description: 'Makes the workflow check the batch now' },
  );
  for (;;) {
    const seen = hints;
    const batch = await lookAtPayoutBatch({ batchId });
    for (const deliveryId of batch.deliveryIds) await startDelivery(deliveryId, 'batch of payouts');
    tell(batch);
    if (isFinalBatch(batch.status)) return batch.status;
    const begun = batch.status === 'processing' ? await beginBatchPayouts({ batchId }) : 0;
    if (begun === 0) await condition(() => hints > seen, batch.waitMs);
    if (workflowInfo().historyLength > longestHistory || workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof partnerPayoutBatch>({ batchId });
    }
  }
}

function tell({ status, waitMs }: PayoutBatchStanding): void {
  const until = formatWesternIndonesia(new Date(Date.now() + waitMs));
  const next: Record<PayoutBatchStatus, string> = {
    needs_approval: `Waits for a second key to approve it, until ${until} (UTC+7) at the latest.`,
    processing: `Its payouts are being sent. Checks again at ${until} (UTC+7) at the latest.`,
    completed: 'Ended: every payout is final.',
    rejected: 'Ended: rejected, nothing was paid.',
    lapsed: 'Ended: nobody approved it in time, nothing was paid.',
  };
  tellDetails(next[status]);
}
