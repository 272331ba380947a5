import { type StatusOf, statusLaw } from '../../shared/status-law.ts';

/** The status law and limits of payout batches (docs/contract.md 8), created with one key and approved with another. */
export const payoutBatchLaw = statusLaw({
  initial: ['needs_approval'],
  transitions: {
    needs_approval: ['processing', 'rejected', 'lapsed'],
    processing: ['completed'],
    rejected: [],
    lapsed: [],
    completed: [],
  },
});
export type PayoutBatchStatus = StatusOf<typeof payoutBatchLaw>;

/** Whether the status is final. */
export const isFinalBatch = (status: PayoutBatchStatus): boolean =>
  status !== 'needs_approval' && status !== 'processing';

export const mostItems = 1000;
/** Maximum unfinished batches per partner. */
export const mostOpenBatches = 10;
/** A batch lapses after this many hours without approval. */
export const batchLivesHours = 72;

/** Maximum payouts of a batch that have started but are not sent yet. */
export const mostUnsent = 5;

/**
 * Returns the pause, in milliseconds, after a payout whose start took `tookMs`. A batch starts at most five payouts a
 * second, each of which makes at least two provider calls. Under load the pause grows to four times the start's
 * duration, but not beyond a second.
 */
export const pauseAfterBeginning = (tookMs: number): number => Math.min(1000, Math.max(200 - tookMs, tookMs * 4));

/** The path of a batch's detail. */
export const payoutBatchPath = (id: string): string => `/v1/partners/payout-batches/${id}`;

/** The row and column to which a batch's encrypted metadata is bound. */
export const batchMetadataPlace = (id: string) => ({ table: 'payout_batches', column: 'metadata_sealed', row: id });

/** The input of a batch's workflow. */
export interface PayoutBatchInput {
  batchId: string;
}

/** A batch's state as returned to its workflow. */
export interface PayoutBatchStanding {
  status: PayoutBatchStatus;
  /** Milliseconds until the next check. */
  waitMs: number;
  /** Webhooks still to be delivered. */
  deliveryIds: string[];
}

/** The port to the workflows of batches; implemented in `temporal/`. */
export interface PayoutBatchWorkflows {
  /** Signals or starts the batch's workflow. Never throws: the sweep retries. */
  wakePayoutBatch(batchId: string): Promise<void>;
  /** As `wakePayoutBatch`, for the sweep: throws if Temporal cannot be reached. */
  lookAfterPayoutBatch(batchId: string): Promise<void>;
}
