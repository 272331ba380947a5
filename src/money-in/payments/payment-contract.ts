import type { Money } from '../../shared/money.ts';
import type { KeyClaim, OpeningStamp } from '../../shared/opening.ts';
import type { PaymentOrder } from './payment-order.entity.ts';
import type { PaymentOrderStatus } from './payment-order.ts';
import type { ReceiptReason } from './receipt.ts';

/** Data exchanged by the workflow and its activities: ids and amounts, never personal data (docs/contract.md 9). */

export interface PaymentOpening {
  /** The order's requested columns. Texts are sealed in transit and at rest. */
  order: Pick<PaymentOrder, AskedColumn>;
  claim: KeyClaim | null;
  stamp: OpeningStamp;
}

type AskedColumn =
  | ('user_id' | 'organization_id' | 'reference_type' | 'reference_id' | 'on_behalf_of' | 'target_account_id')
  | ('payment_id' | 'nominal' | 'admin_fee' | 'texts_sealed' | 'request_id');

export interface GatewayPaymentInput {
  orderId: string;
  /** The request; absent when the workflow is restarted for an existing row. */
  opening?: PaymentOpening;
  /** The `PaymentState` that the workflow was started with, so that it need not set it again. */
  shown?: 'PENDING';
}

/** The port to the workflows of payment orders; implemented in `temporal/`, injected. */
export interface GatewayPaymentWorkflows {
  /**
   * Starts the order's workflow, or joins the running one, and waits at most `waitMs` for its instrument. Null if the
   * wait times out. Throws what the first step refuses, and SERVICE_UNAVAILABLE if Temporal is unavailable.
   */
  startGatewayPayment(orderId: string, opening: PaymentOpening, waitMs: number): Promise<PaymentOrderStatus | null>;
  /** Signals the order's workflow, or restarts it from its row if none is running. */
  hintGatewayPayment(orderId: string): Promise<void>;
}

/** The port to the workflows of unmatched receipts; implemented in `temporal/`, injected. */
export interface ReceiptWorkflows {
  /** Starts the receipt's workflow unless it is running; a completed workflow runs again. */
  openUnmatchedReceipt(stray: StrayPayment): Promise<void>;
}

export interface OpenedOrder {
  status: PaymentOrderStatus;
  /** ISO 8601. */
  deadline: string;
  /** Whether the order was final when this run began. */
  final: boolean;
  /** The money arrived before the row, which a restored database lacked: ask the provider at once. */
  isPaid?: true;
}

export interface ConfirmedPayment {
  providerPaymentId: string;
  providerPaymentMethodId: string;
  /** The payment request that it paid, if the provider names it. */
  providerPaymentRequestId?: string | null;
  /** IDR, scale 4. */
  amount: Money;
}

export interface StrayPayment extends Omit<ConfirmedPayment, 'amount' | 'providerPaymentRequestId'> {
  receiptId: string;
  provider: string;
}

/** The provider's answer about a payment, and the payment's deadline. */
export type Confirmation = Verdict & {
  /** ISO 8601. Earlier than before if the payment was cancelled in between. */
  deadline: string;
  /** The row's status; after a restore, an earlier one than the workflow has. */
  status?: PaymentOrderStatus;
  /** The provider's callbacks arrive, so it is polled less often. */
  callbacksCome?: boolean;
};

export type Verdict = (
  | { outcome: 'paid'; payment: ConfirmedPayment }
  | { outcome: 'refused'; failureCode: string }
  /** `settling`: paid, pending or no longer listed at the provider, without a payment that can be settled yet. */
  | { outcome: 'expired' | 'waiting' | 'settling' }
) & {
  /** Confirmed payments under the order that do not pay it: late, duplicate or wrong amount. */
  strays: StrayPayment[];
};

/**
 * `owned`: it pays an open row of ours, whose workflow was signalled. `unconfirmed`: unknown or pending at the
 * provider. `failed`: no money arrived, or the payment was voided.
 */
export type ReceiptOpening =
  | { outcome: 'suspended'; amountIdr: number; reason: ReceiptReason }
  | { outcome: 'applied' | 'credited' | 'refunded' | 'owned' | 'unconfirmed' | 'failed' };
