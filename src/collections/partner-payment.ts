import type { OpeningStamp } from '../openings/opening.ts';
import type { FeeMode } from '../partners/partner.ts';
import type { OpenedOrder } from '../payments/payment-contract.ts';
import { isFinalOrder, type PaymentOrderStatus } from '../payments/payment-order.ts';
import type { Money } from '../shared/money.ts';

/** Pure facts about partners' payments (docs/contract.md 8). */
export const partnerPaymentStatuses = ['pending', 'succeeded', 'failed', 'expired'] as const;
export type PartnerPaymentStatus = (typeof partnerPaymentStatuses)[number];

/** What partners call the states of an instrument, which are those of a payment order. */
export const shownStatuses: Record<PaymentOrderStatus, PartnerPaymentStatus> = {
  PENDING: 'pending',
  WAITING_PAYMENT: 'pending',
  PAID: 'succeeded',
  FAILED: 'failed',
  EXPIRED: 'expired',
};

/** The states behind a shown status. */
export const statesShownAs = (shown: PartnerPaymentStatus): PaymentOrderStatus[] =>
  (Object.keys(shownStatuses) as PaymentOrderStatus[]).filter((status) => shownStatuses[status] === shown);

export const isFinalPayment = isFinalOrder;

export const defaultLifetimeMinutes = 1440;
export const longestLifetimeMinutes = 2880;

/** Where a payment's detail is. */
export const paymentPath = (id: string): string => `/v1/partners/payments/${id}`;

/** The partner's own texts: they travel and rest sealed, in one place. */
export interface PartnerTexts {
  external_ref: string | null;
  customer_name: string | null;
  customer_email: string | null;
  customer_phone: string | null;
  /** Where an e-wallet sends the payer afterwards; absent in what an older release has sealed. */
  return_url?: string | null;
}
export const partnerTextsPlace = (paymentId: string) => ({
  table: 'partner_payments',
  column: 'customer_sealed',
  row: paymentId,
});

/** What a request asks of the workflow: ids and amounts, and texts only sealed (docs/contract.md 9). */
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
  lifetimeMinutes: number;
  requestId: string;
  idempotency: { keyHash: string; fingerprint: string };
  /** Absent in what an older release has started. */
  stamp?: OpeningStamp;
}

/** What the workflow of a payment is started with. */
export interface PartnerPaymentInput {
  paymentId: string;
  /** What the request asked for. Absent when a payment that has its row is looked after again. */
  opening?: PartnerPaymentOpening;
}

/** The workflows of partners' payments, as use cases meet them; made by `temporal/`, passed in. */
export interface PartnerPaymentWorkflows {
  /**
   * Starts the payment's workflow, or joins the one that runs, and waits at most `waitMs` for its instrument. Null when
   * the wait ended without an answer. Refuses what the first step refuses, and with SERVICE_UNAVAILABLE when Temporal
   * is away.
   */
  startPartnerPayment(
    paymentId: string,
    /** Null for a payment that has its row: then its workflow is joined, or started again from the row. */
    opening: PartnerPaymentOpening | null,
    waitMs: number,
  ): Promise<PaymentOrderStatus | null>;
  /** Wakes the payment's workflow, or starts it again from its row when there is none. */
  hintPartnerPayment(paymentId: string): Promise<void>;
}

export interface OpenedPartnerPayment extends OpenedOrder {
  /** ISO 8601: when a paid net leaves `pending`; null while it is not paid, or when it has left. */
  availableAt: string | null;
}

/** What a step made of a payment. */
export interface PartnerPaymentStep {
  status: PaymentOrderStatus;
  /** The webhooks that tell it, to be delivered. Absent in what an older release has answered. */
  deliveryIds?: string[];
  /** The one webhook of an older release's answer. */
  deliveryId?: string | null;
  /** ISO 8601, as in `OpenedPartnerPayment`. */
  availableAt: string | null;
}

/** What a step tells that releases a paid net. */
export interface ReleaseStep extends PartnerPaymentStep {
  /** So many milliseconds too early, by the database's clock: nothing was done. Absent when it was not. */
  earlyByMs?: number;
}
