import type { FeeMode } from '../../partners/partner.ts';
import type { Money } from '../../shared/money.ts';
import type { OpeningStamp } from '../../shared/opening.ts';
import type { OpenedOrder } from '../payments/payment-contract.ts';
import { isFinalOrder, type PaymentOrderStatus } from '../payments/payment-order.ts';

/** Statuses and types of partners' payments (docs/contract.md 8). */
export const partnerPaymentStatuses = ['pending', 'succeeded', 'failed', 'expired'] as const;
export type PartnerPaymentStatus = (typeof partnerPaymentStatuses)[number];

/** The statuses shown to partners for those of a payment order. */
export const shownStatuses: Record<PaymentOrderStatus, PartnerPaymentStatus> = {
  PENDING: 'pending',
  WAITING_PAYMENT: 'pending',
  PAID: 'succeeded',
  FAILED: 'failed',
  EXPIRED: 'expired',
};

/** The internal statuses of a public one. */
export const statesShownAs = (shown: PartnerPaymentStatus): PaymentOrderStatus[] =>
  (Object.keys(shownStatuses) as PaymentOrderStatus[]).filter((status) => shownStatuses[status] === shown);

export const isFinalPayment = isFinalOrder;

export const defaultLifetimeMinutes = 1440;
export const longestLifetimeMinutes = 2880;

/** The path of a payment's detail. */
export const paymentPath = (id: string): string => `/v1/partners/payments/${id}`;

/** The partner's own texts, sealed together in transit and at rest. */
export interface PartnerTexts {
  external_ref: string | null;
  customer_name: string | null;
  customer_email: string | null;
  customer_phone: string | null;
  /** The page to which an e-wallet returns the payer. */
  return_url: string | null;
}
export const partnerTextsPlace = (paymentId: string) => ({
  table: 'partner_payments',
  column: 'customer_sealed',
  row: paymentId,
});

/** Where `metadata` is sealed. Stored apart from the texts: lists show it, and most payments have none. */
export const partnerMetadataPlace = (paymentId: string) => ({
  table: 'partner_payments',
  column: 'metadata_sealed',
  row: paymentId,
});

/** The request as passed to the workflow: ids and amounts; texts only sealed (docs/contract.md 9). */
export interface PartnerPaymentOpening {
  partnerId: string;
  organizationId: string | null;
  channelId: number;
  feeMode: FeeMode;
  /** IDR, scale 4: gross = fee + net. */
  gross: Money;
  fee: Money;
  net: Money;
  providerFee: Money;
  textsSealed: string;
  metadataSealed: string | null;
  lifetimeMinutes: number;
  requestId: string;
  idempotency: { keyHash: string; fingerprint: string };
  stamp: OpeningStamp;
}

/** The input of a payment's workflow. */
export interface PartnerPaymentInput {
  paymentId: string;
  /** The request; absent when the workflow is restarted for an existing row. */
  opening?: PartnerPaymentOpening;
  /** The `PaymentState` that the workflow was started with, so that it need not set it again. */
  shown?: 'PENDING';
}

/** The port to the workflows of partners' payments; implemented in `temporal/`, injected. */
export interface PartnerPaymentWorkflows {
  /**
   * Starts the payment's workflow, or joins the running one, and waits at most `waitMs` for its instrument. Null if the
   * wait times out. Throws what the first step refuses, and SERVICE_UNAVAILABLE if Temporal is unavailable.
   */
  startPartnerPayment(
    paymentId: string,
    /** Null for an existing row: the call then joins its workflow or restarts it from the row. */
    opening: PartnerPaymentOpening | null,
    waitMs: number,
  ): Promise<PaymentOrderStatus | null>;
  /** Signals the payment's workflow, or restarts it from its row if none is running. */
  hintPartnerPayment(paymentId: string): Promise<void>;
}

export interface OpenedPartnerPayment extends OpenedOrder {
  /** ISO 8601: when the net leaves `pending`; null while the payment is unpaid, or once it has left. */
  availableAt: string | null;
}

/** The result of a step. */
export interface PartnerPaymentStep {
  status: PaymentOrderStatus;
  /** The webhook deliveries to start. */
  deliveryIds: string[];
  /** ISO 8601, as in `OpenedPartnerPayment`. */
  availableAt: string | null;
}

/** The result of the step that releases a paid net. */
export interface ReleaseStep extends PartnerPaymentStep {
  /** How many milliseconds too early the step ran, by the database's clock; it then did nothing. Absent otherwise. */
  earlyByMs?: number;
}
