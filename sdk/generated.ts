// Generated from the OpenAPI document by dev/generate-sdk.ts; not edited by hand.

export type BankAccountCheck = {
  /** The id of the result, while it is stored. */
  id: string;
  /** `valid`: the account exists. `invalid`: the bank has no such account. `unknown`: the bank did not respond within a few seconds; retry later. */
  status: 'valid' | 'invalid' | 'unknown';
  /** The name on record at the bank if `name_match` is `match` or `partial`; otherwise null. */
  account_holder: string | null;
  /** How `name` compares with the bank's: `match` for the same words in any order, ignoring case and punctuation, `partial` if at least half of its words of four or more letters appear in the bank's name. Null without `name`, or if the holder is unknown. */
  name_match: 'match' | 'partial' | 'mismatch' | null;
  /** When the provider was asked; results are cached for a day. */
  checked_at: string;
};

export type ChangedWebhookEndpoint = {
  /** Assigned by the platform; never changes. */
  id: string;
  /** The URL for webhooks: public and https. */
  url: string;
  /** The events that it receives; `*` is all of them. */
  events: ('payment.succeeded' | 'payment.failed' | 'payment.expired' | 'payout.succeeded' | 'payout.failed' | 'payout.reversed' | 'refund.succeeded' | 'refund.failed' | 'payout_batch.completed' | 'payment.available' | 'payment.unmatched' | 'instrument.unmatched' | 'payout.delayed' | '*')[];
  /** Events are not queued for a disabled endpoint. */
  status: 'enabled' | 'disabled';
  /** `requested`: through this API. `failing`: no delivery succeeded for three days. Null while it is enabled. */
  disabled_reason: 'requested' | 'failing' | null;
  /** Null while it is enabled. */
  disabled_at: string | null;
  /** When deliveries began to fail; null if the last one succeeded or there was none. */
  failing_since: string | null;
  /** Whether the operator set this endpoint. */
  set_by_operator: boolean;
  /** When it was created. */
  created_at: string;
  /** When it was last changed. */
  updated_at: string;
  /** Likely mistakes: another endpoint has the same URL and also receives each event. */
  warnings: string[];
};

export type CreatedWebhookEndpoint = {
  /** Assigned by the platform; never changes. */
  id: string;
  /** The URL for webhooks: public and https. */
  url: string;
  /** The events that it receives; `*` is all of them. */
  events: ('payment.succeeded' | 'payment.failed' | 'payment.expired' | 'payout.succeeded' | 'payout.failed' | 'payout.reversed' | 'refund.succeeded' | 'refund.failed' | 'payout_batch.completed' | 'payment.available' | 'payment.unmatched' | 'instrument.unmatched' | 'payout.delayed' | '*')[];
  /** Events are not queued for a disabled endpoint. */
  status: 'enabled' | 'disabled';
  /** `requested`: through this API. `failing`: no delivery succeeded for three days. Null while it is enabled. */
  disabled_reason: 'requested' | 'failing' | null;
  /** Null while it is enabled. */
  disabled_at: string | null;
  /** When deliveries began to fail; null if the last one succeeded or there was none. */
  failing_since: string | null;
  /** Whether the operator set this endpoint. */
  set_by_operator: boolean;
  /** When it was created. */
  created_at: string;
  /** When it was last changed. */
  updated_at: string;
  /** In this response only. */
  secret: string;
  /** Likely mistakes: another endpoint has the same URL and also receives each event. */
  warnings: string[];
};

export type Instrument = {
  /** The instrument's id; its payments carry it as `instrument_id`. */
  id: string;
  /** The partner's own reference, as sent; null if there is none. */
  external_ref: string | null;
  /** `active` until it is closed or the provider refuses it; then `closed` permanently. */
  status: 'active' | 'closed';
  /** How the customer pays: `virtual_account`, `qris` or `ewallet`. */
  method: 'virtual_account' | 'qris';
  /** The bank of a virtual account; null for QRIS. */
  channel: string | null;
  /** The exact amount of each payment, in IDR; null for any amount. */
  amount: string | null;
  /** Always `IDR`. */
  currency: 'IDR';
  /** The reusable account number or QR payload; null until the provider has created it. */
  payment_code: string | null;
  /** The customer's name, as sent; null if none. */
  customer_name: string | null;
  /** As you sent it, or null. */
  metadata: Record<string, never> | null;
  /** Why the provider refused it; otherwise null. */
  failure_code: string | null;
  /** When it was created. */
  created_at: string;
  /** When it was closed; null before. */
  closed_at: string | null;
  /** The path to poll; only in the create response. */
  status_url?: string;
};

export type ListedPayout = {
  /** Assigned by the platform; never changes. */
  id: string;
  /** The platform's own reference. */
  reference: string;
  /** The partner's own reference, as sent; null if there is none. */
  external_ref: string | null;
  /** The batch that contained it; null for a single payout. */
  batch_id: string | null;
  /** `pending` until the bank has accepted or refused the money; then `succeeded` or `failed`. A payout that the bank returns later becomes `reversed`. */
  status: 'pending' | 'succeeded' | 'failed' | 'reversed';
  /** Whether the status can no longer change. A payout that succeeded can still be returned by the bank. */
  is_final: boolean;
  /** As requested, in IDR. */
  amount: string;
  /** The platform's fee in IDR, by your fee table at the moment of creation. */
  fee: string;
  /** The amount that reaches the bank. */
  net_amount: string;
  /** Always `IDR`. */
  currency: 'IDR';
  /** When it was created. */
  created_at: string;
  /** When the money was sent to the bank, even if the bank reversed it later; otherwise null. */
  succeeded_at: string | null;
  /** When it reached a final status; null before. */
  finalized_at: string | null;
  /** When a failed or reversed payout was booked because the provider had paid it; otherwise null. */
  booked_at: string | null;
  /** Why the payout failed, such as `INVALID_DESTINATION`; otherwise null. */
  failure_code: string | null;
  /** The short code of the bank, as `GET /v1/partners/channels` lists it. */
  bank_code: string;
  /** The account holder's name, as sent; null if none. */
  beneficiary_name: string | null;
  /** As you sent it, or null. */
  metadata: Record<string, never> | null;
};

export type PartnerError = {
  /** Why the request was refused, or what is unknown. */
  error: {
    /** For programs: branch on this, not on the message. The error catalogue explains what to do about each. */
    code: 'REQUEST_INVALID_PAYLOAD' | 'REQUEST_IDEMPOTENCY_KEY_REUSED' | 'AUTH_INVALID_CREDENTIALS' | 'AUTH_PERMISSION_DENIED' | 'RESOURCE_NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'KEY_ALREADY_ROTATED' | 'REQUEST_TIMEOUT' | 'PAYLOAD_TOO_LARGE' | 'REQUEST_RATE_LIMITED' | 'INTERNAL' | 'PROVIDER_REFUSED' | 'SERVICE_UNAVAILABLE' | 'PROVIDER_INDETERMINATE' | 'REQUEST_IDEMPOTENCY_KEY_REQUIRED' | 'RESOURCE_NOT_LINKED' | 'AUTH_PARTNER_INACTIVE' | 'PAYMENT_ALREADY_PAID' | 'PAYMENT_NOT_PAID' | 'PAYOUT_BATCH_DECIDED' | 'FUNDS_INSUFFICIENT_BALANCE' | 'FUNDS_LIMIT_EXCEEDED' | 'FUNDS_REFUND_EXCEEDED' | 'FUNDS_PAYOUT_SUSPENDED';
    /** For people: what is wrong, beginning with the field if there is one. */
    message: string;
    /** With REQUEST_INVALID_PAYLOAD a list of `{ field, message }`; with FUNDS_LIMIT_EXCEEDED the limit; with FUNDS_INSUFFICIENT_BALANCE `{ available, required }`, with FUNDS_REFUND_EXCEEDED `{ paid, refunded, remaining }`, all in IDR; with PROVIDER_REFUSED `{ payment_id, failure_code }`; with PROVIDER_INDETERMINATE `{ payment_id, status_url }`, the URL to poll; for an instrument, both have `instrument_id` instead. With PAYOUT_BATCH_DECIDED `{ status }`. */
    details?: unknown;
  };
  /** Identifies this request. Quote it when you ask the operator. Also in the header `x-request-id`. */
  request_id: string;
};

