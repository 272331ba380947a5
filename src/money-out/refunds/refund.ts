import type { Money } from '../../shared/money.ts';
import type { PayoutOpening, PayoutStatus } from '../payouts/payout.ts';

/**
 * Refunds are payouts from the partner's available balance, to the wallet that paid if possible, otherwise to a bank.
 */
export const refundStatuses = ['pending', 'succeeded', 'failed'] as const;

/** Maps a payout's status to the refund's status shown to partners: a refund returned by the bank is `failed`. */
export const shownRefundStatuses: Record<PayoutStatus, (typeof refundStatuses)[number]> = {
  pending: 'pending',
  succeeded: 'succeeded',
  failed: 'failed',
  reversed: 'failed',
};

/** A refund request as passed to the workflow: ids, an amount and encrypted texts (docs/contract.md 9). */
export interface RefundOpening
  extends Pick<PayoutOpening, 'partnerId' | 'textsSealed' | 'requestId' | 'idempotency' | 'stamp'> {
  paymentId: string;
  /** IDR, scale 4, without a fraction of a rupiah. */
  amount: Money;
  /** The provider's id of the payment request to refund; null for a refund to a bank account. */
  refundOf: string | null;
  bankCode: string | null;
}

export interface RefundInput {
  /** The refund's id; a refund is a payout. */
  payoutId: string;
  /** The request; absent when the workflow resumes an existing row. */
  opening?: RefundOpening;
}

/** The refund workflows' port for use cases; implemented in `temporal/`. */
export interface RefundWorkflows {
  /**
   * Starts or joins the workflow. Returns the payout's status, or null if it is not known after `waitMs`. Throws as
   * `reserveRefund` does, and SERVICE_UNAVAILABLE.
   */
  startPaymentRefund(refundId: string, opening: RefundOpening, waitMs: number): Promise<PayoutStatus | null>;
}
