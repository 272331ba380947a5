import type { OpeningStamp } from '../openings/opening.ts';
import type { FeeMode } from '../partners/partner.ts';
import type { OpenedOrder } from '../payments/payment-contract.ts';
import { isFinalOrder, type PaymentOrderStatus } from '../payments/payment-order.ts';
import type { Money } from '../shared/money.ts';

/** Pure facts about partners' payments (partners.md sections 2 and 3). */
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
}
export const partnerTextsPlace = (paymentId: string) => ({
  table: 'partner_payments',
  column: 'customer_sealed',
  row: paymentId,
});

/** What the workflow is started with: ids and amounts, and texts only sealed (design law 7). */
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

export interface OpenedPartnerPayment extends OpenedOrder {
  /** ISO 8601: when a paid net leaves `pending`; null while it is not paid, or when it has left. */
  availableAt: string | null;
}

/** What a step made of a payment. */
export interface PartnerPaymentStep {
  status: PaymentOrderStatus;
  /** The webhook that tells it, to be delivered. */
  deliveryId: string | null;
  /** ISO 8601, as in `OpenedPartnerPayment`. */
  availableAt: string | null;
}