export type PartnerPayment = {
  /** Assigned by the platform; never changes. */
  id: string;
  /** The partner's external_ref when sent, otherwise the payment's id. */
  reference: string;
  /** The partner's own reference, as sent; null if there is none. */
  external_ref: string | null;
  /** `pending` until it is paid, declined or expires; then `succeeded`, `failed` or `expired`, which are final. */
  status: 'pending' | 'succeeded' | 'failed' | 'expired';
  /** Whether the status can no longer change. */
  is_final: boolean;
  /** How the customer pays: `virtual_account`, `qris` or `ewallet`. */
  method: 'virtual_account' | 'qris' | 'ewallet';
  /** The bank or wallet, as `GET /v1/partners/channels` lists it. QRIS has none. */
  channel?: string;
  /** The gross in IDR: the amount that the customer pays. */
  amount: string;
  /** The platform's fee in IDR, by your fee table at the moment of creation. */
  fee: string;
  /** The amount owed to you once it is paid, in IDR: the gross less the fee. */
  net_amount: string;
  /** The sum of the payment's pending and successful refunds, in IDR. A failed refund counts only while it may have been made. The remainder of `amount` can still be refunded. */
  refunded_amount: string;
  /** Always `IDR`. */
  currency: 'IDR';
  /** Virtual account number, QR payload or checkout URL; null until the provider has created it, and for OVO, which notifies the customer itself. */
  payment_code: string | null;
  /** Payment instructions for the customer; null until the provider has created them, and once the payment is final. */
  next_action: {
    /** Show the number, draw the QR code, send the customer to the page, or tell them to look at their app. */
    type: 'show_account_number' | 'show_qr' | 'redirect' | 'wait_for_push';
    /** The number, the QR payload or the URL of the page; null if the wallet notifies the customer itself. */
    value: string | null;
  } | null;
  /** As you sent it, or null. */
  metadata: Record<string, never> | null;
  /** The path to poll; only in the create response. */
  status_url?: string;
  /** The reusable instrument that was paid; otherwise null. */
  instrument_id: string | null;
  /** The deadline for the customer. Money that arrives later is held for the operators. */
  expires_at: string | null;
  /** When it was created. */
  created_at: string;
  /** When it reached a final status; null before. */
  finalized_at: string | null;
  /** When you or the operator requested cancellation; null if the payment was paid anyway. */
  cancelled_at: string | null;
  /** When the net amount becomes, or became, available for payouts; null until the payment is paid. */
  available_at: string | null;
  /** On failed payments: the provider's reason, for your logs. */
  failure_code: string | null;
};

export type PartnerTimeline = {
  /** What happened, oldest first. */
  items: ({
    /** When it happened. */
    at: string;
    /** The kind of step. */
    type: 'request' | 'reservation' | 'provider' | 'callback' | 'ledger' | 'webhook' | 'outcome';
    /** In plain words. The wording may change: do not parse it. */
    text: string;
  })[];
  /** What happens next; null when nothing does. */
  next: {
    /** When it happened. */
    at: string | null;
    /** In plain words. The wording may change: do not parse it. */
    text: string;
  } | null;
};

export type Payout = {
  /** Assigned by the platform; never changes. */
  id: string;
  /** The platform's own reference. */
  reference: string;
  /** The partner's own reference, as sent; null if there is none. */
  external_ref: string | null;
  /** The batch that contained it; null for a single payout. */
  batch_id: string | null;
  /** `pending` until the bank has accepted or refused the money; then `succeeded` or `failed`. A payout that the bank returns later becomes `reversed`. */
  status: 'pending' | 'succeeded' | 'failed' | 'reversed';
  /** Whether the status can no longer change. A payout that succeeded can still be returned by the bank. */
  is_final: boolean;
  /** As requested, in IDR. */
  amount: string;
  /** The platform's fee in IDR, by your fee table at the moment of creation. */
  fee: string;
  /** The amount that reaches the bank. */
  net_amount: string;
  /** Always `IDR`. */
  currency: 'IDR';
  /** When it was created. */
  created_at: string;
  /** When the money was sent to the bank, even if the bank reversed it later; otherwise null. */
  succeeded_at: string | null;
  /** When it reached a final status; null before. */
  finalized_at: string | null;
  /** When a failed or reversed payout was booked because the provider had paid it; otherwise null. */
  booked_at: string | null;
  /** Why the payout failed, such as `INVALID_DESTINATION`; otherwise null. */
  failure_code: string | null;
  /** The short code of the bank, as `GET /v1/partners/channels` lists it. */
  bank_code: string;
  /** The account holder's name, as sent; null if none. */
  beneficiary_name: string | null;
  /** As you sent it, or null. */
  metadata: Record<string, never> | null;
  /** Digits only, as the bank prints it. */
  bank_account_number: string;
  /** The path to poll. */
  status_url?: string;
};

export type PayoutBatch = {
  /** The batch's id. */
  id: string;
  /** The partner's own reference, as sent; null if there is none. */
  external_ref: string | null;
  /** `needs_approval` until it is approved or rejected, or 72 hours have passed; then `processing`, `rejected` or `lapsed`. `completed` once every item is final. */
  status: 'needs_approval' | 'processing' | 'rejected' | 'lapsed' | 'completed';
  /** Whether the status is final. */
  is_final: boolean;
  /** The number of items. */
  count: number;
  /** The sum of its items' amounts, in IDR. */
  total_amount: string;
  /** The sum of the items' fees in IDR, as of creation. */
  total_fee: string;
  /** Always `IDR`. */
  currency: 'IDR';
  /** As you sent it, or null. */
  metadata: Record<string, never> | null;
  /** When it lapses without approval. */
  lapses_at: string;
  /** When it was created. */
  created_at: string;
  /** When it was approved or rejected; null before. */
  decided_at: string | null;
  /** When it reached its final status; null before. */
  finalized_at: string | null;
  /** The path to poll; only in the create response. */
  status_url?: string;
};

export type PayoutBatchItem = {
  /** The id of its payout, which exists once the batch is approved. */
  id: string;
  /** The batch. */
  batch_id: string;
  /** The platform's own reference. */
  reference: string;
  /** The partner's own reference, as sent. */
  external_ref: string;
  /** The batch's status until it is approved, then the payout's. */
  status: 'needs_approval' | 'rejected' | 'lapsed' | 'pending' | 'succeeded' | 'failed' | 'reversed';
  /** Whether the status is final; a bank can still return a successful payout. */
  is_final: boolean;
  /** As requested, in IDR. */
  amount: string;
  /** The platform's fee in IDR, by your fee table at the moment of creation. */
  fee: string;
  /** The amount that reaches the bank. */
  net_amount: string;
  /** Always `IDR`. */
  currency: 'IDR';
  /** The short code of the bank, as `GET /v1/partners/channels` lists it. */
  bank_code: string;
  /** Digits only, as the bank prints it. */
  bank_account_number: string;
  /** The account holder's name, as sent; null if none. */
  beneficiary_name: string | null;
  /** As you sent it, or null. */
  metadata: Record<string, never> | null;
  /** Why the payout failed, such as `INVALID_DESTINATION`; otherwise null. */
  failure_code: string | null;
  /** When the payout was created; before that, when the batch was. */
  created_at: string;
  /** When the money was sent to the bank; otherwise null. */
  succeeded_at: string | null;
  /** When the payout reached its final status; null before. */
  finalized_at: string | null;
  /** When a failed or reversed payout was booked because the provider had paid it; otherwise null. */
  booked_at: string | null;
};

export type Refund = {
  /** Assigned by the platform; never changes. */
  id: string;
  /** The refunded payment. */
  payment_id: string;
  /** The platform's own reference. */
  reference: string;
  /** `pending` until the payer has the money or it failed; then `succeeded` or `failed`. A successful refund that the bank returns becomes `failed`. */
  status: 'pending' | 'succeeded' | 'failed';
  /** Whether the status can no longer change. A payout that succeeded can still be returned by the bank. */
  is_final: boolean;
  /** The refunded amount, in whole rupiah. */
  amount: string;
  /** Always `IDR`. */
  currency: 'IDR';
  /** As you sent it. */
  reason: string;
  /** Null for a refund to the wallet that paid. */
  bank_code: string | null;
  /** Null for a refund to the wallet that paid. */
  bank_account_number: string | null;
  /** The account holder's name, as sent; null if none. */
  beneficiary_name: string | null;
  /** As you sent it, or null. */
  metadata: Record<string, never> | null;
  /** Why the refund failed, such as `RETURNED_BY_BANK` if the bank returned it; otherwise null. */
  failure_code: string | null;
  /** When it was created. */
  created_at: string;
  /** When it reached a final status; null before. */
  finalized_at: string | null;
  /** When a failed refund was booked because the provider had paid it; otherwise null. */
  booked_at: string | null;
  /** The path to poll; only in the create response. */
  status_url?: string;
};

export type WebhookDelivery = {
  /** Identifies the delivery. */
  id: string;
  /** The endpoint that receives it. */
  endpoint_id: string;
  /** The `webhook-id` sent to your receiver, the same for every attempt. */
  webhook_id: string;
  /** What happened. */
  type: 'payment.succeeded' | 'payment.failed' | 'payment.expired' | 'payout.succeeded' | 'payout.failed' | 'payout.reversed' | 'refund.succeeded' | 'refund.failed' | 'payout_batch.completed' | 'payment.available' | 'payment.unmatched' | 'instrument.unmatched' | 'payout.delayed' | 'endpoint.test';
  /** The id of the payment, payout, refund, batch or instrument that it reports. */
  resource_id: string;
  /** Increases with each event of the resource: of two webhooks, use the one with the higher version. */
  version: number;
  /** `pending` while it is retried, `delivered` after a 2xx, `parked` after three days of attempts. */
  status: 'pending' | 'delivered' | 'parked';
  /** The number of attempts. */
  attempts: number;
  /** The HTTP status of the last attempt; null without a response. */
  last_status: number | null;
  /** Why the last attempt failed; otherwise null. */
  last_error: string | null;
  /** When the next attempt is due; null if there is none. */
  next_attempt_at: string | null;
  /** When it was delivered; null before. */
  delivered_at: string | null;
  /** When it was created. */
  created_at: string;
};

