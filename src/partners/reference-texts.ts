/** The status of what the document has under several names. */
const statusOf = {
  payment: '`pending` until it is paid or its time is over; then `succeeded`, `failed` or `expired` for good.',
  payout:
    '`pending` until the bank has the money or refused it; then `succeeded` or `failed`. One that the bank returns later becomes `reversed`.',
  refund:
    '`pending` until the payer has the money back or it failed; then `succeeded` or `failed`. One that the bank returns becomes `failed` after it had succeeded.',
  delivery:
    '`pending` while it is being tried, `delivered` after a 2xx, `parked` when three days of attempts were over.',
};

/** In which order a call of a partner is checked, so which refusal it gets when several are due. */
export const orderOfChecks =
  'API key and signature, account active, permission, idempotency key (absent, malformed, replay or reuse), body and ' +
  'channel table, linked organization, payouts suspended, limits, balance. The rate limit comes before them all.';

/**
 * Descriptions of the fields, parameters and headers in the partners' reference whose schema has none. A field is
 * looked up as `<scope>.<field>` (scope: a named schema, an operation's id or `webhook`), then by its name alone.
 * Amounts are IDR in decimal strings; shares are basis points (1/100 of a percent).
 */
export const partnerTexts: Readonly<Record<string, string>> = {
  // Envelopes
  data: 'What was asked for.',
  error: 'Why the request was refused, or what is not known.',
  code: 'For programs: branch on this, not on the message. The error catalogue says what to do about each.',
  'PartnerError.message': 'For people: says what is wrong, and names the field where there is one.',
  'PartnerError.details':
    'With REQUEST_INVALID_PAYLOAD a list of `{ field, message }`; with FUNDS_LIMIT_EXCEEDED the limit; with FUNDS_INSUFFICIENT_BALANCE `{ available, required }`, with FUNDS_REFUND_EXCEEDED `{ paid, refunded, remaining }`, all in IDR; with PROVIDER_REFUSED `{ payment_id, failure_code }`; with PROVIDER_INDETERMINATE `{ payment_id, status_url }`, what to poll.',
  request_id: 'Names this request. Quote it when you ask the operator. Also in the header `x-request-id`.',
  items: 'The rows of this page, newest first.',
  from: 'From this instant on, ISO 8601. A bare date is the beginning of that day in UTC+7.',
  to: 'Until this instant, ISO 8601. A bare date is the end of that day in UTC+7.',

  // Shared by many resources
  id: 'Made by the platform; never changes.',
  organization_id: 'The organization that the money is collected for: linked to you. Your own where it is left out.',
  amount: 'IDR as a decimal string, e.g. "50000" or "50000.0000". Never compute with it as a floating-point number.',
  currency: 'Always `IDR`.',
  fee: "The platform's fee in IDR, by your fee table at the moment of creation.",
  net_amount: 'Of a payment what you are owed, of a payout what reaches the bank; in IDR.',
  external_ref: 'Your own reference, kept as sent, up to 128 characters. It need not be unique; lists filter by it.',
  created_at: 'When it was made.',
  finalized_at: 'When it reached a final status; null before.',
  is_final: 'Whether the status can no longer change. A payout that succeeded can still be returned by the bank.',
  status_url: 'The path to poll.',
  name: 'The name to show to people.',
  method: 'How the customer pays: `virtual_account`, `qris` or `ewallet`.',
  channel: 'The bank or wallet, as `GET /v1/partners/channels` lists it. QRIS has none.',
  bank_code: 'The short code of the bank, as `GET /v1/partners/channels` lists it.',
  bank_account_number: 'Digits only, as the bank prints it.',

  // Payments
  'PartnerPayment.status': statusOf.payment,
  'WebhookPayment.status': statusOf.payment,
  'PartnerPayment.is_final': 'Whether the status can no longer change.',
  'PartnerPayment.amount': 'The gross in IDR: what the customer pays.',
  'PartnerPayment.net_amount': 'What you are owed in IDR once it is paid: the gross without the fee.',
  refunded_amount:
    'What of the gross can no longer be refunded, in IDR: the sum of its refunds that are pending or have succeeded. A refund that fails is taken off again, unless the provider says that it was made after all; `amount` less this is what is left to refund; by transfer it is less where a refund that failed may have reached the wallet.',
  expires_at: 'Until when the customer can pay. Money that comes later is held and looked into.',
  failure_code: "On failed payments: the provider's reason, for your logs.",
  'createPayment.amount':
    'IDR. With fee mode DEDUCTED the customer pays this; with ADDED the fee comes on top. What the customer pays is a whole amount.',
  customer_name: 'Shown to the customer by banks and wallets that show a name.',
  customer_email: "The customer's address; nothing is sent to it by us.",
  expires_in_minutes: 'For how long the customer can pay, 1 to 2,880 minutes. The default is a day.',
  'listPayments.status': 'Only those with this status.',
  'listPayments.external_ref': 'Only those with exactly this reference of yours.',
  'listPayments.reference': 'Only those that show exactly this `reference`.',

  // Payouts
  'Payout.status': statusOf.payout,
  'WebhookPayout.status': statusOf.payout,
  'ListedPayout.status': statusOf.payout,
  'Payout.amount': 'As requested, in IDR.',
  'ListedPayout.amount': 'As requested, in IDR.',
  'createPayout.amount':
    'IDR. With fee mode DEDUCTED the fee is taken from this; with ADDED it is reserved on top. What reaches the bank is a whole amount.',
  'listPayouts.status': 'Only those with this status.',
  'listPayouts.external_ref': 'Only those with exactly this reference of yours.',
  'listPayouts.reference': 'Only the one with this reference of the platform.',

  // Refunds
  'Refund.status': statusOf.refund,
  'WebhookRefund.status': statusOf.refund,
  payment_id: 'The payment that is refunded.',
  refund_id: 'The refund.',
  'Refund.amount': 'What is given back, a whole amount in IDR.',
  'Refund.reason': 'As you sent it.',
  'WebhookRefund.reason': 'As you sent it.',

  // Quotes
  'createQuote.amount': 'The amount that you would send at creation, in IDR.',
  'createQuote.method': 'A payment method, or `payout`.',
  gross_amount: 'What the customer would pay, or what a payout would take from your balance, in IDR.',
  quoted_at: 'When the fee was looked up. A quote reserves nothing; fees change with your fee table only.',

  // Money
  balance: 'All that you are owed in IDR: `available` and `pending` together.',
  available: 'What payouts can use now, in IDR.',
  pending: 'Paid but not settled yet, and what payouts under way have reserved, in IDR.',
  fee_mode:
    'Who bears your fees, the same for every channel and bank: with `DEDUCTED` the fee is taken out of the amount that you send, with `ADDED` it comes on top. Agreed with the operator.',
  collection: 'The channels by which you can collect.',
  payout_banks: 'The banks to which you can pay out.',
  fixed: 'The fixed part of the fee in IDR.',
  basis_points: 'The share of the amount that the fee takes, in basis points: 150 is 1.5 %.',
  minimum_amount: 'The least `amount` that is accepted, with your fee; in IDR.',
  maximum_amount: 'The most that a customer pays, or that reaches the bank, at once; in IDR.',
  refundable:
    'Whether a payment can be refunded to the wallet that paid it, by the provider. Otherwise a refund is a transfer to a bank account, which you name.',
  refundable_in_part: 'Whether it can be refunded there in part, too: where this is false, a part goes by transfer.',
  refund_window_days:
    'For how many days after it was paid a payment can be refunded there; afterwards by transfer. 0 where it never can.',
  account_number_min_length: 'The least number of digits of an account number at this bank.',
  account_number_max_length: 'The greatest number of digits of an account number at this bank.',
  max_payout_amount: 'The most that one payout may be; null where no limits are set.',
  max_daily_amount: 'The most that payouts may come to in 24 hours that end now; null where no limits are set.',
  max_hourly_count: 'How many payouts may be made in an hour that ends now; null where no limits are set.',
  maximum: 'The limit.',
  used: 'How much of the limit is used now.',
  remaining: 'How much of the limit is left now.',

  // Timelines
  'PartnerTimeline.items': 'What happened, oldest first.',
  at: 'When.',
  'PartnerTimeline.type': 'What kind of step it was.',
  text: 'In plain words. It may be reworded: do not parse it.',
  next: 'What happens next; null when nothing does.',

  // Webhooks
  'WebhookDelivery.id': 'Names the delivery.',
  webhook_id: 'The `webhook-id` that your receiver sees, the same at every attempt.',
  'WebhookDelivery.type': 'What happened.',
  resource_id: 'The id of the payment, payout, refund, batch or instrument that it tells of.',
  version: 'Grows with each event of the resource: of two webhooks believe the greater.',
  'WebhookDelivery.status': statusOf.delivery,
  'WebhookDeliveryWithBody.type': 'What happened.',
  'WebhookDeliveryWithBody.status': statusOf.delivery,
  'WebhookUnmatchedPayment.status': 'As it stays: money that is not part of a payment does not change it.',
  'WebhookUnmatchedPayment.amount': 'IDR: of the payment what the customer pays, of `unmatched` what came.',
  'WebhookUnmatchedPayment.reason':
    '`late`: after the payment had ended. `double`: it was paid already. `wrong_amount`: not exactly its amount.',
  attempts: 'How often it was tried.',
  last_status: 'The HTTP status of the last attempt; null where no answer came.',
  last_error: 'Why the last attempt failed; null where it did not.',
  next_attempt_at: 'When it is tried next; null when it is not.',
  delivered_at: 'When it was delivered; null before.',
  'listWebhookDeliveries.status': 'Only those with this status.',
  'listWebhookDeliveries.type': 'Only those of this kind.',
  'webhook-signature': 'One `v1,<base64>` for each secret that is live, separated by spaces.',
  timestamp: 'When it happened.',
  'webhook.type': 'What happened.',
  'webhook.data': 'The resource as its read endpoint shows it, with its `version`.',

  // Keys
  prefix: 'The beginning of the key, by which you recognize it.',
  permissions: 'What the key may do.',
  require_signature_v2: 'Whether calls with this key must carry the signature over the whole request.',
  valid_until: 'Until when the key works; null while it was not rotated.',
  revoked_at: 'When the key was revoked; null while it works.',
  api_key: 'Sent as `Authorization: Bearer`. Shown this once.',
  signing_secret: 'Signs your requests. Shown this once.',

  // Webhook endpoints
  url: 'Where webhooks go: public and https.',
  updated_at: 'When it was changed last.',
  'createWebhookEndpoint.events': 'The events that it receives, or `["*"]` for all. Others are not sent to it.',
  'createWebhookEndpoint.status': '`enabled`, which is the default, or `disabled`.',
  'updateWebhookEndpoint.events': 'The events that it receives from now on, or `["*"]` for all.',
  'updateWebhookEndpoint.status':
    'A `disabled` endpoint collects nothing; enabling it again does not bring back what it missed.',
  'WebhookDelivery.endpoint_id': 'The endpoint that it goes to.',
  endpoint_id: 'Only those of this endpoint.',
  count: 'How many there are.',

  // Settlements
  day: 'The day in UTC+7.',
  opening: 'The balances at the beginning of the day.',
  closing: 'The balances at its end, or now.',
  totals: 'Sums of the lines by group.',
  paid: 'Customers paid; the net is pending.',
  settled: 'What became available.',
  payouts: 'What was sent to banks.',
  refunds: 'What was sent back to customers.',
  reserved: 'What payouts and refunds took from the available balance when they began.',
  returned: 'What came back because a payout or refund failed.',
  reversed: 'What a bank gave back after a payout had succeeded.',
  other: 'Anything else, such as a correction by the operator.',
  lines: 'One line for each journal, oldest first.',
  group: 'The sum that the line belongs to.',
  kind: 'The kind of journal, as statements have it.',
  journal_id: "The journal's id.",
};
