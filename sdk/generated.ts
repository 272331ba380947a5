// Generated from the OpenAPI document by sdk/generate.ts; not edited by hand.

export type ListedPayout = {
  id: string;
  /** The platform's own reference. */
  reference: string;
  /** The partner's own reference as sent; null without one. */
  external_ref: string | null;
  status: 'pending' | 'succeeded' | 'failed' | 'reversed';
  is_final: boolean;
  amount: string;
  fee: string;
  /** What reaches the bank. */
  net_amount: string;
  currency: 'IDR';
  bank_code: string;
  created_at: string;
  /** When the money had left to the bank, also of a payout that the bank reversed later; otherwise null. */
  succeeded_at: string | null;
  finalized_at: string | null;
  /** The provider's, passed on; on failed payouts. */
  failure_code?: string;
};

export type PartnerError = {
  error: {
    code: 'REQUEST_INVALID_PAYLOAD' | 'REQUEST_IDEMPOTENCY_KEY_REUSED' | 'AUTH_INVALID_CREDENTIALS' | 'AUTH_PERMISSION_DENIED' | 'RESOURCE_NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'REQUEST_TIMEOUT' | 'PAYLOAD_TOO_LARGE' | 'REQUEST_RATE_LIMITED' | 'INTERNAL' | 'PROVIDER_REFUSED' | 'SERVICE_UNAVAILABLE' | 'PROVIDER_INDETERMINATE' | 'REQUEST_IDEMPOTENCY_KEY_REQUIRED' | 'RESOURCE_NOT_LINKED' | 'AUTH_PARTNER_INACTIVE' | 'PAYMENT_ALREADY_PAID' | 'FUNDS_INSUFFICIENT_BALANCE' | 'FUNDS_LIMIT_EXCEEDED' | 'FUNDS_PAYOUT_SUSPENDED';
    message: string;
    details?: unknown;
  };
  request_id: string;
};

export type PartnerPayment = {
  id: string;
  /** The partner's external_ref when sent, otherwise the payment's id. */
  reference: string;
  /** The partner's own reference as sent; null without one. */
  external_ref: string | null;
  status: 'pending' | 'succeeded' | 'failed' | 'expired';
  is_final: boolean;
  method: 'virtual_account' | 'qris' | 'ewallet';
  channel?: string;
  amount: string;
  fee: string;
  net_amount: string;
  currency: 'IDR';
  /** Virtual account number, QR payload or checkout URL; null while the provider has not made one. */
  payment_code: string | null;
  /** In the answer to creation. */
  status_url?: string;
  expires_at: string;
  created_at: string;
  finalized_at: string | null;
  /** When the net of a paid payment becomes, or became, available for payouts; null before it is paid. */
  available_at: string | null;
  failure_code?: string;
};

export type PartnerTimeline = {
  items: ({
    at: string;
    type: 'request' | 'reservation' | 'provider' | 'callback' | 'ledger' | 'webhook' | 'outcome';
    text: string;
  })[];
  next: {
    at: string | null;
    text: string;
  } | null;
};

export type Payout = {
  id: string;
  /** The platform's own reference. */
  reference: string;
  /** The partner's own reference as sent; null without one. */
  external_ref: string | null;
  status: 'pending' | 'succeeded' | 'failed' | 'reversed';
  is_final: boolean;
  amount: string;
  fee: string;
  /** What reaches the bank. */
  net_amount: string;
  currency: 'IDR';
  bank_code: string;
  created_at: string;
  /** When the money had left to the bank, also of a payout that the bank reversed later; otherwise null. */
  succeeded_at: string | null;
  finalized_at: string | null;
  /** The provider's, passed on; on failed payouts. */
  failure_code?: string;
  bank_account_number: string;
  /** As sent; null without one. */
  beneficiary_name: string | null;
  status_url?: string;
};

export type WebhookDelivery = {
  id: string;
  webhook_id: string;
  type: 'payment.succeeded' | 'payment.failed' | 'payment.expired' | 'payout.succeeded' | 'payout.failed' | 'payout.reversed';
  resource_id: string;
  version: number;
  status: 'pending' | 'delivered' | 'parked';
  attempts: number;
  last_status: number | null;
  last_error: string | null;
  next_attempt_at: string | null;
  delivered_at: string | null;
  created_at: string;
};