export type WebhookDeliveryWithBody = {
  /** Assigned by the platform; never changes. */
  id: string;
  /** Only deliveries to this endpoint. */
  endpoint_id: string;
  /** The `webhook-id` sent to your receiver, the same for every attempt. */
  webhook_id: string;
  /** What happened. */
  type: 'payment.succeeded' | 'payment.failed' | 'payment.expired' | 'payout.succeeded' | 'payout.failed' | 'payout.reversed' | 'refund.succeeded' | 'refund.failed' | 'payout_batch.completed' | 'payment.available' | 'payment.unmatched' | 'instrument.unmatched' | 'payout.delayed' | 'endpoint.test';
  /** The id of the payment, payout, refund, batch or instrument that it reports. */
  resource_id: string;
  /** Increases with each event of the resource: of two webhooks, use the one with the higher version. */
  version: number;
  /** `pending` while it is retried, `delivered` after a 2xx, `parked` after three days of attempts. */
  status: 'pending' | 'delivered' | 'parked';
  /** The number of attempts. */
  attempts: number;
  /** The HTTP status of the last attempt; null without a response. */
  last_status: number | null;
  /** Why the last attempt failed; otherwise null. */
  last_error: string | null;
  /** When the next attempt is due; null if there is none. */
  next_attempt_at: string | null;
  /** When it was delivered; null before. */
  delivered_at: string | null;
  /** When it was created. */
  created_at: string;
  /** The exact bytes sent. In development only. */
  body?: string;
};

export type WebhookEndpoint = {
  /** Assigned by the platform; never changes. */
  id: string;
  /** The URL for webhooks: public and https. */
  url: string;
  /** The events that it receives; `*` is all of them. */
  events: ('payment.succeeded' | 'payment.failed' | 'payment.expired' | 'payout.succeeded' | 'payout.failed' | 'payout.reversed' | 'refund.succeeded' | 'refund.failed' | 'payout_batch.completed' | 'payment.available' | 'payment.unmatched' | 'instrument.unmatched' | 'payout.delayed' | '*')[];
  /** Events are not queued for a disabled endpoint. */
  status: 'enabled' | 'disabled';
  /** `requested`: through this API. `failing`: no delivery succeeded for three days. Null while it is enabled. */
  disabled_reason: 'requested' | 'failing' | null;
  /** Null while it is enabled. */
  disabled_at: string | null;
  /** When deliveries began to fail; null if the last one succeeded or there was none. */
  failing_since: string | null;
  /** Whether the operator set this endpoint. */
  set_by_operator: boolean;
  /** When it was created. */
  created_at: string;
  /** When it was last changed. */
  updated_at: string;
};

export type WebhookEndpointWithSecret = {
  /** Assigned by the platform; never changes. */
  id: string;
  /** The URL for webhooks: public and https. */
  url: string;
  /** The events that it receives; `*` is all of them. */
  events: ('payment.succeeded' | 'payment.failed' | 'payment.expired' | 'payout.succeeded' | 'payout.failed' | 'payout.reversed' | 'refund.succeeded' | 'refund.failed' | 'payout_batch.completed' | 'payment.available' | 'payment.unmatched' | 'instrument.unmatched' | 'payout.delayed' | '*')[];
  /** Events are not queued for a disabled endpoint. */
  status: 'enabled' | 'disabled';
  /** `requested`: through this API. `failing`: no delivery succeeded for three days. Null while it is enabled. */
  disabled_reason: 'requested' | 'failing' | null;
  /** Null while it is enabled. */
  disabled_at: string | null;
  /** When deliveries began to fail; null if the last one succeeded or there was none. */
  failing_since: string | null;
  /** Whether the operator set this endpoint. */
  set_by_operator: boolean;
  /** When it was created. */
  created_at: string;
  /** When it was last changed. */
  updated_at: string;
  /** In this response only. */
  secret: string;
};

export type WebhookPayment = {
  /** Assigned by the platform; never changes. */
  id: string;
  /** The partner's external_ref when sent, otherwise the payment's id. */
  reference: string;
  /** The partner's own reference, as sent; null if there is none. */
  external_ref: string | null;
  /** `pending` until it is paid, declined or expires; then `succeeded`, `failed` or `expired`, which are final. */
  status: 'pending' | 'succeeded' | 'failed' | 'expired';
  /** Whether the status can no longer change. A payout that succeeded can still be returned by the bank. */
  is_final: boolean;
  /** How the customer pays: `virtual_account`, `qris` or `ewallet`. */
  method: 'virtual_account' | 'qris' | 'ewallet';
  /** The bank or wallet, as `GET /v1/partners/channels` lists it. QRIS has none. */
  channel?: string;
  /** IDR as a decimal string, e.g. "50000" or "50000.0000". Never compute with it as a floating-point number. */
  amount: string;
  /** The platform's fee in IDR, by your fee table at the moment of creation. */
  fee: string;
  /** For a payment, the amount owed to you; for a payout, the amount that reaches the bank; in IDR. */
  net_amount: string;
  /** The sum of the payment's pending and successful refunds, in IDR. A failed refund counts only while it may have been made. The remainder of `amount` can still be refunded. */
  refunded_amount: string;
  /** Always `IDR`. */
  currency: 'IDR';
  /** Virtual account number, QR payload or checkout URL; null until the provider has created it, and for OVO, which notifies the customer itself. */
  payment_code: string | null;
  /** Payment instructions for the customer; null until the provider has created them, and once the payment is final. */
  next_action: {
    /** Show the number, draw the QR code, send the customer to the page, or tell them to look at their app. */
    type: 'show_account_number' | 'show_qr' | 'redirect' | 'wait_for_push';
    /** The number, the QR payload or the URL of the page; null if the wallet notifies the customer itself. */
    value: string | null;
  } | null;
  /** As you sent it, or null. */
  metadata: Record<string, never> | null;
  /** The path to poll; only in the create response. */
  status_url?: string;
  /** The reusable instrument that was paid; otherwise null. */
  instrument_id: string | null;
  /** The deadline for the customer. Money that arrives later is held for the operators. */
  expires_at: string | null;
  /** When it was created. */
  created_at: string;
  /** When it reached a final status; null before. */
  finalized_at: string | null;
  /** When you or the operator requested cancellation; null if the payment was paid anyway. */
  cancelled_at: string | null;
  /** When the net amount becomes, or became, available for payouts; null until the payment is paid. */
  available_at: string | null;
  /** On failed payments: the provider's reason, for your logs. */
  failure_code: string | null;
  /** Increases with each event of the resource; a lower one arrived late. */
  version: number;
};

export type WebhookPayout = {
  /** Assigned by the platform; never changes. */
  id: string;
  /** The platform's own reference. */
  reference: string;
  /** The partner's own reference, as sent; null if there is none. */
  external_ref: string | null;
  /** The batch that contained it; null for a single payout. */
  batch_id: string | null;
  /** `pending` until the bank has accepted or refused the money; then `succeeded` or `failed`. A payout that the bank returns later becomes `reversed`. */
  status: 'pending' | 'succeeded' | 'failed' | 'reversed';
  /** Whether the status can no longer change. A payout that succeeded can still be returned by the bank. */
  is_final: boolean;
  /** IDR as a decimal string, e.g. "50000" or "50000.0000". Never compute with it as a floating-point number. */
  amount: string;
  /** The platform's fee in IDR, by your fee table at the moment of creation. */
  fee: string;
  /** The amount that reaches the bank. */
  net_amount: string;
  /** Always `IDR`. */
  currency: 'IDR';
  /** When it was created. */
  created_at: string;
  /** When the money was sent to the bank, even if the bank reversed it later; otherwise null. */
  succeeded_at: string | null;
  /** When it reached a final status; null before. */
  finalized_at: string | null;
  /** When a failed or reversed payout was booked because the provider had paid it; otherwise null. */
  booked_at: string | null;
  /** Why the payout failed, such as `INVALID_DESTINATION`; otherwise null. */
  failure_code: string | null;
  /** The short code of the bank, as `GET /v1/partners/channels` lists it. */
  bank_code: string;
  /** The account holder's name, as sent; null if none. */
  beneficiary_name: string | null;
  /** As you sent it, or null. */
  metadata: Record<string, never> | null;
  /** Digits only, as the bank prints it. */
  bank_account_number: string;
  /** The path to poll. */
  status_url?: string;
  /** Increases with each event of the resource; a lower one arrived late. */
  version: number;
};

export type WebhookPayoutBatch = {
  /** The batch's id. */
  id: string;
  /** The partner's own reference, as sent; null if there is none. */
  external_ref: string | null;
  /** `needs_approval` until it is approved or rejected, or 72 hours have passed; then `processing`, `rejected` or `lapsed`. `completed` once every item is final. */
  status: 'needs_approval' | 'processing' | 'rejected' | 'lapsed' | 'completed';
  /** Whether the status is final. */
  is_final: boolean;
  /** The number of items. */
  count: number;
  /** The sum of its items' amounts, in IDR. */
  total_amount: string;
  /** The sum of the items' fees in IDR, as of creation. */
  total_fee: string;
  /** Always `IDR`. */
  currency: 'IDR';
  /** As you sent it, or null. */
  metadata: Record<string, never> | null;
  /** When it lapses without approval. */
  lapses_at: string;
  /** When it was created. */
  created_at: string;
  /** When it was approved or rejected; null before. */
  decided_at: string | null;
  /** When it reached its final status; null before. */
  finalized_at: string | null;
  /** The path to poll; only in the create response. */
  status_url?: string;
  /** Increases with each event of the resource; a lower one arrived late. */
  version: number;
};

