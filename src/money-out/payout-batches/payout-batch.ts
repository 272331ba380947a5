import { type StatusOf, statusLaw } from '../../shared/status-law.ts';

/** Status transitions and limits of payout batches (docs/contract.md 8): created by one key, approved by another. */
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

/** Maximum payouts of a batch that have started but have not been sent. */
export const mostUnsent = 5;

/**
 * Milliseconds to pause after starting a payout took `tookMs`. The provider accepts ten requests a second from the
 * platform; a batch uses half of them. The pause grows with the load: four times the start's duration, at most a
 * second.
 */
export const pauseAfterBeginning = (tookMs: number): number => Math.min(1000, Math.max(200 - tookMs, tookMs * 4));

/** The path of a batch's detail. */
export const payoutBatchPath = (id: string): string => `/v1/partners/payout-batches/${id}`;

/** Where a batch's metadata is sealed. */
export const batchMetadataPlace = (id: string) => ({ table: 'payout_batches', column: 'metadata_sealed', row: id });

/** The input of a batch's workflow. */
export interface PayoutBatchInput {
  batchId: string;
}

/** A batch as passed to its workflow. */
export interface PayoutBatchStanding {
  status: PayoutBatchStatus;
  /** Milliseconds until the next check. */
  waitMs: number;
  /** Webhooks still to be delivered. */
  deliveryIds: string[];
}

/** The port to the workflows of batches; implemented in `temporal/`. */
export interface PayoutBatchWorkflows {
  /** Signals the batch's workflow, or starts it. Never fails: a sweep finds a batch without a running workflow. */
  wakePayoutBatch(batchId: string): Promise<void>;
  /** `wakePayoutBatch` for the sweep: throws if Temporal does not accept it. */
  lookAfterPayoutBatch(batchId: string): Promise<void>;
}