export type WebhookPayment = {
  id: string;
  /** The partner's external_ref when sent, otherwise the payment's id. */
  reference: string;
  /** The partner's own reference as sent; null without one. */
  external_ref: string | null;
  status: 'pending' | 'succeeded' | 'failed' | 'expired';
  is_final: boolean;
  method: 'virtual_account' | 'qris' | 'ewallet';
  channel?: string;
  amount: string;
  fee: string;
  net_amount: string;
  currency: 'IDR';
  /** Virtual account number, QR payload or checkout URL; null while the provider has not made one. */
  payment_code: string | null;
  /** In the answer to creation. */
  status_url?: string;
  expires_at: string;
  created_at: string;
  finalized_at: string | null;
  /** When the net of a paid payment becomes, or became, available for payouts; null before it is paid. */
  available_at: string | null;
  failure_code?: string;
  /** Grows with each event of the resource: a lower one came late. */
  version: number;
};

export type WebhookPayout = {
  id: string;
  /** The platform's own reference. */
  reference: string;
  /** The partner's own reference as sent; null without one. */
  external_ref: string | null;
  status: 'pending' | 'succeeded' | 'failed' | 'reversed';
  is_final: boolean;
  amount: string;
  fee: string;
  /** What reaches the bank. */
  net_amount: string;
  currency: 'IDR';
  bank_code: string;
  created_at: string;
  /** When the money had left to the bank, also of a payout that the bank reversed later; otherwise null. */
  succeeded_at: string | null;
  finalized_at: string | null;
  /** The provider's, passed on; on failed payouts. */
  failure_code?: string;
  bank_account_number: string;
  /** As sent; null without one. */
  beneficiary_name: string | null;
  status_url?: string;
  /** Grows with each event of the resource: a lower one came late. */
  version: number;
};

