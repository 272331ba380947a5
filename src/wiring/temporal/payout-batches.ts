import type { PayoutBatchWorkflows } from '../../money-out/payout-batches/payout-batch.ts';
import { canonicalId } from '../../shared/uuid.ts';
import type { Hints } from './hints.ts';
import type { Temporal } from './temporal.ts';

export function createPayoutBatchWorkflows(temporal: Temporal, hints: Hints): PayoutBatchWorkflows {
  const wake = (batchId: string): Promise<void> => {
    const run = {
      workflow: 'partnerPayoutBatch' as const,
      subject: batchId,
      input: { batchId: canonicalId(batchId) },
      summary: 'A batch of payouts',
    };
    return temporal.signalWithStart(run, 'batchChanged');
  };
  return {
    wakePayoutBatch: async (batchId) => void (await hints.send(() => wake(batchId))),
    lookAfterPayoutBatch: wake,
  };
}
