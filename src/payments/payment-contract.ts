import type { DecisionInHand } from '../decisions/decision.ts';
import type { OpeningStamp } from '../openings/opening.ts';
import type { Money } from '../shared/money.ts';
import type { PaymentOrderStatus, ReferenceType } from './payment-order.ts';
import type { ReceiptReason, ReceiptState } from './receipt.ts';

/** What the workflow and its activities tell each other: ids and amounts, never people (docs/contract.md 9). */

export interface PaymentOpening {
  userId: string;
  organizationId: string | null;
  referenceType: ReferenceType;
  referenceId: string;
  /** Whom among those that share the target it is for; absent or null: its payer. */
  onBehalfOf?: string | null;
  targetAccountId: string;
  paymentId: number;
  /** IDR, scale 4. */
  nominal: Money;
  adminFee: Money;
  /** The payer's own texts, sealed for the order's row: they travel and rest encrypted. */
  textsSealed: string | null;
  requestId: string;
  idempotency: { keyHash: string; fingerprint: string } | null;
  /** Absent in what an older release has started. */
  stamp?: OpeningStamp;
}

/** What the workflow of an order is started with. */
export interface GatewayPaymentInput {
  orderId: string;
  /** What the request asked for. Absent when an order that has its row is looked after again. */
  opening?: PaymentOpening;
}

/** The workflows of payment orders, as use cases meet them; made by `temporal/`, passed in. */
export interface GatewayPaymentWorkflows {
  /**
   * Starts the order's workflow, or joins the one that runs, and waits at most `waitMs` for its instrument. Null when
   * the wait ended without an answer. Refuses what the first step refuses, and with SERVICE_UNAVAILABLE when Temporal
   * is away.
   */
  startGatewayPayment(orderId: string, opening: PaymentOpening, waitMs: number): Promise<PaymentOrderStatus | null>;
  /** Wakes the order's workflow, or starts it again from its row when there is none. */
  hintGatewayPayment(orderId: string): Promise<void>;
}

/** The workflows of money that no order takes; made by `temporal/`, passed in. */
export interface ReceiptWorkflows {
  /** Starts the case of such money; one that runs is left alone, one that has ended looks again. */
  openUnmatchedReceipt(stray: StrayPayment): Promise<void>;
}

/** How decisions reach the cases of such money; made by `temporal/`, passed in. */
export interface ReceiptDecisions {
  /**
   * Has a decision about such money carried out by its case, which is opened where none runs, and waits at most `waitMs`.
   * Null when the wait ended without an answer. Refuses with SERVICE_UNAVAILABLE when Temporal is away. What became of the
   * decision is in its row.
   */
  decideReceipt(stray: StrayPayment, decision: DecisionInHand, waitMs: number): Promise<ReceiptState | null>;
}

export interface OpenedOrder {
  status: PaymentOrderStatus;
  /** ISO 8601. */
  deadline: string;
  /** Whether the order was final already when this run began. */
  final: boolean;
}

export interface ConfirmedPayment {
  providerPaymentId: string;
  providerPaymentMethodId: string;
  /** IDR, scale 4. */
  amount: Money;
}

export interface StrayPayment {
  receiptId: string;
  providerPaymentId: string;
  providerPaymentMethodId: string;
}

interface Strays {
  /** Confirmed payments under the order that do not pay it: late, double or of another amount. */
  strays: StrayPayment[];
}

/** What the provider said of a payment, and until when it may be paid. */
export type Confirmation = Verdict & {
  /** ISO 8601: earlier than it was when the payment has been cancelled meanwhile. Absent in what an older release wrote. */
  deadline?: string;
};

type Verdict =
  | ({ outcome: 'paid'; payment: ConfirmedPayment } & Strays)
  | ({ outcome: 'refused'; failureCode: string } & Strays)
  /** `settling`: paid, pending or not listed any more at the provider, which shows no payment that can be settled yet. */
  | ({ outcome: 'expired' | 'waiting' | 'settling' } & Strays);

/**
 * What became of a payment that was taken to be unmatched. `owned`: it pays something open of ours, whose workflow was
 * woken. `unconfirmed`: the provider does not know it, or has not ended it; `failed`: no money came.
 */
export type ReceiptOpening =
  | { outcome: 'suspended'; amountIdr: number; reason: ReceiptReason }
  | { outcome: 'applied' | 'credited' | 'refunded' | 'owned' | 'unconfirmed' | 'failed' };