/** Every operation of a partner: its path parameters, query, body and the `data` of its answer. */
export interface Operations {
  /** Read the balance. */
  'GET /v1/partners/balance': {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: {
      balance: string;
      available: string;
      pending: string;
      currency: 'IDR';
    };
  };
  /** List what is open to this partner. */
  'GET /v1/partners/channels': {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: {
      collection: ({
        method: 'virtual_account' | 'qris' | 'ewallet';
        channel?: string;
        fixed: string;
        basis_points: number;
        minimum_amount: string;
        maximum_amount: string;
      })[];
      payout_banks: {
        bank_code: string;
        name: string;
        fixed: string;
        basis_points: number;
        minimum_amount: string;
        maximum_amount: string;
        account_number_min_length: number;
        account_number_max_length: number;
      }[];
    };
  };
  /** Rotate the API key of this call. */
  'POST /v1/partners/keys/rotate': {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: {
      id: string;
      prefix: string;
      permissions: ('collect-payment' | 'read-gateway' | 'request-payout' | 'manage-webhooks' | 'manage-keys')[];
      require_signature_v2: boolean;
      created_at: string;
      valid_until: string | null;
      revoked_at: string | null;
      api_key: string;
      signing_secret: string;
    };
  };
  /** Read the payout limits and what is used of them. */
  'GET /v1/partners/limits': {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: {
      max_payout_amount: {
        maximum: string;
        used: string;
        remaining: string;
      } | null;
      max_daily_amount: {
        maximum: string;
        used: string;
        remaining: string;
      } | null;
      max_hourly_count: {
        maximum: number;
        used: number;
        remaining: number;
      } | null;
    };
  };
  /** List payments, newest first. */
  'GET /v1/partners/payments': {
    params: Record<string, never>;
    query: {
      page?: number;
      limit?: number;
      /** Id of the last row seen; reads on from there in place of `page`. */
      after?: string;
      status?: 'pending' | 'succeeded' | 'failed' | 'expired';
      external_ref?: string;
      /** Inclusive. A date-time, or a bare date: the whole day in UTC+7. */
      from?: string;
      /** Inclusive. A date-time, or a bare date: the whole day in UTC+7. */
      to?: string;
    };
    body: undefined;
    answer: {
      items: PartnerPayment[];
      page: number;
      limit: number;
      total: number;
    };
  };
  /** Create a payment. */
  'POST /v1/partners/payments': {
    params: Record<string, never>;
    query: Record<string, never>;
    body: {
      method: 'virtual_account' | 'qris' | 'ewallet';
      amount: string;
      /** Required for virtual_account and ewallet, omitted for qris. */
      channel?: string | null;
      organization_id?: string | null;
      external_ref?: string | null;
      customer_name?: string | null;
      customer_email?: string | null;
      /** Required for OVO. */
      customer_phone?: string | null;
      expires_in_minutes?: number | null;
    };
    answer: PartnerPayment;
  };
  /** Read a payment. */
  'GET /v1/partners/payments/{id}': {
    params: {
      id: string;
    };
    query: Record<string, never>;
    body: undefined;
    answer: PartnerPayment;
  };
  /** Cancel an open payment. */
  'POST /v1/partners/payments/{id}/cancel': {
    params: {
      id: string;
    };
    query: Record<string, never>;
    body: undefined;
    answer: PartnerPayment;
  };
  /** What happened to a payment, and what happens next. */
  'GET /v1/partners/payments/{id}/timeline': {
    params: {
      id: string;
    };
    query: Record<string, never>;
    body: undefined;
    answer: PartnerTimeline;
  };
  /** List the partner's payouts, newest first. */
  'GET /v1/partners/payouts': {
    params: Record<string, never>;
    query: {
      page?: number;
      limit?: number;
      /** Id of the last row seen; reads on from there in place of `page`. */
      after?: string;
      status?: 'pending' | 'succeeded' | 'failed' | 'reversed';
      external_ref?: string;
      /** Inclusive. A date-time, or a bare date: the whole day in UTC+7. */
      from?: string;
      /** Inclusive. A date-time, or a bare date: the whole day in UTC+7. */
      to?: string;
    };
    body: undefined;
    answer: {
      items: ListedPayout[];
      page: number;
      limit: number;
      total: number;
    };
  };
  /** Pay out to a bank account. */
  'POST /v1/partners/payouts': {
    params: Record<string, never>;
    query: Record<string, never>;
    body: {
      amount: string;
      /** A `bank_code` of `GET /v1/partners/channels`. */
      bank_code: string;
      bank_account_number: string;
      beneficiary_name?: string | null;
      external_ref?: string | null;
    };
    answer: Payout;
  };
  /** Read a payout. */
  'GET /v1/partners/payouts/{id}': {
    params: {
      id: string;
    };
    query: Record<string, never>;
    body: undefined;
    answer: Payout;
  };
  /** What happened to a payout, in plain words, and what happens next. */
  'GET /v1/partners/payouts/{id}/timeline': {
    params: {
      id: string;
    };
    query: Record<string, never>;
    body: undefined;
    answer: PartnerTimeline;
  };
  /** Quote a payment or a payout. */
  'POST /v1/partners/quotes': {
    params: Record<string, never>;
    query: Record<string, never>;
    body: {
      method: 'virtual_account' | 'qris' | 'ewallet' | 'payout';
      amount: string;
      /** Required for virtual_account and ewallet, omitted for qris. */
      channel?: string | null;
      organization_id?: string | null;
      /** Required for payout: a `bank_code` of `GET /v1/partners/channels`. */
      bank_code?: string | null;
    };
    answer: {
      amount: string;
      gross_amount: string;
      fee: string;
      net_amount: string;
      currency: 'IDR';
      quoted_at: string;
    };
  };
  /** List the partner's webhook deliveries, newest first. */
  'GET /v1/partners/webhook-deliveries': {
    params: Record<string, never>;
    query: {
      page?: number;
      limit?: number;
      /** Id of the last row seen; reads on from there in place of `page`. */
      after?: string;
      status?: 'pending' | 'delivered' | 'parked';
      type?: 'payment.succeeded' | 'payment.failed' | 'payment.expired' | 'payout.succeeded' | 'payout.failed' | 'payout.reversed';
      /** Inclusive. A date-time, or a bare date: the whole day in UTC+7. */
      from?: string;
      /** Inclusive. A date-time, or a bare date: the whole day in UTC+7. */
      to?: string;
    };
    body: undefined;
    answer: {
      items: WebhookDelivery[];
      page: number;
      limit: number;
      total: number;
    };
  };
  /** Have a webhook again. */
  'POST /v1/partners/webhook-deliveries/{id}/redeliver': {
    params: {
      id: string;
    };
    query: Record<string, never>;
    body: undefined;
    answer: WebhookDelivery;
  };
}

/** The body of each webhook by its type. */
export interface Webhooks {
  'payment.succeeded': {
    type: 'payment.succeeded';
    timestamp: string;
    data: WebhookPayment;
  };
  'payment.failed': {
    type: 'payment.failed';
    timestamp: string;
    data: WebhookPayment;
  };
  'payment.expired': {
    type: 'payment.expired';
    timestamp: string;
    data: WebhookPayment;
  };
  'payout.succeeded': {
    type: 'payout.succeeded';
    timestamp: string;
    data: WebhookPayout;
  };
  'payout.failed': {
    type: 'payout.failed';
    timestamp: string;
    data: WebhookPayout;
  };
  'payout.reversed': {
    type: 'payout.reversed';
    timestamp: string;
    data: WebhookPayout;
  };
}
