import type { OpeningStamp } from '../openings/opening.ts';
import type { Money } from '../shared/money.ts';
import type { PaymentOrderStatus, ReferenceType } from './payment-order.ts';
import type { ReceiptReason } from './receipt.ts';

/** What the workflow and its activities tell each other: ids and amounts, never people (design law 7). */

export interface PaymentOpening {
  userId: string;
  organizationId: string | null;
  referenceType: ReferenceType;
  referenceId: string;
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

export type Confirmation =
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
