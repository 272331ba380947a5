import type { Money } from '../../shared/money.ts';
import type { PayoutOpening, PayoutStatus } from '../payouts/payout.ts';

/**
 * Refunds are payouts from the partner's available balance, to the wallet that paid if possible, otherwise to a bank.
 */
export const refundStatuses = ['pending', 'succeeded', 'failed'] as const;

/** The statuses shown to partners: a refund that the bank returned has failed. */
export const shownRefundStatuses: Record<PayoutStatus, (typeof refundStatuses)[number]> = {
  pending: 'pending',
  succeeded: 'succeeded',
  failed: 'failed',
  reversed: 'failed',
};

/** A request as passed to the workflow: ids and amounts; texts only sealed (docs/contract.md 9). IDR, scale 4. */
export interface RefundOpening
  extends Pick<PayoutOpening, 'partnerId' | 'textsSealed' | 'requestId' | 'idempotency' | 'stamp'> {
  paymentId: string;
  /** Whole rupiah. */
  amount: Money;
  /** The provider's id of the payment request whose wallet is refunded; null for a refund to a bank. */
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
  /** Starts or joins the workflow; null after `waitMs`. Throws as `reserveRefund` does, and SERVICE_UNAVAILABLE. */
  startPaymentRefund(refundId: string, opening: RefundOpening, waitMs: number): Promise<PayoutStatus | null>;
}
