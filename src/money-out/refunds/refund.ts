import type { Money } from '../../shared/money.ts';
import type { PayoutOpening, PayoutStatus } from '../payouts/payout.ts';

/**
 * Pure facts about refunds of partners' payments: payouts from the partner's available balance, to the wallet that paid
 * where the provider can, otherwise to a bank account.
 */
export const refundStatuses = ['pending', 'succeeded', 'failed'] as const;

/** The names that partners see: what the bank returned has failed in the end. */
export const shownRefundStatuses: Record<PayoutStatus, (typeof refundStatuses)[number]> = {
  pending: 'pending',
  succeeded: 'succeeded',
  failed: 'failed',
  reversed: 'failed',
};

/** What a request asks the workflow for: ids and amounts, texts only sealed (docs/contract.md 9). IDR, scale 4. */
export interface RefundOpening
  extends Pick<PayoutOpening, 'partnerId' | 'textsSealed' | 'requestId' | 'idempotency' | 'stamp'> {
  paymentId: string;
  /** Whole rupiah. */
  amount: Money;
  /** The provider's id of the payment request whose wallet it goes back to; null when it goes to a bank. */
  refundOf: string | null;
  bankCode: string | null;
}

export interface RefundInput {
  /** A refund is a payout, and has its id. */
  payoutId: string;
  /** What the request asked for. Absent when the workflow resumes a refund that has its row. */
  opening?: RefundOpening;
}

/** The refund workflows' port for use cases; implemented in `temporal/`. */
export interface RefundWorkflows {
  /**
   * Starts the workflow of a refund, or joins the running one, and waits at most `waitMs` milliseconds until the money
   * is reserved. Null when that time passed without an answer. Throws what the reservation throws, and
   * SERVICE_UNAVAILABLE when Temporal is unavailable.
   */
  startPaymentRefund(refundId: string, opening: RefundOpening, waitMs: number): Promise<PayoutStatus | null>;
}