export type WebhookRefund = {
  /** Assigned by the platform; never changes. */
  id: string;
  /** The refunded payment. */
  payment_id: string;
  /** The platform's own reference. */
  reference: string;
  /** `pending` until the payer has the money or it failed; then `succeeded` or `failed`. A successful refund that the bank returns becomes `failed`. */
  status: 'pending' | 'succeeded' | 'failed';
  /** Whether the status can no longer change. A payout that succeeded can still be returned by the bank. */
  is_final: boolean;
  /** IDR as a decimal string, e.g. "50000" or "50000.0000". Never compute with it as a floating-point number. */
  amount: string;
  /** Always `IDR`. */
  currency: 'IDR';
  /** As you sent it. */
  reason: string;
  /** Null for a refund to the wallet that paid. */
  bank_code: string | null;
  /** Null for a refund to the wallet that paid. */
  bank_account_number: string | null;
  /** The account holder's name, as sent; null if none. */
  beneficiary_name: string | null;
  /** As you sent it, or null. */
  metadata: Record<string, never> | null;
  /** Why the refund failed, such as `RETURNED_BY_BANK` if the bank returned it; otherwise null. */
  failure_code: string | null;
  /** When it was created. */
  created_at: string;
  /** When it reached a final status; null before. */
  finalized_at: string | null;
  /** When a failed refund was booked because the provider had paid it; otherwise null. */
  booked_at: string | null;
  /** The path to poll; only in the create response. */
  status_url?: string;
  /** Increases with each event of the resource; a lower one arrived late. */
  version: number;
};

export type WebhookTest = {
  /** Assigned by the platform; never changes. */
  id: string;
  /** The URL for webhooks: public and https. */
  url: string;
  /** The events that it receives; `*` is all of them. */
  events: ('payment.succeeded' | 'payment.failed' | 'payment.expired' | 'payout.succeeded' | 'payout.failed' | 'payout.reversed' | 'refund.succeeded' | 'refund.failed' | 'payout_batch.completed' | 'payment.available' | 'payment.unmatched' | 'instrument.unmatched' | 'payout.delayed' | '*')[];
  /** Events are not queued for a disabled endpoint. */
  status: 'enabled' | 'disabled';
  /** `requested`: through this API. `failing`: no delivery succeeded for three days. Null while it is enabled. */
  disabled_reason: 'requested' | 'failing' | null;
  /** Null while it is enabled. */
  disabled_at: string | null;
  /** When deliveries began to fail; null if the last one succeeded or there was none. */
  failing_since: string | null;
  /** Whether the operator set this endpoint. */
  set_by_operator: boolean;
  /** When it was created. */
  created_at: string;
  /** When it was last changed. */
  updated_at: string;
  /** Increases with each event of the resource; a lower one arrived late. */
  version: number;
};

export type WebhookUnmatchedInstrument = {
  /** The instrument's id; its payments carry it as `instrument_id`. */
  id: string;
  /** The partner's own reference, as sent; null if there is none. */
  external_ref: string | null;
  /** `active` until it is closed or the provider refuses it; then `closed` permanently. */
  status: 'active' | 'closed';
  /** How the customer pays: `virtual_account`, `qris` or `ewallet`. */
  method: 'virtual_account' | 'qris';
  /** The bank of a virtual account; null for QRIS. */
  channel: string | null;
  /** The exact amount of each payment, in IDR; null for any amount. */
  amount: string | null;
  /** Always `IDR`. */
  currency: 'IDR';
  /** The reusable account number or QR payload; null until the provider has created it. */
  payment_code: string | null;
  /** The customer's name, as sent; null if none. */
  customer_name: string | null;
  /** As you sent it, or null. */
  metadata: Record<string, never> | null;
  /** Why the provider refused it; otherwise null. */
  failure_code: string | null;
  /** When it was created. */
  created_at: string;
  /** When it was closed; null before. */
  closed_at: string | null;
  /** The path to poll; only in the create response. */
  status_url?: string;
  /** Increases with each event of the resource; a lower one arrived late. */
  version: number;
  /** The money that arrived. Operators decide what happens to it. */
  unmatched: {
    /** The amount that arrived, in IDR. */
    amount: string;
    /** `late`: after closing. `wrong_amount`: not the fixed amount, or beyond the limits of the channel. */
    reason: 'late' | 'wrong_amount';
  };
};

export type WebhookUnmatchedPayment = {
  /** Assigned by the platform; never changes. */
  id: string;
  /** The partner's external_ref when sent, otherwise the payment's id. */
  reference: string;
  /** The partner's own reference, as sent; null if there is none. */
  external_ref: string | null;
  /** Unchanged: money that is not part of a payment does not affect it. */
  status: 'pending' | 'succeeded' | 'failed' | 'expired';
  /** Whether the status can no longer change. A payout that succeeded can still be returned by the bank. */
  is_final: boolean;
  /** How the customer pays: `virtual_account`, `qris` or `ewallet`. */
  method: 'virtual_account' | 'qris' | 'ewallet';
  /** The bank or wallet, as `GET /v1/partners/channels` lists it. QRIS has none. */
  channel?: string;
  /** IDR: for the payment, the amount due from the customer; for `unmatched`, the amount that arrived. */
  amount: string;
  /** The platform's fee in IDR, by your fee table at the moment of creation. */
  fee: string;
  /** For a payment, the amount owed to you; for a payout, the amount that reaches the bank; in IDR. */
  net_amount: string;
  /** The sum of the payment's pending and successful refunds, in IDR. A failed refund counts only while it may have been made. The remainder of `amount` can still be refunded. */
  refunded_amount: string;
  /** Always `IDR`. */
  currency: 'IDR';
  /** Virtual account number, QR payload or checkout URL; null until the provider has created it, and for OVO, which notifies the customer itself. */
  payment_code: string | null;
  /** Payment instructions for the customer; null until the provider has created them, and once the payment is final. */
  next_action: {
    /** Show the number, draw the QR code, send the customer to the page, or tell them to look at their app. */
    type: 'show_account_number' | 'show_qr' | 'redirect' | 'wait_for_push';
    /** The number, the QR payload or the URL of the page; null if the wallet notifies the customer itself. */
    value: string | null;
  } | null;
  /** As you sent it, or null. */
  metadata: Record<string, never> | null;
  /** The path to poll; only in the create response. */
  status_url?: string;
  /** The reusable instrument that was paid; otherwise null. */
  instrument_id: string | null;
  /** The deadline for the customer. Money that arrives later is held for the operators. */
  expires_at: string | null;
  /** When it was created. */
  created_at: string;
  /** When it reached a final status; null before. */
  finalized_at: string | null;
  /** When you or the operator requested cancellation; null if the payment was paid anyway. */
  cancelled_at: string | null;
  /** When the net amount becomes, or became, available for payouts; null until the payment is paid. */
  available_at: string | null;
  /** On failed payments: the provider's reason, for your logs. */
  failure_code: string | null;
  /** Increases with each event of the resource; a lower one arrived late. */
  version: number;
  /** The money that arrived. Operators decide what happens to it; the payment does not change. */
  unmatched: {
    /** IDR: for the payment, the amount due from the customer; for `unmatched`, the amount that arrived. */
    amount: string;
    /** `late`: after the payment was final. `double`: it was already paid. `wrong_amount`: not exactly its amount. */
    reason: 'late' | 'double' | 'wrong_amount';
  };
};

