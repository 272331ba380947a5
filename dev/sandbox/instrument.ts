import { businessId } from './outbox.ts';

/** A payment request and its one payment method, as the sandbox stores them. */
export interface SandboxInstrument {
  requestId: string;
  methodId: string;
  referenceId: string;
  methodReferenceId: string;
  type: 'VIRTUAL_ACCOUNT' | 'QR_CODE' | 'EWALLET';
  channelCode: string;
  /** Reusable: a payment method by itself, without a payment request. */
  isReusable?: true;
  /** Whole rupiah; 0 for any amount. */
  amount: number;
  description: string | null;
  metadata: object | null;
  /** The account number, the QR payload, the checkout URL, or the request's id for a push wallet. */
  paymentCode: string;
  customerName: string | null;
  mobileNumber: string | null;
  returnUrl: string | null;
  status: 'PENDING' | 'REQUIRES_ACTION' | 'SUCCEEDED' | 'FAILED' | 'EXPIRED';
  methodStatus: 'ACTIVE' | 'INACTIVE' | 'EXPIRED' | 'FAILED';
  failureCode: string | null;
  /** ISO 8601, UTC. */
  expiresAt: string;
  created: string;
  updated: string;
}

/**
 * A successful, failed or pending payment of an instrument: a separate object, whatever the status of the instrument's
 * request.
 */
export interface SandboxPayment {
  id: string;
  amount: number;
  status: 'PENDING' | 'SUCCEEDED' | 'FAILED';
  failureCode: string | null;
  /** The provider's fee. */
  cost: number;
  created: string;
}

/** Wallets without a checkout page: the payer confirms in the app. */
export const pushWallets = new Set(['OVO']);

/** Whether the request still waits for its payment. */
export const isOpen = ({ status }: SandboxInstrument): boolean => status === 'PENDING' || status === 'REQUIRES_ACTION';

function checkoutActions(instrument: SandboxInstrument) {
  if (instrument.type !== 'EWALLET' || pushWallets.has(instrument.channelCode)) return [];
  return ['WEB', 'MOBILE'].map((urlType) => ({
    action: 'AUTH',
    url_type: urlType,
    method: 'GET',
    url: instrument.paymentCode,
    qr_code: null,
  }));
}

/** The payment method in the provider's wire format. */
export function presentMethod(instrument: SandboxInstrument) {
  const { type, channelCode, paymentCode, returnUrl } = instrument;
  const amount = instrument.amount || null;
  return {
    id: instrument.methodId,
    type,
    reusability: instrument.isReusable ? 'MULTIPLE_USE' : 'ONE_TIME_USE',
    status: instrument.methodStatus,
    reference_id: instrument.methodReferenceId,
    description: instrument.isReusable ? instrument.description : null,
    created: instrument.created,
    updated: instrument.updated,
    metadata: null,
    billing_information: null,
    card: null,
    direct_debit: null,
    over_the_counter: null,
    direct_bank_transfer: null,
    virtual_account:
      type === 'VIRTUAL_ACCOUNT'
        ? {
            amount,
            currency: 'IDR',
            min_amount: null,
            max_amount: null,
            channel_code: channelCode,
            channel_properties: {
              customer_name: instrument.customerName,
              virtual_account_number: paymentCode,
              expires_at: instrument.expiresAt,
            },
            alternative_displays: [],
          }
        : null,
    qr_code:
      type === 'QR_CODE'
        ? {
            amount,
            currency: 'IDR',
            channel_code: channelCode,
            channel_properties: { qr_string: paymentCode, expires_at: instrument.expiresAt },
          }
        : null,
    ewallet:
      type === 'EWALLET'
        ? {
            channel_code: channelCode,
            channel_properties: {
              success_return_url: returnUrl,
              failure_return_url: returnUrl,
              cancel_return_url: returnUrl,
              mobile_number: instrument.mobileNumber,
            },
            account: { name: null, account_details: null, balance: null, point_balance: null },
          }
        : null,
  };
}

/** The payment method as its own resource and in its own callbacks. */
export function presentMethodResource(instrument: SandboxInstrument) {
  return {
    ...presentMethod(instrument),
    business_id: businessId,
    country: 'ID',
    customer_id: null,
    customer: null,
    failure_code: instrument.methodStatus === 'FAILED' ? instrument.failureCode : null,
    actions: [],
  };
}

/** The payment request in the provider's wire format. */
export function presentRequest(instrument: SandboxInstrument) {
  return {
    id: instrument.requestId,
    created: instrument.created,
    updated: instrument.updated,
    reference_id: instrument.referenceId,
    business_id: businessId,
    customer_id: null,
    customer: null,
    amount: instrument.amount,
    min_amount: null,
    max_amount: null,
    country: 'ID',
    currency: 'IDR',
    payment_method: presentMethod(instrument),
    description: instrument.description,
    failure_code: instrument.failureCode,
    capture_method: 'AUTOMATIC',
    initiator: null,
    card_verification_results: null,
    status: instrument.status,
    actions: checkoutActions(instrument),
    metadata: instrument.metadata,
    shipping_information: null,
    items: null,
  };
}

/** A payment in the provider's wire format, the same in lists and callbacks. */
export function presentPayment(instrument: SandboxInstrument, payment: SandboxPayment) {
  return {
    id: payment.id,
    payment_request_id: instrument.isReusable ? null : instrument.requestId,
    reference_id: instrument.referenceId,
    customer_id: null,
    currency: 'IDR',
    amount: payment.amount,
    country: 'ID',
    status: payment.status,
    payment_method: presentMethod(instrument),
    channel_properties: null,
    payment_detail: null,
    failure_code: payment.failureCode,
    created: payment.created,
    updated: payment.created,
    metadata: instrument.metadata,
    description: instrument.description,
  };
}
