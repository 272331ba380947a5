/** Status descriptions of resources that have several schemas. */
const statusOf = {
  payment: '`pending` until it is paid, declined or expires; then `succeeded`, `failed` or `expired`, which are final.',
  payout:
    '`pending` until the bank has accepted or refused the money; then `succeeded` or `failed`. A payout that the ' +
    'bank returns later becomes `reversed`.',
  refund:
    '`pending` until the payer has the money or it failed; then `succeeded` or `failed`. A successful refund that ' +
    'the bank returns becomes `failed`.',
  delivery: '`pending` while it is retried, `delivered` after a 2xx, `parked` after three days of attempts.',
};

/** The order of the checks on a partner's call; the first that fails decides the refusal. */
export const orderOfChecks =
  'API key and signature, account active, permission, idempotency key (absent, malformed, replay or reuse), ' +
  'organization active (when creating something), body and channel table, linked organization, payouts ' +
  'suspended, limits, balance. The rate limit comes before them all.';

/**
 * Descriptions of the fields, parameters and headers in the partners' reference whose schema has none. A field is
 * looked up as `<scope>.<field>` (scope: a named schema, an operation's id or `webhook`), then by its name alone.
 * Amounts are IDR in decimal strings; shares are basis points (1/100 of a percent).
 */
export const partnerTexts: Readonly<Record<string, string>> = {
  // Envelopes
  data: 'The requested data.',
  error: 'Why the request was refused, or what is unknown.',
  code: 'For programs: branch on this, not on the message. The error catalogue explains what to do about each.',
  'PartnerError.message': 'For people: what is wrong, beginning with the field if there is one.',
  'PartnerError.details':
    'With REQUEST_INVALID_PAYLOAD a list of `{ field, message }`; with FUNDS_LIMIT_EXCEEDED the limit; with ' +
    'FUNDS_INSUFFICIENT_BALANCE `{ available, required }`, with FUNDS_REFUND_EXCEEDED `{ paid, refunded, remaining ' +
    '}`, all in IDR; with PROVIDER_REFUSED `{ payment_id, failure_code }`; with PROVIDER_INDETERMINATE `{ ' +
    'payment_id, status_url }`, the URL to poll; for an instrument, both have `instrument_id` instead. With ' +
    'PAYOUT_BATCH_DECIDED `{ status }`.',
  request_id: 'Identifies this request. Quote it when you ask the operator. Also in the header `x-request-id`.',
  items: 'The rows of this page, newest first.',
  from: 'From this instant on, ISO 8601. A bare date is the beginning of that day in UTC+7.',
  to: 'Until this instant, ISO 8601. A bare date is the end of that day in UTC+7.',

  // Shared by many resources
  id: 'Assigned by the platform; never changes.',
  organization_id: 'The linked organization for which the money is collected; your own if absent.',
  amount: 'IDR as a decimal string, e.g. "50000" or "50000.0000". Never compute with it as a floating-point number.',
  currency: 'Always `IDR`.',
  fee: "The platform's fee in IDR, by your fee table at the moment of creation.",
  net_amount: 'For a payment, the amount owed to you; for a payout, the amount that reaches the bank; in IDR.',
  external_ref:
    'Your own reference, stored as sent, up to 128 characters. It need not be unique; lists can filter ' + 'by it.',
  created_at: 'When it was created.',
  finalized_at: 'When it reached a final status; null before.',
  is_final: 'Whether the status can no longer change. A payout that succeeded can still be returned by the bank.',
  status_url: 'The path to poll.',
  name: 'The display name.',
  method: 'How the customer pays: `virtual_account`, `qris` or `ewallet`.',
  channel: 'The bank or wallet, as `GET /v1/partners/channels` lists it. QRIS has none.',
  bank_code: 'The short code of the bank, as `GET /v1/partners/channels` lists it.',
  bank_account_number: 'Digits only, as the bank prints it.',

  // Payments
  'PartnerPayment.status': statusOf.payment,
  'WebhookPayment.status': statusOf.payment,
  'PartnerPayment.is_final': 'Whether the status can no longer change.',
  'PartnerPayment.amount': 'The gross in IDR: the amount that the customer pays.',
  'PartnerPayment.net_amount': 'The amount owed to you once it is paid, in IDR: the gross less the fee.',
  refunded_amount:
    "The sum of the payment's pending and successful refunds, in IDR. A failed refund counts only while it may have " +
    'been made. The remainder of `amount` can still be refunded.',
  expires_at: 'The deadline for the customer. Money that arrives later is held for the operators.',
  failure_code: "On failed payments: the provider's reason, for your logs.",
  'createPayment.amount':
    'IDR. With fee mode DEDUCTED the customer pays this; with ADDED the fee is added. The total that the customer ' +
    'pays must be whole rupiah.',
  customer_name: 'Shown to the customer by banks and wallets that show a name.',
  customer_email: "The customer's e-mail address; we send nothing to it.",
  expires_in_minutes: 'How long the customer can pay, 1 to 2,880 minutes. The default is a day.',
  'listPayments.status': 'Only items with this status.',
  'listPayments.external_ref': 'Only items with exactly this reference of yours.',
  'listPayments.reference': 'Only payments with exactly this `reference`.',

  // Payouts
  'Payout.status': statusOf.payout,
  'WebhookPayout.status': statusOf.payout,
  'ListedPayout.status': statusOf.payout,
  'Payout.amount': 'As requested, in IDR.',
  'ListedPayout.amount': 'As requested, in IDR.',
  'createPayout.amount':
    'IDR. With fee mode DEDUCTED the fee is deducted from this; with ADDED it is reserved in addition. The amount ' +
    'that reaches the bank must be whole rupiah.',
  'listPayouts.status': 'Only items with this status.',
  'listPayouts.external_ref': 'Only items with exactly this reference of yours.',
  'listPayouts.reference': 'Only the payout with this platform reference.',

  // Refunds
  'Refund.status': statusOf.refund,
  'WebhookRefund.status': statusOf.refund,
  payment_id: 'The refunded payment.',
  refund_id: 'The refund.',
  'Refund.amount': 'The refunded amount, in whole rupiah.',
  'Refund.reason': 'As you sent it.',
  'WebhookRefund.reason': 'As you sent it.',

  // Quotes
  'createQuote.amount': 'The amount that you would send at creation, in IDR.',
  'createQuote.method': 'A payment method, or `payout`.',
  gross_amount: 'The amount that the customer would pay, or that a payout would reserve from your balance, in IDR.',
  quoted_at: 'When the fee was looked up. A quote reserves nothing; fees change only with your fee table.',

  // Money
  balance: 'The total owed to you in IDR: `available` plus `pending`.',
  available: 'The amount available for payouts and refunds, in IDR.',
  pending: 'Payments not settled yet, and money reserved for pending payouts and refunds, in IDR.',
  fee_mode:
    'How your fees are charged, for every channel and bank: `DEDUCTED` from the amount that you send, or `ADDED` to ' +
    'it. Agreed with the operator.',
  collection: 'The channels by which you can collect.',
  payout_banks: 'The banks to which you can pay out.',
  fixed: 'The fixed part of the fee in IDR.',
  basis_points: 'The proportional part of the fee, in basis points of the amount: 150 is 1.5 %.',
  minimum_amount: 'The minimum `amount`, given your fee; in IDR.',
  maximum_amount: 'The maximum that a customer can pay, or that can reach the bank, at once; in IDR.',
  refundable:
    'Whether the provider can refund a payment to the wallet that paid it. Otherwise a refund is a transfer to a ' +
    'bank account that you name.',
  refundable_in_part: 'Whether partial refunds to the wallet are possible; if false, they are transfers.',
  refund_window_days:
    'How many days after payment a refund to the wallet is possible; later refunds are transfers. 0 if never.',
  account_number_min_length: 'The minimum number of digits of an account number at this bank.',
  account_number_max_length: 'The maximum number of digits of an account number at this bank.',
  max_payout_amount: 'The maximum amount of one payout; null if no limits are set.',
  max_daily_amount: 'The maximum total of payouts in the last 24 hours; null if no limits are set.',
  max_hourly_count: 'The maximum number of payouts in the last hour; null if no limits are set.',
  maximum: 'The limit.',
  used: 'How much of the limit is used.',
  remaining: 'How much of the limit remains.',

  // Timelines
  'PartnerTimeline.items': 'What happened, oldest first.',
  at: 'When it happened.',
  'PartnerTimeline.type': 'The kind of step.',
  text: 'In plain words. The wording may change: do not parse it.',
  next: 'What happens next; null when nothing does.',

  // Webhooks
  'WebhookDelivery.id': 'Identifies the delivery.',
  webhook_id: 'The `webhook-id` sent to your receiver, the same for every attempt.',
  'WebhookDelivery.type': 'What happened.',
  resource_id: 'The id of the payment, payout, refund, batch or instrument that it reports.',
  version: 'Increases with each event of the resource: of two webhooks, use the one with the higher version.',
  'WebhookDelivery.status': statusOf.delivery,
  'WebhookDeliveryWithBody.type': 'What happened.',
  'WebhookDeliveryWithBody.status': statusOf.delivery,
  'WebhookUnmatchedPayment.status': 'Unchanged: money that is not part of a payment does not affect it.',
  'WebhookUnmatchedPayment.amount':
    'IDR: for the payment, the amount due from the customer; for `unmatched`, the ' + 'amount that arrived.',
  'WebhookUnmatchedPayment.reason':
    '`late`: after the payment was final. `double`: it was already paid. `wrong_amount`: not exactly its amount.',
  attempts: 'The number of attempts.',
  last_status: 'The HTTP status of the last attempt; null without a response.',
  last_error: 'Why the last attempt failed; otherwise null.',
  next_attempt_at: 'When the next attempt is due; null if there is none.',
  delivered_at: 'When it was delivered; null before.',
  'listWebhookDeliveries.status': 'Only items with this status.',
  'listWebhookDeliveries.type': 'Only deliveries of this type.',
  'webhook-signature': 'One `v1,<base64>` for each live secret, separated by spaces.',
  timestamp: 'When it happened.',
  'webhook.type': 'What happened.',
  'webhook.data': 'The resource as returned by its read endpoint, with its `version`.',

  // Keys
  prefix: 'The beginning of the key, to recognize it.',
  permissions: 'What the key may do.',
  require_signature_v2: 'Whether calls with this key must carry the signature over the whole request.',
  valid_until: 'When a rotated key stops working; otherwise null.',
  revoked_at: 'When the key was revoked; otherwise null.',
  api_key: 'Sent as `Authorization: Bearer`. Shown only once.',
  signing_secret: 'Signs your requests. Shown only once.',

  // Webhook endpoints
  url: 'The URL for webhooks: public and https.',
  updated_at: 'When it was last changed.',
  'createWebhookEndpoint.events': 'The events that it receives, or `["*"]` for all.',
  'createWebhookEndpoint.status': '`enabled`, which is the default, or `disabled`.',
  'updateWebhookEndpoint.events': 'The events that it receives from now on, or `["*"]` for all.',
  'updateWebhookEndpoint.status': 'A `disabled` endpoint receives nothing; events of that time are not sent later.',
  'WebhookDelivery.endpoint_id': 'The endpoint that receives it.',
  endpoint_id: 'Only deliveries to this endpoint.',
  count: 'The number of items.',

  // Settlements
  day: 'The day in UTC+7.',
  opening: 'The balances at the beginning of the day.',
  closing: 'The balances at the end of the day, or now if the day has not ended.',
  totals: 'Sums of the lines by group.',
  paid: 'Customers paid; the net is pending.',
  settled: 'What became available.',
  payouts: 'Money sent to banks.',
  refunds: 'Money refunded to customers.',
  reserved: 'Money reserved from the available balance for payouts and refunds.',
  returned: 'Money returned because a payout or refund failed.',
  reversed: 'Money that a bank returned after a payout had succeeded.',
  other: 'Anything else, such as a correction by the operator.',
  lines: 'One line for each journal, oldest first.',
  group: 'The group of the line.',
  kind: 'The kind of journal, as in statements.',
  journal_id: "The journal's id.",
};