/** Every operation of a partner: its path parameters, query, body and the `data` of its answer. */
export interface Operations {
  /** Read the balance. */
  'GET /v1/partners/balance': {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: {
      /** The total owed to you in IDR: `available` plus `pending`. */
      balance: string;
      /** The amount available for payouts and refunds, in IDR. */
      available: string;
      /** Payments not settled yet, and money reserved for pending payouts and refunds, in IDR. */
      pending: string;
      /** Always `IDR`. */
      currency: 'IDR';
    };
  };
  /** Check who holds a bank account. */
  'POST /v1/partners/bank-account-checks': {
    params: Record<string, never>;
    query: Record<string, never>;
    body: {
      /** A `bank_code` of `GET /v1/partners/channels`. */
      bank_code: string;
      /** The account to look up. */
      bank_account_number: string;
      /** The expected holder. */
      name?: string | null;
    };
    answer: BankAccountCheck;
  };
  /** List the channels open to this partner. */
  'GET /v1/partners/channels': {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: {
      /** How your fees are charged, for every channel and bank: `DEDUCTED` from the amount that you send, or `ADDED` to it. Agreed with the operator. */
      fee_mode: 'DEDUCTED' | 'ADDED';
      /** The channels by which you can collect. */
      collection: ({
        /** How the customer pays: `virtual_account`, `qris` or `ewallet`. */
        method: 'virtual_account' | 'qris' | 'ewallet';
        /** The bank or wallet, as `GET /v1/partners/channels` lists it. QRIS has none. */
        channel?: string;
        /** The fixed part of the fee in IDR. */
        fixed: string;
        /** The proportional part of the fee, in basis points of the amount: 150 is 1.5 %. */
        basis_points: number;
        /** The minimum `amount`, given your fee; in IDR. */
        minimum_amount: string;
        /** The maximum that a customer can pay, or that can reach the bank, at once; in IDR. */
        maximum_amount: string;
        /** Whether the provider can refund a payment to the wallet that paid it. Otherwise a refund is a transfer to a bank account that you name. */
        refundable: boolean;
        /** Whether partial refunds to the wallet are possible; if false, they are transfers. */
        refundable_in_part: boolean;
        /** How many days after payment a refund to the wallet is possible; later refunds are transfers. 0 if never. */
        refund_window_days: number;
      })[];
      /** The banks to which you can pay out. */
      payout_banks: {
        /** The short code of the bank, as `GET /v1/partners/channels` lists it. */
        bank_code: string;
        /** The display name. */
        name: string;
        /** The fixed part of the fee in IDR. */
        fixed: string;
        /** The proportional part of the fee, in basis points of the amount: 150 is 1.5 %. */
        basis_points: number;
        /** The minimum `amount`, given your fee; in IDR. */
        minimum_amount: string;
        /** The maximum that a customer can pay, or that can reach the bank, at once; in IDR. */
        maximum_amount: string;
        /** The minimum number of digits of an account number at this bank. */
        account_number_min_length: number;
        /** The maximum number of digits of an account number at this bank. */
        account_number_max_length: number;
      }[];
    };
  };
  /** List instruments, newest first. */
  'GET /v1/partners/instruments': {
    params: Record<string, never>;
    query: {
      /** The page, from 1. A page past the last is empty. */
      page?: number;
      /** Rows per page, at most 100. */
      limit?: number;
      /** Continues the list, in place of `page`: the `next` of the previous page, or the id of its last row, so that new rows neither repeat nor hide others. A `next` keeps working when that row is deleted; an id that is not a row of yours in this list is refused. */
      after?: string;
      /** Only instruments with this status. */
      status?: 'active' | 'closed';
      /** Only instruments with exactly this reference of yours. */
      external_ref?: string;
      /** From this instant on, ISO 8601. A bare date is the beginning of that day in UTC+7. */
      from?: string;
      /** Until this instant, ISO 8601. A bare date is the end of that day in UTC+7. */
      to?: string;
    };
    body: undefined;
    answer: {
      /** The rows of this page, newest first. */
      items: Instrument[];
      /** The page, from 1. */
      page: number;
      /** The maximum number of rows per page. */
      limit: number;
      /** The number of rows on all pages. */
      total: number;
      /** The `after` of the next page. Absent when no row follows. */
      next?: string;
    };
  };
  /** Create a reusable account number or QR code. */
  'POST /v1/partners/instruments': {
    params: Record<string, never>;
    query: Record<string, never>;
    body: {
      /** How customers pay. */
      method: 'virtual_account' | 'qris';
      /** Required for virtual_account, omitted for qris. */
      channel?: string | null;
      /** A whole amount in IDR. Without it the customer may pay any amount. */
      amount?: string | null;
      /** Your own reference, stored as sent, up to 128 characters. It need not be unique; lists can filter by it. */
      external_ref?: string | null;
      /** Shown to the customer by banks that show a name. */
      customer_name?: string | null;
      /** Your own data: up to 20 texts under keys of your choice, shown wherever the resource is, webhooks included. It is encrypted and later deleted, as names are. */
      metadata?: Record<string, never> | null;
    };
    answer: Instrument;
  };
  /** Read an instrument. */
  'GET /v1/partners/instruments/{id}': {
    params: {
      /** Assigned by the platform; never changes. */
      id: string;
    };
    query: Record<string, never>;
    body: undefined;
    answer: Instrument;
  };
  /** Close an instrument. */
  'POST /v1/partners/instruments/{id}/close': {
    params: {
      /** Assigned by the platform; never changes. */
      id: string;
    };
    query: Record<string, never>;
    body: undefined;
    answer: Instrument;
  };
  /** Rotate the API key of this call. */
  'POST /v1/partners/keys/rotate': {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: {
      /** Assigned by the platform; never changes. */
      id: string;
      /** The beginning of the key, to recognize it. */
      prefix: string;
      /** What the key may do. */
      permissions: ('collect-payment' | 'read-gateway' | 'request-payout' | 'approve-payout' | 'refund-payment' | 'manage-webhooks' | 'manage-keys')[];
      /** Whether calls with this key must carry the signature over the whole request. */
      require_signature_v2: boolean;
      /** When it was created. */
      created_at: string;
      /** When a rotated key stops working; otherwise null. */
      valid_until: string | null;
      /** When the key was revoked; otherwise null. */
      revoked_at: string | null;
      /** Sent as `Authorization: Bearer`. Shown only once. */
      api_key: string;
      /** Signs your requests. Shown only once. */
      signing_secret: string;
    };
  };
  /** Read the payout limits and current usage. */
  'GET /v1/partners/limits': {
    params: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: {
      /** The maximum amount of one payout; null if no limits are set. */
      max_payout_amount: {
        /** The limit. */
        maximum: string;
        /** How much of the limit is used. */
        used: string;
        /** How much of the limit remains. */
        remaining: string;
      } | null;
      /** The maximum total of payouts in the last 24 hours; null if no limits are set. */
      max_daily_amount: {
        /** The limit. */
        maximum: string;
        /** How much of the limit is used. */
        used: string;
        /** How much of the limit remains. */
        remaining: string;
      } | null;
      /** The maximum number of payouts in the last hour; null if no limits are set. */
      max_hourly_count: {
        /** The limit. */
        maximum: number;
        /** How much of the limit is used. */
        used: number;
        /** How much of the limit remains. */
        remaining: number;
      } | null;
    };
  };
  /** List payments, newest first. */
  'GET /v1/partners/payments': {
    params: Record<string, never>;
    query: {
      /** The page, from 1. A page past the last is empty. */
      page?: number;
      /** Rows per page, at most 100. */
      limit?: number;
      /** Continues the list, in place of `page`: the `next` of the previous page, or the id of its last row, so that new rows neither repeat nor hide others. A `next` keeps working when that row is deleted; an id that is not a row of yours in this list is refused. */
      after?: string;
      /** Only items with this status. */
      status?: 'pending' | 'succeeded' | 'failed' | 'expired';
      /** Only items with exactly this reference of yours. */
      external_ref?: string;
      /** Only payments with exactly this `reference`. */
      reference?: string;
      /** How the customer pays: `virtual_account`, `qris` or `ewallet`. */
      method?: 'virtual_account' | 'qris' | 'ewallet';
      /** The bank or wallet, as `GET /v1/partners/channels` lists it. QRIS has none. */
      channel?: string;
      /** The linked organization for which the money is collected; your own if absent. */
      organization_id?: string;
      /** Only payments to this reusable instrument. */
      instrument_id?: string;
      /** From this instant on, ISO 8601. A bare date is the beginning of that day in UTC+7. */
      from?: string;
      /** Until this instant, ISO 8601. A bare date is the end of that day in UTC+7. */
      to?: string;
    };
    body: undefined;
    answer: {
      /** The rows of this page, newest first. */
      items: PartnerPayment[];
      /** The page, from 1. */
      page: number;
      /** The maximum number of rows per page. */
      limit: number;
      /** The number of rows on all pages. */
      total: number;
      /** The `after` of the next page. Absent when no row follows. */
      next?: string;
    };
  };
  /** Create a payment. */
  'POST /v1/partners/payments': {
    params: Record<string, never>;
    query: Record<string, never>;
    body: {
      /** How the customer pays: `virtual_account`, `qris` or `ewallet`. */
      method: 'virtual_account' | 'qris' | 'ewallet';
      /** IDR. With fee mode DEDUCTED the customer pays this; with ADDED the fee is added. The total that the customer pays must be whole rupiah. */
      amount: string;
      /** Required for virtual_account and ewallet, omitted for qris. */
      channel?: string | null;
      /** The linked organization for which the money is collected; your own if absent. */
      organization_id?: string | null;
      /** Your own reference, stored as sent, up to 128 characters. It need not be unique; lists can filter by it. */
      external_ref?: string | null;
      /** Shown to the customer by banks and wallets that show a name. */
      customer_name?: string | null;
      /** The customer's e-mail address; we send nothing to it. */
      customer_email?: string | null;
      /** Required for OVO, which notifies this Indonesian mobile number: 08..., 628... or +628.... Spaces, dots, dashes and parentheses are ignored. */
      customer_phone?: string | null;
      /** How long the customer can pay, 1 to 2,880 minutes. The default is a day. */
      expires_in_minutes?: number | null;
      /** The URL to which an e-wallet's checkout redirects the customer, paid or not; read the payment for its status. By default, a page of ours that shows status and amount. Other methods do not redirect. */
      return_url?: string | null;
      /** Your own data: up to 20 texts under keys of your choice, shown wherever the resource is, webhooks included. It is encrypted and later deleted, as names are. */
      metadata?: Record<string, never> | null;
    };
    answer: PartnerPayment;
  };
  /** Read a payment. */
  'GET /v1/partners/payments/{id}': {
    params: {
      /** Assigned by the platform; never changes. */
      id: string;
    };
    query: Record<string, never>;
    body: undefined;
    answer: PartnerPayment;
  };
  /** Cancel an open payment. */
  'POST /v1/partners/payments/{id}/cancel': {
    params: {
      /** Assigned by the platform; never changes. */
      id: string;
    };
    query: Record<string, never>;
    body: undefined;
    answer: PartnerPayment;
  };
  /** List the refunds of a payment, newest first. */
  'GET /v1/partners/payments/{id}/refunds': {
    params: {
      /** Assigned by the platform; never changes. */
      id: string;
    };
    query: {
      /** The page, from 1. A page past the last is empty. */
      page?: number;
      /** Rows per page, at most 100. */
      limit?: number;
      /** Continues the list, in place of `page`: the `next` of the previous page, or the id of its last row, so that new rows neither repeat nor hide others. A `next` keeps working when that row is deleted; an id that is not a row of yours in this list is refused. */
      after?: string;
    };
    body: undefined;
    answer: {
      /** The rows of this page, newest first. */
      items: Refund[];
      /** The page, from 1. */
      page: number;
      /** The maximum number of rows per page. */
      limit: number;
      /** The number of rows on all pages. */
      total: number;
      /** The `after` of the next page. Absent when no row follows. */
      next?: string;
    };
  };
  /** Refund a payment in full or in part. */
  'POST /v1/partners/payments/{id}/refunds': {
    params: {
      /** Assigned by the platform; never changes. */
      id: string;
    };
    query: Record<string, never>;
    body: {
      /** In whole rupiah. Default: everything that can still be refunded. */
      amount?: string | null;
      /** For your own records; the customer does not see it. */
      reason: string;
      /** A `bank_code` of `GET /v1/partners/channels`. Required if the refund is a transfer. */
      bank_code?: string | null;
      /** Required if the refund is a transfer. */
      bank_account_number?: string | null;
      /** The account holder's name on record at the bank. */
      beneficiary_name?: string | null;
      /** Your own data: up to 20 texts under keys of your choice, shown wherever the resource is, webhooks included. It is encrypted and later deleted, as names are. */
      metadata?: Record<string, never> | null;
    };
    answer: Refund;
  };
  /** Read a refund. */
  'GET /v1/partners/payments/{id}/refunds/{refund_id}': {
    params: {
      /** Assigned by the platform; never changes. */
      id: string;
      /** The refund. */
      refund_id: string;
    };
    query: Record<string, never>;
    body: undefined;
    answer: Refund;
  };
  /** What happened to a refund, in plain words, and what happens next. */
  'GET /v1/partners/payments/{id}/refunds/{refund_id}/timeline': {
    params: {
      /** Assigned by the platform; never changes. */
      id: string;
      /** The refund. */
      refund_id: string;
    };
    query: Record<string, never>;
    body: undefined;
    answer: PartnerTimeline;
  };
  /** What happened to a payment, and what happens next. */
  'GET /v1/partners/payments/{id}/timeline': {
    params: {
      /** Assigned by the platform; never changes. */
      id: string;
    };
    query: Record<string, never>;
    body: undefined;
    answer: PartnerTimeline;
  };
  /** List the partner's batches of payouts, newest first. */
  'GET /v1/partners/payout-batches': {
    params: Record<string, never>;
    query: {
      /** The page, from 1. A page past the last is empty. */
      page?: number;
      /** Rows per page, at most 100. */
      limit?: number;
      /** Continues the list, in place of `page`: the `next` of the previous page, or the id of its last row, so that new rows neither repeat nor hide others. A `next` keeps working when that row is deleted; an id that is not a row of yours in this list is refused. */
      after?: string;
      /** Only batches with this status. */
      status?: 'needs_approval' | 'processing' | 'rejected' | 'lapsed' | 'completed';
      /** Only batches with exactly this reference of yours. */
      external_ref?: string;
      /** From this instant on, ISO 8601. A bare date is the beginning of that day in UTC+7. */
      from?: string;
      /** Until this instant, ISO 8601. A bare date is the end of that day in UTC+7. */
      to?: string;
    };
    body: undefined;
    answer: {
      /** The rows of this page, newest first. */
      items: PayoutBatch[];
      /** The page, from 1. */
      page: number;
      /** The maximum number of rows per page. */
      limit: number;
      /** The number of rows on all pages. */
      total: number;
      /** The `after` of the next page. Absent when no row follows. */
      next?: string;
    };
  };
  /** Create a batch of payouts that a second key must approve. */
  'POST /v1/partners/payout-batches': {
    params: Record<string, never>;
    query: Record<string, never>;
    body: {
      /** The payouts. */
      items: ({
        /** IDR as a decimal string, e.g. "50000" or "50000.0000". Never compute with it as a floating-point number. */
        amount: string;
        /** A `bank_code` of `GET /v1/partners/channels`. */
        bank_code: string;
        /** Digits only, as the bank prints it. */
        bank_account_number: string;
        /** The account holder's name on record at the bank. Without it we send the account number as the name: if the bank compares names, the payout fails with ACCOUNT_NAME_MISMATCH. */
        beneficiary_name?: string | null;
        /** Your own reference for this item, unique within the batch. */
        external_ref: string;
        /** Your own data: up to 20 texts under keys of your choice, shown wherever the resource is, webhooks included. It is encrypted and later deleted, as names are. */
        metadata?: Record<string, never> | null;
      })[];
      /** Your own reference, stored as sent, up to 128 characters. It need not be unique; lists can filter by it. */
      external_ref?: string | null;
      /** Your own data: up to 20 texts under keys of your choice, shown wherever the resource is, webhooks included. It is encrypted and later deleted, as names are. */
      metadata?: Record<string, never> | null;
    };
    answer: PayoutBatch;
  };
  /** Read a batch of payouts. */
  'GET /v1/partners/payout-batches/{id}': {
    params: {
      /** Assigned by the platform; never changes. */
      id: string;
    };
    query: Record<string, never>;
    body: undefined;
    answer: PayoutBatch;
  };
  /** Approve a batch of payouts. */
  'POST /v1/partners/payout-batches/{id}/approve': {
    params: {
      /** Assigned by the platform; never changes. */
      id: string;
    };
    query: Record<string, never>;
    body: undefined;
    answer: PayoutBatch;
  };
  /** List the items of a batch in their original order. */
  'GET /v1/partners/payout-batches/{id}/items': {
    params: {
      /** Assigned by the platform; never changes. */
      id: string;
    };
    query: {
      /** The page, from 1. A page past the last is empty. */
      page?: number;
      /** Rows per page, at most 100. */
      limit?: number;
      /** Continues the list, in place of `page`: the `next` of the previous page, or the id of its last row, so that new rows neither repeat nor hide others. A `next` keeps working when that row is deleted; an id that is not a row of yours in this list is refused. */
      after?: string;
    };
    body: undefined;
    answer: {
      /** The items of this page. */
      items: PayoutBatchItem[];
      /** The page, from 1. */
      page: number;
      /** The maximum number of rows per page. */
      limit: number;
      /** The number of rows on all pages. */
      total: number;
      /** The `after` of the next page. Absent when no row follows. */
      next?: string;
    };
  };
  /** Reject a batch of payouts. */
  'POST /v1/partners/payout-batches/{id}/reject': {
    params: {
      /** Assigned by the platform; never changes. */
      id: string;
    };
    query: Record<string, never>;
    body: undefined;
    answer: PayoutBatch;
  };
  /** List the partner's payouts, newest first. */
  'GET /v1/partners/payouts': {
    params: Record<string, never>;
    query: {
      /** The page, from 1. A page past the last is empty. */
      page?: number;
      /** Rows per page, at most 100. */
      limit?: number;
      /** Continues the list, in place of `page`: the `next` of the previous page, or the id of its last row, so that new rows neither repeat nor hide others. A `next` keeps working when that row is deleted; an id that is not a row of yours in this list is refused. */
      after?: string;
      /** Only items with this status. */
      status?: 'pending' | 'succeeded' | 'failed' | 'reversed';
      /** Only items with exactly this reference of yours. */
      external_ref?: string;
      /** Only the payout with this platform reference. */
      reference?: string;
      /** The short code of the bank, as `GET /v1/partners/channels` lists it. */
      bank_code?: string;
      /** From this instant on, ISO 8601. A bare date is the beginning of that day in UTC+7. */
      from?: string;
      /** Until this instant, ISO 8601. A bare date is the end of that day in UTC+7. */
      to?: string;
    };
    body: undefined;
    answer: {
      /** The rows of this page, newest first. */
      items: ListedPayout[];
      /** The page, from 1. */
      page: number;
      /** The maximum number of rows per page. */
      limit: number;
      /** The number of rows on all pages. */
      total: number;
      /** The `after` of the next page. Absent when no row follows. */
      next?: string;
    };
  };
  /** Pay out to a bank account. */
  'POST /v1/partners/payouts': {
    params: Record<string, never>;
    query: Record<string, never>;
    body: {
      /** IDR. With fee mode DEDUCTED the fee is deducted from this; with ADDED it is reserved in addition. The amount that reaches the bank must be whole rupiah. */
      amount: string;
      /** A `bank_code` of `GET /v1/partners/channels`. */
      bank_code: string;
      /** Digits only, as the bank prints it. */
      bank_account_number: string;
      /** The account holder's name on record at the bank. Without it we send the account number as the name: if the bank compares names, the payout fails with ACCOUNT_NAME_MISMATCH. */
      beneficiary_name?: string | null;
      /** Your own reference, stored as sent, up to 128 characters. It need not be unique; lists can filter by it. */
      external_ref?: string | null;
      /** Your own data: up to 20 texts under keys of your choice, shown wherever the resource is, webhooks included. It is encrypted and later deleted, as names are. */
      metadata?: Record<string, never> | null;
    };
    answer: Payout;
  };
  /** Read a payout. */
  'GET /v1/partners/payouts/{id}': {
    params: {
      /** Assigned by the platform; never changes. */
      id: string;
    };
    query: Record<string, never>;
    body: undefined;
    answer: Payout;
  };
  /** What happened to a payout, in plain words, and what happens next. */
  'GET /v1/partners/payouts/{id}/timeline': {
    params: {
      /** Assigned by the platform; never changes. */
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
      /** A payment method, or `payout`. */
      method: 'virtual_account' | 'qris' | 'ewallet' | 'payout';
      /** The amount that you would send at creation, in IDR. */
      amount: string;
      /** Required for virtual_account and ewallet, omitted for qris. */
      channel?: string | null;
      /** The linked organization for which the money is collected; your own if absent. */
      organization_id?: string | null;
      /** Required for payout without a check: a `bank_code` of `GET /v1/partners/channels`. */
      bank_code?: string | null;
      /** For a payout, instead of `bank_code`: a check from the last 24 hours, whose bank is used. If the bank has no such account, the quote is refused. */
      bank_account_check_id?: string | null;
    };
    answer: {
      /** The amount that you would send at creation, in IDR. */
      amount: string;
      /** The amount that the customer would pay, or that a payout would reserve from your balance, in IDR. */
      gross_amount: string;
      /** The platform's fee in IDR, by your fee table at the moment of creation. */
      fee: string;
      /** For a payment, the amount owed to you; for a payout, the amount that reaches the bank; in IDR. */
      net_amount: string;
      /** Always `IDR`. */
      currency: 'IDR';
      /** When the fee was looked up. A quote reserves nothing; fees change only with your fee table. */
      quoted_at: string;
    };
  };
  /** Read the settlement of a day. */
  'GET /v1/partners/settlements/{day}': {
    params: {
      /** A day in UTC+7. */
      day: string;
    };
    query: {
      /** Begins CSV with a byte order mark, so that spreadsheets recognize UTF-8. */
      bom?: true | false;
    };
    body: undefined;
    answer: {
      /** The day in UTC+7. */
      day: string;
      /** Always `IDR`. */
      currency: 'IDR';
      /** Whether it can no longer change. */
      sealed: boolean;
      /** The balances at the beginning of the day. */
      opening: {
        /** The total owed to you in IDR: `available` plus `pending`. */
        balance: string;
        /** The amount available for payouts and refunds, in IDR. */
        available: string;
        /** Payments not settled yet, and money reserved for pending payouts and refunds, in IDR. */
        pending: string;
      };
      /** The balances at the end of the day, or now if the day has not ended. */
      closing: {
        /** The total owed to you in IDR: `available` plus `pending`. */
        balance: string;
        /** The amount available for payouts and refunds, in IDR. */
        available: string;
        /** Payments not settled yet, and money reserved for pending payouts and refunds, in IDR. */
        pending: string;
      };
      /** Sums of the lines by group. */
      totals: {
        /** Customers paid; the net is pending. */
        paid: {
          /** The number of items. */
          count: number;
          /** The amount paid, moved or sent, unsigned; for a payout without its fee. */
          amount: string;
          /** The platform's fee in IDR, by your fee table at the moment of creation. */
          fee: string;
          /** The change of `available`, signed. */
          available: string;
          /** The change of `pending`, signed. */
          pending: string;
        };
        /** What became available. */
        settled: {
          /** The number of items. */
          count: number;
          /** The amount paid, moved or sent, unsigned; for a payout without its fee. */
          amount: string;
          /** The platform's fee in IDR, by your fee table at the moment of creation. */
          fee: string;
          /** The change of `available`, signed. */
          available: string;
          /** The change of `pending`, signed. */
          pending: string;
        };
        /** Money sent to banks. */
        payouts: {
          /** The number of items. */
          count: number;
          /** The amount paid, moved or sent, unsigned; for a payout without its fee. */
          amount: string;
          /** The platform's fee in IDR, by your fee table at the moment of creation. */
          fee: string;
          /** The change of `available`, signed. */
          available: string;
          /** The change of `pending`, signed. */
          pending: string;
        };
        /** Money refunded to customers. */
        refunds: {
          /** The number of items. */
          count: number;
          /** The amount paid, moved or sent, unsigned; for a payout without its fee. */
          amount: string;
          /** The platform's fee in IDR, by your fee table at the moment of creation. */
          fee: string;
          /** The change of `available`, signed. */
          available: string;
          /** The change of `pending`, signed. */
          pending: string;
        };
        /** Money reserved from the available balance for payouts and refunds. */
        reserved: {
          /** The number of items. */
          count: number;
          /** The amount paid, moved or sent, unsigned; for a payout without its fee. */
          amount: string;
          /** The platform's fee in IDR, by your fee table at the moment of creation. */
          fee: string;
          /** The change of `available`, signed. */
          available: string;
          /** The change of `pending`, signed. */
          pending: string;
        };
        /** Money returned because a payout or refund failed. */
        returned: {
          /** The number of items. */
          count: number;
          /** The amount paid, moved or sent, unsigned; for a payout without its fee. */
          amount: string;
          /** The platform's fee in IDR, by your fee table at the moment of creation. */
          fee: string;
          /** The change of `available`, signed. */
          available: string;
          /** The change of `pending`, signed. */
          pending: string;
        };
        /** Money that a bank returned after a payout had succeeded. */
        reversed: {
          /** The number of items. */
          count: number;
          /** The amount paid, moved or sent, unsigned; for a payout without its fee. */
          amount: string;
          /** The platform's fee in IDR, by your fee table at the moment of creation. */
          fee: string;
          /** The change of `available`, signed. */
          available: string;
          /** The change of `pending`, signed. */
          pending: string;
        };
        /** Anything else, such as a correction by the operator. */
        other: {
          /** The number of items. */
          count: number;
          /** The amount paid, moved or sent, unsigned; for a payout without its fee. */
          amount: string;
          /** The platform's fee in IDR, by your fee table at the moment of creation. */
          fee: string;
          /** The change of `available`, signed. */
          available: string;
          /** The change of `pending`, signed. */
          pending: string;
        };
      };
      /** One line for each journal, oldest first. */
      lines: ({
        /** When it was created. */
        created_at: string;
        /** The group of the line. */
        group: 'paid' | 'settled' | 'payouts' | 'refunds' | 'reserved' | 'returned' | 'reversed' | 'other';
        /** The kind of journal, as in statements. */
        kind: string;
        /** The payment, payout or refund. */
        resource_id: string | null;
        /** Your own reference, stored as sent, up to 128 characters. It need not be unique; lists can filter by it. */
        external_ref: string | null;
        /** The amount paid, moved or sent, unsigned; for a payout without its fee. */
        amount: string;
        /** The platform's fee in IDR, by your fee table at the moment of creation. */
        fee: string;
        /** The change of `available`, signed. */
        available: string;
        /** The change of `pending`, signed. */
        pending: string;
        /** The journal's id. */
        journal_id: string;
      })[];
    };
  };
  /** List the partner's webhook deliveries, newest first. */
  'GET /v1/partners/webhook-deliveries': {
    params: Record<string, never>;
    query: {
      /** The page, from 1. A page past the last is empty. */
      page?: number;
      /** Rows per page, at most 100. */
      limit?: number;
      /** Continues the list, in place of `page`: the `next` of the previous page, or the id of its last row, so that new rows neither repeat nor hide others. A `next` keeps working when that row is deleted; an id that is not a row of yours in this list is refused. */
      after?: string;
      /** Only items with this status. */
      status?: 'pending' | 'delivered' | 'parked';
      /** Only deliveries of this type. */
      type?: 'payment.succeeded' | 'payment.failed' | 'payment.expired' | 'payout.succeeded' | 'payout.failed' | 'payout.reversed' | 'refund.succeeded' | 'refund.failed' | 'payout_batch.completed' | 'payment.available' | 'payment.unmatched' | 'instrument.unmatched' | 'payout.delayed' | 'endpoint.test';
      /** Only deliveries to this endpoint. */
      endpoint_id?: string;
      /** The id of the payment, payout, refund, batch or instrument that it reports. */
      resource_id?: string;
      /** From this instant on, ISO 8601. A bare date is the beginning of that day in UTC+7. */
      from?: string;
      /** Until this instant, ISO 8601. A bare date is the end of that day in UTC+7. */
      to?: string;
    };
    body: undefined;
    answer: {
      /** The rows of this page, newest first. */
      items: WebhookDelivery[];
      /** The page, from 1. */
      page: number;
      /** The maximum number of rows per page. */
      limit: number;
      /** The number of rows on all pages. */
      total: number;
      /** The `after` of the next page. Absent when no row follows. */
      next?: string;
    };
  };
  /** Resend the webhooks of a period. */
  'POST /v1/partners/webhook-deliveries/replay': {
    params: Record<string, never>;
    query: Record<string, never>;
    body: {
      /** Inclusive. A date-time, or a bare date: the whole day in UTC+7. */
      from: string;
      /** Inclusive. A date-time, or a bare date: the whole day in UTC+7. */
      to: string;
      /** Only deliveries to this endpoint. */
      endpoint_id?: string | null;
      /** Counts without sending anything. */
      dry_run?: boolean | null;
    };
    answer: {
      /** The number of items. */
      count: number;
    };
  };
  /** Read a webhook delivery. */
  'GET /v1/partners/webhook-deliveries/{id}': {
    params: {
      /** Assigned by the platform; never changes. */
      id: string;
    };
    query: Record<string, never>;
    body: undefined;
    answer: WebhookDeliveryWithBody;
  };
  /** Send a webhook again. */
  'POST /v1/partners/webhook-deliveries/{id}/redeliver': {
    params: {
      /** Assigned by the platform; never changes. */
      id: string;
    };
    query: Record<string, never>;
    body: undefined;
    answer: WebhookDelivery;
  };
  /** List the partner's endpoints, newest first. */
  'GET /v1/partners/webhook-endpoints': {
    params: Record<string, never>;
    query: {
      /** The page, from 1. A page past the last is empty. */
      page?: number;
      /** Rows per page, at most 100. */
      limit?: number;
      /** Continues the list, in place of `page`: the `next` of the previous page, or the id of its last row, so that new rows neither repeat nor hide others. A `next` keeps working when that row is deleted; an id that is not a row of yours in this list is refused. */
      after?: string;
    };
    body: undefined;
    answer: {
      /** The rows of this page, newest first. */
      items: WebhookEndpoint[];
      /** The page, from 1. */
      page: number;
      /** The maximum number of rows per page. */
      limit: number;
      /** The number of rows on all pages. */
      total: number;
      /** The `after` of the next page. Absent when no row follows. */
      next?: string;
    };
  };
  /** Add an endpoint. */
  'POST /v1/partners/webhook-endpoints': {
    params: Record<string, never>;
    query: Record<string, never>;
    body: {
      /** A public https URL without credentials. Webhooks are sent by POST; redirects are not followed. */
      url: string;
      /** The events that it receives, or `["*"]` for all. */
      events: ('payment.succeeded' | 'payment.failed' | 'payment.expired' | 'payout.succeeded' | 'payout.failed' | 'payout.reversed' | 'refund.succeeded' | 'refund.failed' | 'payout_batch.completed' | 'payment.available' | 'payment.unmatched' | 'instrument.unmatched' | 'payout.delayed' | '*')[];
      /** `enabled`, which is the default, or `disabled`. */
      status?: 'enabled' | 'disabled' | null;
    };
    answer: CreatedWebhookEndpoint;
  };
  /** Change an endpoint. */
  'PATCH /v1/partners/webhook-endpoints/{id}': {
    params: {
      /** Assigned by the platform; never changes. */
      id: string;
    };
    query: Record<string, never>;
    body: {
      /** A public https URL without credentials. Webhooks are sent by POST; redirects are not followed. */
      url?: string;
      /** The events that it receives from now on, or `["*"]` for all. */
      events?: ('payment.succeeded' | 'payment.failed' | 'payment.expired' | 'payout.succeeded' | 'payout.failed' | 'payout.reversed' | 'refund.succeeded' | 'refund.failed' | 'payout_batch.completed' | 'payment.available' | 'payment.unmatched' | 'instrument.unmatched' | 'payout.delayed' | '*')[];
      /** A `disabled` endpoint receives nothing; events of that time are not sent later. */
      status?: 'enabled' | 'disabled';
    };
    answer: ChangedWebhookEndpoint;
  };
  /** Delete an endpoint. */
  'DELETE /v1/partners/webhook-endpoints/{id}': {
    params: {
      /** Assigned by the platform; never changes. */
      id: string;
    };
    query: Record<string, never>;
    body: undefined;
    answer: WebhookEndpoint;
  };
  /** Rotate an endpoint's secret. */
  'POST /v1/partners/webhook-endpoints/{id}/rotate-secret': {
    params: {
      /** Assigned by the platform; never changes. */
      id: string;
    };
    query: Record<string, never>;
    body: undefined;
    answer: WebhookEndpointWithSecret;
  };
  /** Send a test to an endpoint. */
  'POST /v1/partners/webhook-endpoints/{id}/test': {
    params: {
      /** Assigned by the platform; never changes. */
      id: string;
    };
    query: Record<string, never>;
    body: {
      /** The event type of the example. */
      type?: 'payment.succeeded' | 'payment.failed' | 'payment.expired' | 'payout.succeeded' | 'payout.failed' | 'payout.reversed' | 'refund.succeeded' | 'refund.failed' | 'payout_batch.completed' | 'payment.available' | 'payment.unmatched' | 'instrument.unmatched' | 'payout.delayed' | 'endpoint.test' | null;
    };
    answer: WebhookDelivery;
  };
}

/** The body of each webhook by its type. */
export interface Webhooks {
  'payment.succeeded': {
    /** What happened. */
    type: 'payment.succeeded';
    /** When it happened. */
    timestamp: string;
    /** Somebody on your side requested an example; nothing happened. Absent from every other webhook. */
    test?: true;
    /** The resource as returned by its read endpoint, with its `version`. */
    data: WebhookPayment;
  };
  'payment.failed': {
    /** What happened. */
    type: 'payment.failed';
    /** When it happened. */
    timestamp: string;
    /** Somebody on your side requested an example; nothing happened. Absent from every other webhook. */
    test?: true;
    /** The resource as returned by its read endpoint, with its `version`. */
    data: WebhookPayment;
  };
  'payment.expired': {
    /** What happened. */
    type: 'payment.expired';
    /** When it happened. */
    timestamp: string;
    /** Somebody on your side requested an example; nothing happened. Absent from every other webhook. */
    test?: true;
    /** The resource as returned by its read endpoint, with its `version`. */
    data: WebhookPayment;
  };
  'payout.succeeded': {
    /** What happened. */
    type: 'payout.succeeded';
    /** When it happened. */
    timestamp: string;
    /** Somebody on your side requested an example; nothing happened. Absent from every other webhook. */
    test?: true;
    /** The resource as returned by its read endpoint, with its `version`. */
    data: WebhookPayout;
  };
  'payout.failed': {
    /** What happened. */
    type: 'payout.failed';
    /** When it happened. */
    timestamp: string;
    /** Somebody on your side requested an example; nothing happened. Absent from every other webhook. */
    test?: true;
    /** The resource as returned by its read endpoint, with its `version`. */
    data: WebhookPayout;
  };
  'payout.reversed': {
    /** What happened. */
    type: 'payout.reversed';
    /** When it happened. */
    timestamp: string;
    /** Somebody on your side requested an example; nothing happened. Absent from every other webhook. */
    test?: true;
    /** The resource as returned by its read endpoint, with its `version`. */
    data: WebhookPayout;
  };
  'refund.succeeded': {
    /** What happened. */
    type: 'refund.succeeded';
    /** When it happened. */
    timestamp: string;
    /** Somebody on your side requested an example; nothing happened. Absent from every other webhook. */
    test?: true;
    /** The resource as returned by its read endpoint, with its `version`. */
    data: WebhookRefund;
  };
  'refund.failed': {
    /** What happened. */
    type: 'refund.failed';
    /** When it happened. */
    timestamp: string;
    /** Somebody on your side requested an example; nothing happened. Absent from every other webhook. */
    test?: true;
    /** The resource as returned by its read endpoint, with its `version`. */
    data: WebhookRefund;
  };
  'payout_batch.completed': {
    /** What happened. */
    type: 'payout_batch.completed';
    /** When it happened. */
    timestamp: string;
    /** Somebody on your side requested an example; nothing happened. Absent from every other webhook. */
    test?: true;
    /** The resource as returned by its read endpoint, with its `version`. */
    data: WebhookPayoutBatch;
  };
  'payment.available': {
    /** What happened. */
    type: 'payment.available';
    /** When it happened. */
    timestamp: string;
    /** Somebody on your side requested an example; nothing happened. Absent from every other webhook. */
    test?: true;
    /** The resource as returned by its read endpoint, with its `version`. */
    data: WebhookPayment;
  };
  'payment.unmatched': {
    /** What happened. */
    type: 'payment.unmatched';
    /** When it happened. */
    timestamp: string;
    /** Somebody on your side requested an example; nothing happened. Absent from every other webhook. */
    test?: true;
    /** The resource as returned by its read endpoint, with its `version`. */
    data: WebhookUnmatchedPayment;
  };
  'instrument.unmatched': {
    /** What happened. */
    type: 'instrument.unmatched';
    /** When it happened. */
    timestamp: string;
    /** Somebody on your side requested an example; nothing happened. Absent from every other webhook. */
    test?: true;
    /** The resource as returned by its read endpoint, with its `version`. */
    data: WebhookUnmatchedInstrument;
  };
  'payout.delayed': {
    /** What happened. */
    type: 'payout.delayed';
    /** When it happened. */
    timestamp: string;
    /** Somebody on your side requested an example; nothing happened. Absent from every other webhook. */
    test?: true;
    /** The resource as returned by its read endpoint, with its `version`. */
    data: WebhookPayout;
  };
  'endpoint.test': {
    /** What happened. */
    type: 'endpoint.test';
    /** When it happened. */
    timestamp: string;
    /** Somebody on your side requested an example; nothing happened. Absent from every other webhook. */
    test?: true;
    /** The resource as returned by its read endpoint, with its `version`. */
    data: WebhookTest;
  };
}
