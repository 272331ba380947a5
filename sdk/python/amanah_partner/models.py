# Generated from the OpenAPI document by `npm run sdk:generate`; not edited by hand.
# Made of a4328e68983ea0b678daaa10512d34540738e3c016935ca92deb46c7383c7dc0
# ruff: noqa

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class NextAction(TypedDict):
    """
    What to show the customer; null while the provider has not made it, and once the payment is final.
    """

    type: Literal['show_account_number', 'show_qr', 'redirect', 'wait_for_push']
    """
    Show the number, draw the QR code, send the customer to the page, or tell them to look at their app.
    """
    value: str | None
    """
    The number, the QR payload or the URL of the page; null where the wallet asks by itself.
    """


class WebhookPayment(TypedDict):
    id: str
    """
    Made by the platform; never changes.
    """
    reference: str
    """
    The partner's external_ref when sent, otherwise the payment's id.
    """
    external_ref: str | None
    """
    The partner's own reference as sent; null without one.
    """
    status: Literal['pending', 'succeeded', 'failed', 'expired']
    """
    `pending` until it is paid or its time is over; then `succeeded`, `failed` or `expired` for good.
    """
    is_final: bool
    """
    Whether the status can no longer change. A payout that succeeded can still be returned by the bank.
    """
    method: Literal['virtual_account', 'qris', 'ewallet']
    """
    How the customer pays: `virtual_account`, `qris` or `ewallet`.
    """
    channel: NotRequired[str]
    """
    The bank or wallet, as `GET /v1/partners/channels` lists it. QRIS has none.
    """
    amount: str
    """
    IDR as a decimal string, e.g. "50000" or "50000.0000". Never compute with it as a floating-point number.
    """
    fee: str
    """
    The platform's fee in IDR, by your fee table at the moment of creation.
    """
    net_amount: str
    """
    Of a payment what you are owed, of a payout what reaches the bank; in IDR.
    """
    refunded_amount: str
    """
    What of the gross can no longer be refunded, in IDR: the sum of its refunds that are pending or have succeeded. A refund that fails is taken off again, unless the provider says that it was made after all; `amount` less this is what is left to refund; by transfer it is less where a refund that failed may have reached the wallet.
    """
    currency: Literal['IDR']
    """
    Always `IDR`.
    """
    payment_code: str | None
    """
    Virtual account number, QR payload or checkout URL; null while the provider has not made one, and for OVO, which asks the customer by itself.
    """
    next_action: NextAction | None
    """
    What to show the customer; null while the provider has not made it, and once the payment is final.
    """
    metadata: dict[str, str] | None
    """
    As you sent it; null without.
    """
    status_url: NotRequired[str]
    """
    In the answer to creation.
    """
    instrument_id: str | None
    """
    The reusable instrument that it was paid to; null for a payment that was requested by itself.
    """
    expires_at: str | None
    """
    Until when the customer can pay. Money that comes later is held and looked into.
    """
    created_at: str
    """
    When it was made.
    """
    finalized_at: str | None
    """
    When it reached a final status; null before.
    """
    cancelled_at: str | None
    """
    When you, or the operator, asked to cancel it; null for one that was paid all the same.
    """
    available_at: str | None
    """
    When the net of a paid payment becomes, or became, available for payouts; null before it is paid.
    """
    failure_code: str | None
    """
    On failed payments: the provider's reason, for your logs.
    """
    version: int
    """
    Grows with each event of the resource: a lower one came late.
    """


class WebhookPayout(TypedDict):
    id: str
    """
    Made by the platform; never changes.
    """
    reference: str
    """
    The platform's own reference.
    """
    external_ref: str | None
    """
    The partner's own reference as sent; null without one.
    """
    batch_id: str | None
    """
    The batch that it was an item of; null for one made by itself.
    """
    status: Literal['pending', 'succeeded', 'failed', 'reversed']
    """
    `pending` until the bank has the money or refused it; then `succeeded` or `failed`. One that the bank returns later becomes `reversed`.
    """
    is_final: bool
    """
    Whether the status can no longer change. A payout that succeeded can still be returned by the bank.
    """
    amount: str
    """
    IDR as a decimal string, e.g. "50000" or "50000.0000". Never compute with it as a floating-point number.
    """
    fee: str
    """
    The platform's fee in IDR, by your fee table at the moment of creation.
    """
    net_amount: str
    """
    What reaches the bank.
    """
    currency: Literal['IDR']
    """
    Always `IDR`.
    """
    created_at: str
    """
    When it was made.
    """
    succeeded_at: str | None
    """
    When the money had left to the bank, also of a payout that the bank reversed later; otherwise null.
    """
    finalized_at: str | None
    """
    When it reached a final status; null before.
    """
    booked_at: str | None
    """
    When a failed payout that the provider made after all was booked.
    """
    failure_code: str | None
    """
    The provider's, passed on, of a failed payout; otherwise null.
    """
    bank_code: str
    """
    The short code of the bank, as `GET /v1/partners/channels` lists it.
    """
    beneficiary_name: str | None
    """
    As sent; null without one.
    """
    metadata: dict[str, str] | None
    """
    As you sent it; null without.
    """
    bank_account_number: str
    """
    Digits only, as the bank prints it.
    """
    status_url: NotRequired[str]
    """
    The path to poll.
    """
    version: int
    """
    Grows with each event of the resource: a lower one came late.
    """


class WebhookRefund(TypedDict):
    id: str
    """
    Made by the platform; never changes.
    """
    payment_id: str
    """
    The payment that is refunded.
    """
    reference: str
    """
    The platform's own reference.
    """
    status: Literal['pending', 'succeeded', 'failed']
    """
    `pending` until the payer has the money back or it failed; then `succeeded` or `failed`. One that the bank returns becomes `failed` after it had succeeded.
    """
    is_final: bool
    """
    Whether the status can no longer change. A payout that succeeded can still be returned by the bank.
    """
    amount: str
    """
    IDR as a decimal string, e.g. "50000" or "50000.0000". Never compute with it as a floating-point number.
    """
    currency: Literal['IDR']
    """
    Always `IDR`.
    """
    reason: str
    """
    As you sent it.
    """
    bank_code: str | None
    """
    Null for a refund to the wallet that paid.
    """
    bank_account_number: str | None
    """
    Null for a refund to the wallet that paid.
    """
    beneficiary_name: str | None
    """
    As sent; null without one.
    """
    metadata: dict[str, str] | None
    """
    As you sent it; null without.
    """
    failure_code: str | None
    """
    On failed refunds, the provider's, passed on; `RETURNED_BY_BANK` for one that came back.
    """
    created_at: str
    """
    When it was made.
    """
    finalized_at: str | None
    """
    When it reached a final status; null before.
    """
    booked_at: str | None
    """
    When a failed one that the provider made after all was booked.
    """
    status_url: NotRequired[str]
    """
    In the answer to creation.
    """
    version: int
    """
    Grows with each event of the resource: a lower one came late.
    """


class WebhookPayoutBatch(TypedDict):
    id: str
    """
    Names the batch.
    """
    external_ref: str | None
    """
    The partner's own reference as sent; null without one.
    """
    status: Literal['needs_approval', 'processing', 'rejected', 'lapsed', 'completed']
    """
    `needs_approval` until another key approves or rejects it, or 72 hours are over; then `processing`, `rejected` or `lapsed`. `completed` once every item has ended.
    """
    is_final: bool
    """
    Whether the status changes no more.
    """
    count: int
    """
    How many items it has.
    """
    total_amount: str
    """
    The amounts of its items together, in IDR.
    """
    total_fee: str
    """
    Their fees together, in IDR, as they were when it was made.
    """
    currency: Literal['IDR']
    """
    Always `IDR`.
    """
    metadata: dict[str, str] | None
    """
    As you sent it; null without.
    """
    lapses_at: str
    """
    Until when it can be approved.
    """
    created_at: str
    """
    When it was made.
    """
    decided_at: str | None
    """
    When it was approved or rejected; null before.
    """
    finalized_at: str | None
    """
    When it reached its last status; null before.
    """
    status_url: NotRequired[str]
    """
    Where to read it; after creation only.
    """
    version: int
    """
    Grows with each event of the resource: a lower one came late.
    """


class Unmatched(TypedDict):
    """
    The money that came. Operators decide what becomes of it; the payment stays as it is.
    """

    amount: str
    """
    IDR: of the payment what the customer pays, of `unmatched` what came.
    """
    reason: Literal['late', 'double', 'wrong_amount']
    """
    `late`: after the payment had ended. `double`: it was paid already. `wrong_amount`: not exactly its amount.
    """


class WebhookUnmatchedPayment(TypedDict):
    id: str
    """
    Made by the platform; never changes.
    """
    reference: str
    """
    The partner's external_ref when sent, otherwise the payment's id.
    """
    external_ref: str | None
    """
    The partner's own reference as sent; null without one.
    """
    status: Literal['pending', 'succeeded', 'failed', 'expired']
    """
    As it stays: money that is not part of a payment does not change it.
    """
    is_final: bool
    """
    Whether the status can no longer change. A payout that succeeded can still be returned by the bank.
    """
    method: Literal['virtual_account', 'qris', 'ewallet']
    """
    How the customer pays: `virtual_account`, `qris` or `ewallet`.
    """
    channel: NotRequired[str]
    """
    The bank or wallet, as `GET /v1/partners/channels` lists it. QRIS has none.
    """
    amount: str
    """
    IDR: of the payment what the customer pays, of `unmatched` what came.
    """
    fee: str
    """
    The platform's fee in IDR, by your fee table at the moment of creation.
    """
    net_amount: str
    """
    Of a payment what you are owed, of a payout what reaches the bank; in IDR.
    """
    refunded_amount: str
    """
    What of the gross can no longer be refunded, in IDR: the sum of its refunds that are pending or have succeeded. A refund that fails is taken off again, unless the provider says that it was made after all; `amount` less this is what is left to refund; by transfer it is less where a refund that failed may have reached the wallet.
    """
    currency: Literal['IDR']
    """
    Always `IDR`.
    """
    payment_code: str | None
    """
    Virtual account number, QR payload or checkout URL; null while the provider has not made one, and for OVO, which asks the customer by itself.
    """
    next_action: NextAction | None
    """
    What to show the customer; null while the provider has not made it, and once the payment is final.
    """
    metadata: dict[str, str] | None
    """
    As you sent it; null without.
    """
    status_url: NotRequired[str]
    """
    In the answer to creation.
    """
    instrument_id: str | None
    """
    The reusable instrument that it was paid to; null for a payment that was requested by itself.
    """
    expires_at: str | None
    """
    Until when the customer can pay. Money that comes later is held and looked into.
    """
    created_at: str
    """
    When it was made.
    """
    finalized_at: str | None
    """
    When it reached a final status; null before.
    """
    cancelled_at: str | None
    """
    When you, or the operator, asked to cancel it; null for one that was paid all the same.
    """
    available_at: str | None
    """
    When the net of a paid payment becomes, or became, available for payouts; null before it is paid.
    """
    failure_code: str | None
    """
    On failed payments: the provider's reason, for your logs.
    """
    version: int
    """
    Grows with each event of the resource: a lower one came late.
    """
    unmatched: Unmatched
    """
    The money that came. Operators decide what becomes of it; the payment stays as it is.
    """


class WebhookTest(TypedDict):
    id: str
    """
    Made by the platform; never changes.
    """
    url: str
    """
    Where webhooks go: public and https.
    """
    events: list[Literal['payment.succeeded', 'payment.failed', 'payment.expired', 'payout.succeeded', 'payout.failed', 'payout.reversed', 'refund.succeeded', 'refund.failed', 'payout_batch.completed', 'payment.available', 'payment.unmatched', 'payout.delayed', '*']]
    """
    The events that it receives; `*` is all of them.
    """
    status: Literal['enabled', 'disabled']
    """
    A disabled one collects nothing.
    """
    disabled_reason: Literal['requested', 'failing'] | None
    """
    `requested`: by this API. `failing`: no request to it had succeeded for three days. Null while it is enabled.
    """
    disabled_at: str | None
    """
    Null while it is enabled.
    """
    failing_since: str | None
    """
    Since when no request to it has succeeded; null when the last one did, or there was none.
    """
    set_by_operator: bool
    """
    Whether it is the one that the operator has set.
    """
    created_at: str
    """
    When it was made.
    """
    updated_at: str
    """
    When it was changed last.
    """
    version: int
    """
    Grows with each event of the resource: a lower one came late.
    """


class CreatedWebhookEndpoint(TypedDict):
    id: str
    """
    Made by the platform; never changes.
    """
    url: str
    """
    Where webhooks go: public and https.
    """
    events: list[Literal['payment.succeeded', 'payment.failed', 'payment.expired', 'payout.succeeded', 'payout.failed', 'payout.reversed', 'refund.succeeded', 'refund.failed', 'payout_batch.completed', 'payment.available', 'payment.unmatched', 'payout.delayed', '*']]
    """
    The events that it receives; `*` is all of them.
    """
    status: Literal['enabled', 'disabled']
    """
    A disabled one collects nothing.
    """
    disabled_reason: Literal['requested', 'failing'] | None
    """
    `requested`: by this API. `failing`: no request to it had succeeded for three days. Null while it is enabled.
    """
    disabled_at: str | None
    """
    Null while it is enabled.
    """
    failing_since: str | None
    """
    Since when no request to it has succeeded; null when the last one did, or there was none.
    """
    set_by_operator: bool
    """
    Whether it is the one that the operator has set.
    """
    created_at: str
    """
    When it was made.
    """
    updated_at: str
    """
    When it was changed last.
    """
    secret: str
    """
    In this answer only.
    """
    warnings: list[str]
    """
    What is allowed and rarely meant: another endpoint with the same URL, which is sent each event, too.
    """


class Error(TypedDict):
    """
    Why the request was refused, or what is not known.
    """

    code: Literal['REQUEST_INVALID_PAYLOAD', 'REQUEST_IDEMPOTENCY_KEY_REUSED', 'AUTH_INVALID_CREDENTIALS', 'AUTH_PERMISSION_DENIED', 'RESOURCE_NOT_FOUND', 'METHOD_NOT_ALLOWED', 'KEY_ALREADY_ROTATED', 'REQUEST_TIMEOUT', 'PAYLOAD_TOO_LARGE', 'REQUEST_RATE_LIMITED', 'INTERNAL', 'PROVIDER_REFUSED', 'SERVICE_UNAVAILABLE', 'PROVIDER_INDETERMINATE', 'REQUEST_IDEMPOTENCY_KEY_REQUIRED', 'RESOURCE_NOT_LINKED', 'AUTH_PARTNER_INACTIVE', 'PAYMENT_ALREADY_PAID', 'PAYMENT_NOT_PAID', 'PAYOUT_BATCH_DECIDED', 'FUNDS_INSUFFICIENT_BALANCE', 'FUNDS_LIMIT_EXCEEDED', 'FUNDS_REFUND_EXCEEDED', 'FUNDS_PAYOUT_SUSPENDED']
    """
    For programs: branch on this, not on the message. The error catalogue says what to do about each.
    """
    message: str
    """
    For people: says what is wrong, and names the field where there is one.
    """
    details: NotRequired[Any]
    """
    With REQUEST_INVALID_PAYLOAD a list of `{ field, message }`; with FUNDS_LIMIT_EXCEEDED the limit; with FUNDS_INSUFFICIENT_BALANCE `{ available, required }`, with FUNDS_REFUND_EXCEEDED `{ paid, refunded, remaining }`, all in IDR; with PROVIDER_REFUSED `{ payment_id, failure_code }`; with PROVIDER_INDETERMINATE `{ payment_id, status_url }`, what to poll.
    """


class PartnerError(TypedDict):
    error: Error
    """
    Why the request was refused, or what is not known.
    """
    request_id: str
    """
    Names this request. Quote it when you ask the operator. Also in the header `x-request-id`.
    """


class WebhookEndpoint(TypedDict):
    id: str
    """
    Made by the platform; never changes.
    """
    url: str
    """
    Where webhooks go: public and https.
    """
    events: list[Literal['payment.succeeded', 'payment.failed', 'payment.expired', 'payout.succeeded', 'payout.failed', 'payout.reversed', 'refund.succeeded', 'refund.failed', 'payout_batch.completed', 'payment.available', 'payment.unmatched', 'payout.delayed', '*']]
    """
    The events that it receives; `*` is all of them.
    """
    status: Literal['enabled', 'disabled']
    """
    A disabled one collects nothing.
    """
    disabled_reason: Literal['requested', 'failing'] | None
    """
    `requested`: by this API. `failing`: no request to it had succeeded for three days. Null while it is enabled.
    """
    disabled_at: str | None
    """
    Null while it is enabled.
    """
    failing_since: str | None
    """
    Since when no request to it has succeeded; null when the last one did, or there was none.
    """
    set_by_operator: bool
    """
    Whether it is the one that the operator has set.
    """
    created_at: str
    """
    When it was made.
    """
    updated_at: str
    """
    When it was changed last.
    """


class ChangedWebhookEndpoint(TypedDict):
    id: str
    """
    Made by the platform; never changes.
    """
    url: str
    """
    Where webhooks go: public and https.
    """
    events: list[Literal['payment.succeeded', 'payment.failed', 'payment.expired', 'payout.succeeded', 'payout.failed', 'payout.reversed', 'refund.succeeded', 'refund.failed', 'payout_batch.completed', 'payment.available', 'payment.unmatched', 'payout.delayed', '*']]
    """
    The events that it receives; `*` is all of them.
    """
    status: Literal['enabled', 'disabled']
    """
    A disabled one collects nothing.
    """
    disabled_reason: Literal['requested', 'failing'] | None
    """
    `requested`: by this API. `failing`: no request to it had succeeded for three days. Null while it is enabled.
    """
    disabled_at: str | None
    """
    Null while it is enabled.
    """
    failing_since: str | None
    """
    Since when no request to it has succeeded; null when the last one did, or there was none.
    """
    set_by_operator: bool
    """
    Whether it is the one that the operator has set.
    """
    created_at: str
    """
    When it was made.
    """
    updated_at: str
    """
    When it was changed last.
    """
    warnings: list[str]
    """
    What is allowed and rarely meant: another endpoint with the same URL, which is sent each event, too.
    """


class WebhookEndpointWithSecret(TypedDict):
    id: str
    """
    Made by the platform; never changes.
    """
    url: str
    """
    Where webhooks go: public and https.
    """
    events: list[Literal['payment.succeeded', 'payment.failed', 'payment.expired', 'payout.succeeded', 'payout.failed', 'payout.reversed', 'refund.succeeded', 'refund.failed', 'payout_batch.completed', 'payment.available', 'payment.unmatched', 'payout.delayed', '*']]
    """
    The events that it receives; `*` is all of them.
    """
    status: Literal['enabled', 'disabled']
    """
    A disabled one collects nothing.
    """
    disabled_reason: Literal['requested', 'failing'] | None
    """
    `requested`: by this API. `failing`: no request to it had succeeded for three days. Null while it is enabled.
    """
    disabled_at: str | None
    """
    Null while it is enabled.
    """
    failing_since: str | None
    """
    Since when no request to it has succeeded; null when the last one did, or there was none.
    """
    set_by_operator: bool
    """
    Whether it is the one that the operator has set.
    """
    created_at: str
    """
    When it was made.
    """
    updated_at: str
    """
    When it was changed last.
    """
    secret: str
    """
    In this answer only.
    """


class WebhookDelivery(TypedDict):
    id: str
    """
    Names the delivery.
    """
    endpoint_id: str
    """
    The endpoint that it goes to.
    """
    webhook_id: str
    """
    The `webhook-id` that your receiver sees, the same at every attempt.
    """
    type: Literal['payment.succeeded', 'payment.failed', 'payment.expired', 'payout.succeeded', 'payout.failed', 'payout.reversed', 'refund.succeeded', 'refund.failed', 'payout_batch.completed', 'payment.available', 'payment.unmatched', 'payout.delayed', 'endpoint.test']
    """
    What happened.
    """
    resource_id: str
    """
    The id of the payment, payout or refund that it tells of.
    """
    version: int
    """
    Grows with each event of the resource: of two webhooks believe the greater.
    """
    status: Literal['pending', 'delivered', 'parked']
    """
    `pending` while it is being tried, `delivered` after a 2xx, `parked` when three days of attempts were over.
    """
    attempts: int
    """
    How often it was tried.
    """
    last_status: int | None
    """
    The HTTP status of the last attempt; null where no answer came.
    """
    last_error: str | None
    """
    Why the last attempt failed; null where it did not.
    """
    next_attempt_at: str | None
    """
    When it is tried next; null when it is not.
    """
    delivered_at: str | None
    """
    When it was delivered; null before.
    """
    created_at: str
    """
    When it was made.
    """


class WebhookDeliveryWithBody(TypedDict):
    id: str
    """
    Made by the platform; never changes.
    """
    endpoint_id: str
    """
    Only those of this endpoint.
    """
    webhook_id: str
    """
    The `webhook-id` that your receiver sees, the same at every attempt.
    """
    type: Literal['payment.succeeded', 'payment.failed', 'payment.expired', 'payout.succeeded', 'payout.failed', 'payout.reversed', 'refund.succeeded', 'refund.failed', 'payout_batch.completed', 'payment.available', 'payment.unmatched', 'payout.delayed', 'endpoint.test']
    """
    What happened.
    """
    resource_id: str
    """
    The id of the payment, payout or refund that it tells of.
    """
    version: int
    """
    Grows with each event of the resource: of two webhooks believe the greater.
    """
    status: Literal['pending', 'delivered', 'parked']
    """
    `pending` while it is being tried, `delivered` after a 2xx, `parked` when three days of attempts were over.
    """
    attempts: int
    """
    How often it was tried.
    """
    last_status: int | None
    """
    The HTTP status of the last attempt; null where no answer came.
    """
    last_error: str | None
    """
    Why the last attempt failed; null where it did not.
    """
    next_attempt_at: str | None
    """
    When it is tried next; null when it is not.
    """
    delivered_at: str | None
    """
    When it was delivered; null before.
    """
    created_at: str
    """
    When it was made.
    """
    body: NotRequired[str]
    """
    Exactly as it is sent. In development only.
    """


class Payout(TypedDict):
    id: str
    """
    Made by the platform; never changes.
    """
    reference: str
    """
    The platform's own reference.
    """
    external_ref: str | None
    """
    The partner's own reference as sent; null without one.
    """
    batch_id: str | None
    """
    The batch that it was an item of; null for one made by itself.
    """
    status: Literal['pending', 'succeeded', 'failed', 'reversed']
    """
    `pending` until the bank has the money or refused it; then `succeeded` or `failed`. One that the bank returns later becomes `reversed`.
    """
    is_final: bool
    """
    Whether the status can no longer change. A payout that succeeded can still be returned by the bank.
    """
    amount: str
    """
    As requested, in IDR.
    """
    fee: str
    """
    The platform's fee in IDR, by your fee table at the moment of creation.
    """
    net_amount: str
    """
    What reaches the bank.
    """
    currency: Literal['IDR']
    """
    Always `IDR`.
    """
    created_at: str
    """
    When it was made.
    """
    succeeded_at: str | None
    """
    When the money had left to the bank, also of a payout that the bank reversed later; otherwise null.
    """
    finalized_at: str | None
    """
    When it reached a final status; null before.
    """
    booked_at: str | None
    """
    When a failed payout that the provider made after all was booked.
    """
    failure_code: str | None
    """
    The provider's, passed on, of a failed payout; otherwise null.
    """
    bank_code: str
    """
    The short code of the bank, as `GET /v1/partners/channels` lists it.
    """
    beneficiary_name: str | None
    """
    As sent; null without one.
    """
    metadata: dict[str, str] | None
    """
    As you sent it; null without.
    """
    bank_account_number: str
    """
    Digits only, as the bank prints it.
    """
    status_url: NotRequired[str]
    """
    The path to poll.
    """


class ListedPayout(TypedDict):
    id: str
    """
    Made by the platform; never changes.
    """
    reference: str
    """
    The platform's own reference.
    """
    external_ref: str | None
    """
    The partner's own reference as sent; null without one.
    """
    batch_id: str | None
    """
    The batch that it was an item of; null for one made by itself.
    """
    status: Literal['pending', 'succeeded', 'failed', 'reversed']
    """
    `pending` until the bank has the money or refused it; then `succeeded` or `failed`. One that the bank returns later becomes `reversed`.
    """
    is_final: bool
    """
    Whether the status can no longer change. A payout that succeeded can still be returned by the bank.
    """
    amount: str
    """
    As requested, in IDR.
    """
    fee: str
    """
    The platform's fee in IDR, by your fee table at the moment of creation.
    """
    net_amount: str
    """
    What reaches the bank.
    """
    currency: Literal['IDR']
    """
    Always `IDR`.
    """
    created_at: str
    """
    When it was made.
    """
    succeeded_at: str | None
    """
    When the money had left to the bank, also of a payout that the bank reversed later; otherwise null.
    """
    finalized_at: str | None
    """
    When it reached a final status; null before.
    """
    booked_at: str | None
    """
    When a failed payout that the provider made after all was booked.
    """
    failure_code: str | None
    """
    The provider's, passed on, of a failed payout; otherwise null.
    """
    bank_code: str
    """
    The short code of the bank, as `GET /v1/partners/channels` lists it.
    """
    beneficiary_name: str | None
    """
    As sent; null without one.
    """
    metadata: dict[str, str] | None
    """
    As you sent it; null without.
    """


class Item(TypedDict):
    at: str
    """
    When.
    """
    type: Literal['request', 'reservation', 'provider', 'callback', 'ledger', 'webhook', 'outcome']
    """
    What kind of step it was.
    """
    text: str
    """
    In plain words. It may be reworded: do not parse it.
    """


class Next(TypedDict):
    """
    What happens next; null when nothing does.
    """

    at: str | None
    """
    When.
    """
    text: str
    """
    In plain words. It may be reworded: do not parse it.
    """


class PartnerTimeline(TypedDict):
    items: list[Item]
    """
    What happened, oldest first.
    """
    next: Next | None
    """
    What happens next; null when nothing does.
    """


class PayoutBatch(TypedDict):
    id: str
    """
    Names the batch.
    """
    external_ref: str | None
    """
    The partner's own reference as sent; null without one.
    """
    status: Literal['needs_approval', 'processing', 'rejected', 'lapsed', 'completed']
    """
    `needs_approval` until another key approves or rejects it, or 72 hours are over; then `processing`, `rejected` or `lapsed`. `completed` once every item has ended.
    """
    is_final: bool
    """
    Whether the status changes no more.
    """
    count: int
    """
    How many items it has.
    """
    total_amount: str
    """
    The amounts of its items together, in IDR.
    """
    total_fee: str
    """
    Their fees together, in IDR, as they were when it was made.
    """
    currency: Literal['IDR']
    """
    Always `IDR`.
    """
    metadata: dict[str, str] | None
    """
    As you sent it; null without.
    """
    lapses_at: str
    """
    Until when it can be approved.
    """
    created_at: str
    """
    When it was made.
    """
    decided_at: str | None
    """
    When it was approved or rejected; null before.
    """
    finalized_at: str | None
    """
    When it reached its last status; null before.
    """
    status_url: NotRequired[str]
    """
    Where to read it; after creation only.
    """


class PayoutBatchItem(TypedDict):
    id: str
    """
    The id of its payout, which is there once the batch is approved.
    """
    batch_id: str
    """
    The batch.
    """
    reference: str
    """
    The platform's own reference.
    """
    external_ref: str
    """
    The partner's own reference as sent.
    """
    status: Literal['needs_approval', 'rejected', 'lapsed', 'pending', 'succeeded', 'failed', 'reversed']
    """
    The batch's until that is approved, and if it never is; then that of the payout.
    """
    is_final: bool
    """
    Whether nothing more happens to it, unless a bank returns it.
    """
    amount: str
    """
    As requested, in IDR.
    """
    fee: str
    """
    The platform's fee in IDR, by your fee table at the moment of creation.
    """
    net_amount: str
    """
    What reaches the bank.
    """
    currency: Literal['IDR']
    """
    Always `IDR`.
    """
    bank_code: str
    """
    The short code of the bank, as `GET /v1/partners/channels` lists it.
    """
    bank_account_number: str
    """
    Digits only, as the bank prints it.
    """
    beneficiary_name: str | None
    """
    As sent; null without one.
    """
    metadata: dict[str, str] | None
    """
    As you sent it; null without.
    """
    failure_code: str | None
    """
    The provider's, passed on; null unless it failed.
    """
    created_at: str
    """
    When the payout was made; before that, when the batch was.
    """
    succeeded_at: str | None
    """
    When the money had left to the bank; otherwise null.
    """
    finalized_at: str | None
    """
    When the payout ended; null before.
    """
    booked_at: str | None
    """
    When a failed payout that the provider made after all was booked.
    """


class BankAccountCheck(TypedDict):
    id: str
    """
    Names the result, as long as it is kept.
    """
    status: Literal['valid', 'invalid', 'unknown']
    """
    `valid`: the account exists. `invalid`: the bank has no such account. `unknown`: nobody has said within a few seconds; ask again later.
    """
    account_holder: str | None
    """
    The name as the bank has it, where `name_match` is `match` or `partial`; otherwise null.
    """
    name_match: Literal['match', 'partial', 'mismatch'] | None
    """
    How `name` agrees with the bank's: `match` for the same words, in any order and however written, `partial` when they share a word of four letters or more. Null without `name`, and where no holder is known.
    """
    checked_at: str
    """
    When the provider was asked: a result is kept for a day.
    """


class PartnerPayment(TypedDict):
    id: str
    """
    Made by the platform; never changes.
    """
    reference: str
    """
    The partner's external_ref when sent, otherwise the payment's id.
    """
    external_ref: str | None
    """
    The partner's own reference as sent; null without one.
    """
    status: Literal['pending', 'succeeded', 'failed', 'expired']
    """
    `pending` until it is paid or its time is over; then `succeeded`, `failed` or `expired` for good.
    """
    is_final: bool
    """
    Whether the status can no longer change.
    """
    method: Literal['virtual_account', 'qris', 'ewallet']
    """
    How the customer pays: `virtual_account`, `qris` or `ewallet`.
    """
    channel: NotRequired[str]
    """
    The bank or wallet, as `GET /v1/partners/channels` lists it. QRIS has none.
    """
    amount: str
    """
    The gross in IDR: what the customer pays.
    """
    fee: str
    """
    The platform's fee in IDR, by your fee table at the moment of creation.
    """
    net_amount: str
    """
    What you are owed in IDR once it is paid: the gross without the fee.
    """
    refunded_amount: str
    """
    What of the gross can no longer be refunded, in IDR: the sum of its refunds that are pending or have succeeded. A refund that fails is taken off again, unless the provider says that it was made after all; `amount` less this is what is left to refund; by transfer it is less where a refund that failed may have reached the wallet.
    """
    currency: Literal['IDR']
    """
    Always `IDR`.
    """
    payment_code: str | None
    """
    Virtual account number, QR payload or checkout URL; null while the provider has not made one, and for OVO, which asks the customer by itself.
    """
    next_action: NextAction | None
    """
    What to show the customer; null while the provider has not made it, and once the payment is final.
    """
    metadata: dict[str, str] | None
    """
    As you sent it; null without.
    """
    status_url: NotRequired[str]
    """
    In the answer to creation.
    """
    instrument_id: str | None
    """
    The reusable instrument that it was paid to; null for a payment that was requested by itself.
    """
    expires_at: str | None
    """
    Until when the customer can pay. Money that comes later is held and looked into.
    """
    created_at: str
    """
    When it was made.
    """
    finalized_at: str | None
    """
    When it reached a final status; null before.
    """
    cancelled_at: str | None
    """
    When you, or the operator, asked to cancel it; null for one that was paid all the same.
    """
    available_at: str | None
    """
    When the net of a paid payment becomes, or became, available for payouts; null before it is paid.
    """
    failure_code: str | None
    """
    On failed payments: the provider's reason, for your logs.
    """


class Instrument(TypedDict):
    id: str
    """
    Names the instrument; its payments carry it as `instrument_id`.
    """
    external_ref: str | None
    """
    The partner's own reference as sent; null without one.
    """
    status: Literal['active', 'closed']
    """
    `active` until it is closed, or the provider refuses to make it; then `closed` for good.
    """
    method: Literal['virtual_account', 'qris']
    """
    How the customer pays: `virtual_account`, `qris` or `ewallet`.
    """
    channel: str | None
    """
    The bank of a virtual account; null for QRIS.
    """
    amount: str | None
    """
    What each payment has to be, in IDR; null for any amount.
    """
    currency: Literal['IDR']
    """
    Always `IDR`.
    """
    payment_code: str | None
    """
    The account number or QR payload that customers keep; null while the provider has not made it.
    """
    customer_name: str | None
    """
    As sent; null without one.
    """
    metadata: dict[str, str] | None
    """
    As you sent it; null without.
    """
    failure_code: str | None
    """
    Why the provider did not make it; otherwise null.
    """
    created_at: str
    """
    When it was made.
    """
    closed_at: str | None
    """
    When it was closed; null before.
    """
    status_url: NotRequired[str]
    """
    Where to read it; after creation only.
    """


class Refund(TypedDict):
    id: str
    """
    Made by the platform; never changes.
    """
    payment_id: str
    """
    The payment that is refunded.
    """
    reference: str
    """
    The platform's own reference.
    """
    status: Literal['pending', 'succeeded', 'failed']
    """
    `pending` until the payer has the money back or it failed; then `succeeded` or `failed`. One that the bank returns becomes `failed` after it had succeeded.
    """
    is_final: bool
    """
    Whether the status can no longer change. A payout that succeeded can still be returned by the bank.
    """
    amount: str
    """
    What is given back, a whole amount in IDR.
    """
    currency: Literal['IDR']
    """
    Always `IDR`.
    """
    reason: str
    """
    As you sent it.
    """
    bank_code: str | None
    """
    Null for a refund to the wallet that paid.
    """
    bank_account_number: str | None
    """
    Null for a refund to the wallet that paid.
    """
    beneficiary_name: str | None
    """
    As sent; null without one.
    """
    metadata: dict[str, str] | None
    """
    As you sent it; null without.
    """
    failure_code: str | None
    """
    On failed refunds, the provider's, passed on; `RETURNED_BY_BANK` for one that came back.
    """
    created_at: str
    """
    When it was made.
    """
    finalized_at: str | None
    """
    When it reached a final status; null before.
    """
    booked_at: str | None
    """
    When a failed one that the provider made after all was booked.
    """
    status_url: NotRequired[str]
    """
    In the answer to creation.
    """


class CreateWebhookEndpointBody(TypedDict):
    url: str
    """
    A public https address without credentials. It is asked by POST, redirects are not followed.
    """
    events: list[Literal['payment.succeeded', 'payment.failed', 'payment.expired', 'payout.succeeded', 'payout.failed', 'payout.reversed', 'refund.succeeded', 'refund.failed', 'payout_batch.completed', 'payment.available', 'payment.unmatched', 'payout.delayed', '*']]
    """
    The events that it receives, or `["*"]` for all. Others are not sent to it.
    """
    status: NotRequired[Literal['enabled', 'disabled'] | None]
    """
    `enabled`, which is the default, or `disabled`.
    """


class ListWebhookEndpointsAnswer(TypedDict):
    """
    What was asked for.
    """

    items: list[WebhookEndpoint]
    """
    The rows of this page, newest first.
    """
    page: int
    """
    The page, from 1. One beyond the last is empty.
    """
    limit: int
    """
    How many rows a page has, at most 100.
    """
    total: int
    """
    How many rows there are on all pages.
    """
    next: NotRequired[str]
    """
    Where the list goes on: the `after` of the next page. Absent when no row follows.
    """


class ListWebhookEndpointsQuery(TypedDict):
    page: NotRequired[int]
    """
    The page, from 1. One beyond the last is empty.
    """
    limit: NotRequired[int]
    """
    How many rows a page has, at most 100.
    """
    after: NotRequired[str]
    """
    Continues the list, in place of `page`: the `next` of the page before, or the id of its last row. So rows made meanwhile neither repeat nor hide others. A `next` goes on working when that row is gone; an id that names no row of yours in this list is refused.
    """


class UpdateWebhookEndpointBody(TypedDict):
    url: NotRequired[str]
    """
    A public https address without credentials. It is asked by POST, redirects are not followed.
    """
    events: NotRequired[list[Literal['payment.succeeded', 'payment.failed', 'payment.expired', 'payout.succeeded', 'payout.failed', 'payout.reversed', 'refund.succeeded', 'refund.failed', 'payout_batch.completed', 'payment.available', 'payment.unmatched', 'payout.delayed', '*']]]
    """
    The events that it receives from now on, or `["*"]` for all.
    """
    status: NotRequired[Literal['enabled', 'disabled']]
    """
    A `disabled` endpoint collects nothing; enabling it again does not bring back what it missed.
    """


class TestWebhookEndpointBody(TypedDict):
    type: NotRequired[Literal['payment.succeeded', 'payment.failed', 'payment.expired', 'payout.succeeded', 'payout.failed', 'payout.reversed', 'refund.succeeded', 'refund.failed', 'payout_batch.completed', 'payment.available', 'payment.unmatched', 'payout.delayed', 'endpoint.test'] | None]
    """
    What is sent an example of.
    """


class ListWebhookDeliveriesAnswer(TypedDict):
    """
    What was asked for.
    """

    items: list[WebhookDelivery]
    """
    The rows of this page, newest first.
    """
    page: int
    """
    The page, from 1. One beyond the last is empty.
    """
    limit: int
    """
    How many rows a page has, at most 100.
    """
    total: int
    """
    How many rows there are on all pages.
    """
    next: NotRequired[str]
    """
    Where the list goes on: the `after` of the next page. Absent when no row follows.
    """


ListWebhookDeliveriesQuery = TypedDict(
    'ListWebhookDeliveriesQuery',
    {
        'page': NotRequired[int],
        'limit': NotRequired[int],
        'after': NotRequired[str],
        'status': NotRequired[Literal['pending', 'delivered', 'parked']],
        'type': NotRequired[Literal['payment.succeeded', 'payment.failed', 'payment.expired', 'payout.succeeded', 'payout.failed', 'payout.reversed', 'refund.succeeded', 'refund.failed', 'payout_batch.completed', 'payment.available', 'payment.unmatched', 'payout.delayed', 'endpoint.test']],
        'endpoint_id': NotRequired[str],
        'resource_id': NotRequired[str],
        'from': NotRequired[str],
        'to': NotRequired[str],
    },
)


ReplayWebhookDeliveriesBody = TypedDict(
    'ReplayWebhookDeliveriesBody',
    {
        'from': str,
        'to': str,
        'endpoint_id': NotRequired[str | None],
        'dry_run': NotRequired[bool | None],
    },
)


class ReplayWebhookDeliveriesAnswer(TypedDict):
    """
    What was asked for.
    """

    count: int
    """
    How many there are.
    """


class GetBalanceAnswer(TypedDict):
    """
    What was asked for.
    """

    balance: str
    """
    All that you are owed in IDR: `available` and `pending` together.
    """
    available: str
    """
    What payouts can use now, in IDR.
    """
    pending: str
    """
    Paid but not settled yet, and what payouts under way have reserved, in IDR.
    """
    currency: Literal['IDR']
    """
    Always `IDR`.
    """


class CollectionItem(TypedDict):
    method: Literal['virtual_account', 'qris', 'ewallet']
    """
    How the customer pays: `virtual_account`, `qris` or `ewallet`.
    """
    channel: NotRequired[str]
    """
    The bank or wallet, as `GET /v1/partners/channels` lists it. QRIS has none.
    """
    fixed: str
    """
    The fixed part of the fee in IDR.
    """
    basis_points: int
    """
    The share of the amount that the fee takes, in basis points: 150 is 1.5 %.
    """
    minimum_amount: str
    """
    The least `amount` that is accepted, with your fee; in IDR.
    """
    maximum_amount: str
    """
    The most that a customer pays, or that reaches the bank, at once; in IDR.
    """
    refundable: bool
    """
    Whether a payment can be refunded to the wallet that paid it, by the provider. Otherwise a refund is a transfer to a bank account, which you name.
    """
    refundable_in_part: bool
    """
    Whether it can be refunded there in part, too: where this is false, a part goes by transfer.
    """
    refund_window_days: int
    """
    For how many days after it was paid a payment can be refunded there; afterwards by transfer. 0 where it never can.
    """


class PayoutBank(TypedDict):
    bank_code: str
    """
    The short code of the bank, as `GET /v1/partners/channels` lists it.
    """
    name: str
    """
    The name to show to people.
    """
    fixed: str
    """
    The fixed part of the fee in IDR.
    """
    basis_points: int
    """
    The share of the amount that the fee takes, in basis points: 150 is 1.5 %.
    """
    minimum_amount: str
    """
    The least `amount` that is accepted, with your fee; in IDR.
    """
    maximum_amount: str
    """
    The most that a customer pays, or that reaches the bank, at once; in IDR.
    """
    account_number_min_length: int
    """
    The least number of digits of an account number at this bank.
    """
    account_number_max_length: int
    """
    The greatest number of digits of an account number at this bank.
    """


class ListChannelsAnswer(TypedDict):
    """
    What was asked for.
    """

    fee_mode: Literal['DEDUCTED', 'ADDED']
    """
    Who bears your fees, the same for every channel and bank: with `DEDUCTED` the fee is taken out of the amount that you send, with `ADDED` it comes on top. Agreed with the operator.
    """
    collection: list[CollectionItem]
    """
    The channels by which you can collect.
    """
    payout_banks: list[PayoutBank]
    """
    The banks to which you can pay out.
    """


class RotateKeysAnswer(TypedDict):
    """
    What was asked for.
    """

    id: str
    """
    Made by the platform; never changes.
    """
    prefix: str
    """
    The beginning of the key, by which you recognize it.
    """
    permissions: list[Literal['collect-payment', 'read-gateway', 'request-payout', 'approve-payout', 'refund-payment', 'manage-webhooks', 'manage-keys']]
    """
    What the key may do.
    """
    require_signature_v2: bool
    """
    Whether calls with this key must carry the signature over the whole request.
    """
    created_at: str
    """
    When it was made.
    """
    valid_until: str | None
    """
    Until when the key works; null while it was not rotated.
    """
    revoked_at: str | None
    """
    When the key was revoked; null while it works.
    """
    api_key: str
    """
    Sent as `Authorization: Bearer`. Shown this once.
    """
    signing_secret: str
    """
    Signs your requests. Shown this once.
    """


class CreatePayoutBody(TypedDict):
    amount: str
    """
    IDR. With fee mode DEDUCTED the fee is taken from this; with ADDED it is reserved on top. What reaches the bank is a whole amount.
    """
    bank_code: str
    """
    A `bank_code` of `GET /v1/partners/channels`.
    """
    bank_account_number: str
    """
    Digits only, as the bank prints it.
    """
    beneficiary_name: NotRequired[str | None]
    """
    The holder's name as the bank has it. Without it the bank is given the account number in its place: where names are compared, the payout then fails with ACCOUNT_NAME_MISMATCH.
    """
    external_ref: NotRequired[str | None]
    """
    Your own reference, kept as sent, up to 128 characters. It need not be unique; lists filter by it.
    """
    metadata: NotRequired[dict[str, str] | None]
    """
    What you keep with it for yourself, up to 20 texts by names of your own; it is shown wherever the resource is, in webhooks too. It is sealed as names are, and forgotten with them.
    """


class ListPayoutsAnswer(TypedDict):
    """
    What was asked for.
    """

    items: list[ListedPayout]
    """
    The rows of this page, newest first.
    """
    page: int
    """
    The page, from 1. One beyond the last is empty.
    """
    limit: int
    """
    How many rows a page has, at most 100.
    """
    total: int
    """
    How many rows there are on all pages.
    """
    next: NotRequired[str]
    """
    Where the list goes on: the `after` of the next page. Absent when no row follows.
    """


ListPayoutsQuery = TypedDict(
    'ListPayoutsQuery',
    {
        'page': NotRequired[int],
        'limit': NotRequired[int],
        'after': NotRequired[str],
        'status': NotRequired[Literal['pending', 'succeeded', 'failed', 'reversed']],
        'external_ref': NotRequired[str],
        'reference': NotRequired[str],
        'bank_code': NotRequired[str],
        'from': NotRequired[str],
        'to': NotRequired[str],
    },
)


class Item1(TypedDict):
    amount: str
    """
    IDR as a decimal string, e.g. "50000" or "50000.0000". Never compute with it as a floating-point number.
    """
    bank_code: str
    """
    A `bank_code` of `GET /v1/partners/channels`.
    """
    bank_account_number: str
    """
    Digits only, as the bank prints it.
    """
    beneficiary_name: NotRequired[str | None]
    """
    The holder's name as the bank has it. Without it the bank is given the account number in its place: where names are compared, the payout then fails with ACCOUNT_NAME_MISMATCH.
    """
    external_ref: str
    """
    Your own reference of this item; no two items have the same.
    """
    metadata: NotRequired[dict[str, str] | None]
    """
    What you keep with it for yourself, up to 20 texts by names of your own; it is shown wherever the resource is, in webhooks too. It is sealed as names are, and forgotten with them.
    """


class CreatePayoutBatchBody(TypedDict):
    items: list[Item1]
    """
    The payouts.
    """
    external_ref: NotRequired[str | None]
    """
    Your own reference, kept as sent, up to 128 characters. It need not be unique; lists filter by it.
    """
    metadata: NotRequired[dict[str, str] | None]
    """
    What you keep with it for yourself, up to 20 texts by names of your own; it is shown wherever the resource is, in webhooks too. It is sealed as names are, and forgotten with them.
    """


class ListPayoutBatchesAnswer(TypedDict):
    """
    What was asked for.
    """

    items: list[PayoutBatch]
    """
    The rows of this page, newest first.
    """
    page: int
    """
    The page, from 1. One beyond the last is empty.
    """
    limit: int
    """
    How many rows a page has, at most 100.
    """
    total: int
    """
    How many rows there are on all pages.
    """
    next: NotRequired[str]
    """
    Where the list goes on: the `after` of the next page. Absent when no row follows.
    """


ListPayoutBatchesQuery = TypedDict(
    'ListPayoutBatchesQuery',
    {
        'page': NotRequired[int],
        'limit': NotRequired[int],
        'after': NotRequired[str],
        'status': NotRequired[Literal['needs_approval', 'processing', 'rejected', 'lapsed', 'completed']],
        'external_ref': NotRequired[str],
        'from': NotRequired[str],
        'to': NotRequired[str],
    },
)


class ListPayoutBatchItemsAnswer(TypedDict):
    """
    What was asked for.
    """

    items: list[PayoutBatchItem]
    """
    The items of this page.
    """
    page: int
    """
    The page, from 1. One beyond the last is empty.
    """
    limit: int
    """
    How many rows a page has, at most 100.
    """
    total: int
    """
    How many rows there are on all pages.
    """
    next: NotRequired[str]
    """
    Where the list goes on: the `after` of the next page. Absent when no row follows.
    """


class ListPayoutBatchItemsQuery(TypedDict):
    page: NotRequired[int]
    """
    The page, from 1. One beyond the last is empty.
    """
    limit: NotRequired[int]
    """
    How many rows a page has, at most 100.
    """
    after: NotRequired[str]
    """
    Continues the list, in place of `page`: the `next` of the page before, or the id of its last row. So rows made meanwhile neither repeat nor hide others. A `next` goes on working when that row is gone; an id that names no row of yours in this list is refused.
    """


class CreateBankAccountCheckBody(TypedDict):
    bank_code: str
    """
    A `bank_code` of `GET /v1/partners/channels`.
    """
    bank_account_number: str
    """
    The account to look up.
    """
    name: NotRequired[str | None]
    """
    Whose account it should be.
    """


class MaxPayoutAmount(TypedDict):
    """
    The most that one payout may be; null where no limits are set.
    """

    maximum: str
    """
    The limit.
    """
    used: str
    """
    How much of the limit is used now.
    """
    remaining: str
    """
    How much of the limit is left now.
    """


class MaxDailyAmount(TypedDict):
    """
    The most that payouts may come to in 24 hours that end now; null where no limits are set.
    """

    maximum: str
    """
    The limit.
    """
    used: str
    """
    How much of the limit is used now.
    """
    remaining: str
    """
    How much of the limit is left now.
    """


class MaxHourlyCount(TypedDict):
    """
    How many payouts may be made in an hour that ends now; null where no limits are set.
    """

    maximum: int
    """
    The limit.
    """
    used: int
    """
    How much of the limit is used now.
    """
    remaining: int
    """
    How much of the limit is left now.
    """


class ListLimitsAnswer(TypedDict):
    """
    What was asked for.
    """

    max_payout_amount: MaxPayoutAmount | None
    """
    The most that one payout may be; null where no limits are set.
    """
    max_daily_amount: MaxDailyAmount | None
    """
    The most that payouts may come to in 24 hours that end now; null where no limits are set.
    """
    max_hourly_count: MaxHourlyCount | None
    """
    How many payouts may be made in an hour that ends now; null where no limits are set.
    """


class Opening(TypedDict):
    """
    The balances at the beginning of the day.
    """

    balance: str
    """
    All that you are owed in IDR: `available` and `pending` together.
    """
    available: str
    """
    What payouts can use now, in IDR.
    """
    pending: str
    """
    Paid but not settled yet, and what payouts under way have reserved, in IDR.
    """


class Closing(TypedDict):
    """
    The balances at its end, or now.
    """

    balance: str
    """
    All that you are owed in IDR: `available` and `pending` together.
    """
    available: str
    """
    What payouts can use now, in IDR.
    """
    pending: str
    """
    Paid but not settled yet, and what payouts under way have reserved, in IDR.
    """


class Paid(TypedDict):
    """
    Customers paid; the net is pending.
    """

    count: int
    """
    How many there are.
    """
    amount: str
    """
    What was paid, moved or sent, without a sign; for a payout without its fee.
    """
    fee: str
    """
    The platform's fee in IDR, by your fee table at the moment of creation.
    """
    available: str
    """
    What it did to `available`, signed.
    """
    pending: str
    """
    What it did to `pending`, signed.
    """


class Settled(TypedDict):
    """
    What became available.
    """

    count: int
    """
    How many there are.
    """
    amount: str
    """
    What was paid, moved or sent, without a sign; for a payout without its fee.
    """
    fee: str
    """
    The platform's fee in IDR, by your fee table at the moment of creation.
    """
    available: str
    """
    What it did to `available`, signed.
    """
    pending: str
    """
    What it did to `pending`, signed.
    """


class Payouts(TypedDict):
    """
    What was sent to banks.
    """

    count: int
    """
    How many there are.
    """
    amount: str
    """
    What was paid, moved or sent, without a sign; for a payout without its fee.
    """
    fee: str
    """
    The platform's fee in IDR, by your fee table at the moment of creation.
    """
    available: str
    """
    What it did to `available`, signed.
    """
    pending: str
    """
    What it did to `pending`, signed.
    """


class Refunds(TypedDict):
    """
    What was sent back to customers.
    """

    count: int
    """
    How many there are.
    """
    amount: str
    """
    What was paid, moved or sent, without a sign; for a payout without its fee.
    """
    fee: str
    """
    The platform's fee in IDR, by your fee table at the moment of creation.
    """
    available: str
    """
    What it did to `available`, signed.
    """
    pending: str
    """
    What it did to `pending`, signed.
    """


class Reserved(TypedDict):
    """
    What payouts and refunds took from the available balance when they began.
    """

    count: int
    """
    How many there are.
    """
    amount: str
    """
    What was paid, moved or sent, without a sign; for a payout without its fee.
    """
    fee: str
    """
    The platform's fee in IDR, by your fee table at the moment of creation.
    """
    available: str
    """
    What it did to `available`, signed.
    """
    pending: str
    """
    What it did to `pending`, signed.
    """


class Returned(TypedDict):
    """
    What came back because a payout or refund failed.
    """

    count: int
    """
    How many there are.
    """
    amount: str
    """
    What was paid, moved or sent, without a sign; for a payout without its fee.
    """
    fee: str
    """
    The platform's fee in IDR, by your fee table at the moment of creation.
    """
    available: str
    """
    What it did to `available`, signed.
    """
    pending: str
    """
    What it did to `pending`, signed.
    """


class Reversed(TypedDict):
    """
    What a bank gave back after a payout had succeeded.
    """

    count: int
    """
    How many there are.
    """
    amount: str
    """
    What was paid, moved or sent, without a sign; for a payout without its fee.
    """
    fee: str
    """
    The platform's fee in IDR, by your fee table at the moment of creation.
    """
    available: str
    """
    What it did to `available`, signed.
    """
    pending: str
    """
    What it did to `pending`, signed.
    """


class Other(TypedDict):
    """
    Anything else, such as a correction by the operator.
    """

    count: int
    """
    How many there are.
    """
    amount: str
    """
    What was paid, moved or sent, without a sign; for a payout without its fee.
    """
    fee: str
    """
    The platform's fee in IDR, by your fee table at the moment of creation.
    """
    available: str
    """
    What it did to `available`, signed.
    """
    pending: str
    """
    What it did to `pending`, signed.
    """


class Totals(TypedDict):
    """
    Sums of the lines by group.
    """

    paid: Paid
    """
    Customers paid; the net is pending.
    """
    settled: Settled
    """
    What became available.
    """
    payouts: Payouts
    """
    What was sent to banks.
    """
    refunds: Refunds
    """
    What was sent back to customers.
    """
    reserved: Reserved
    """
    What payouts and refunds took from the available balance when they began.
    """
    returned: Returned
    """
    What came back because a payout or refund failed.
    """
    reversed: Reversed
    """
    What a bank gave back after a payout had succeeded.
    """
    other: Other
    """
    Anything else, such as a correction by the operator.
    """


class Line(TypedDict):
    created_at: str
    """
    When it was made.
    """
    group: Literal['paid', 'settled', 'payouts', 'refunds', 'reserved', 'returned', 'reversed', 'other']
    """
    The sum that the line belongs to.
    """
    kind: str
    """
    The kind of journal, as statements have it.
    """
    resource_id: str | None
    """
    The payment, payout or refund.
    """
    external_ref: str | None
    """
    Your own reference, kept as sent, up to 128 characters. It need not be unique; lists filter by it.
    """
    amount: str
    """
    What was paid, moved or sent, without a sign; for a payout without its fee.
    """
    fee: str
    """
    The platform's fee in IDR, by your fee table at the moment of creation.
    """
    available: str
    """
    What it did to `available`, signed.
    """
    pending: str
    """
    What it did to `pending`, signed.
    """
    journal_id: str
    """
    The journal's id.
    """


class GetSettlementAnswer(TypedDict):
    """
    What was asked for.
    """

    day: str
    """
    The day in UTC+7.
    """
    currency: Literal['IDR']
    """
    Always `IDR`.
    """
    sealed: bool
    """
    Whether it can no longer change.
    """
    opening: Opening
    """
    The balances at the beginning of the day.
    """
    closing: Closing
    """
    The balances at its end, or now.
    """
    totals: Totals
    """
    Sums of the lines by group.
    """
    lines: list[Line]
    """
    One line for each journal, oldest first.
    """


class GetSettlementQuery(TypedDict):
    bom: NotRequired[Literal[True, False]]
    """
    CSV begins with a byte order mark, by which spreadsheets recognize UTF-8.
    """


class CreateQuoteBody(TypedDict):
    method: Literal['virtual_account', 'qris', 'ewallet', 'payout']
    """
    A payment method, or `payout`.
    """
    amount: str
    """
    The amount that you would send at creation, in IDR.
    """
    channel: NotRequired[str | None]
    """
    Required for virtual_account and ewallet, omitted for qris.
    """
    organization_id: NotRequired[str | None]
    """
    The organization that the money is collected for: linked to you. Your own where it is left out.
    """
    bank_code: NotRequired[str | None]
    """
    Required for payout: a `bank_code` of `GET /v1/partners/channels`.
    """


class CreateQuoteAnswer(TypedDict):
    """
    What was asked for.
    """

    amount: str
    """
    The amount that you would send at creation, in IDR.
    """
    gross_amount: str
    """
    What the customer would pay, or what a payout would take from your balance, in IDR.
    """
    fee: str
    """
    The platform's fee in IDR, by your fee table at the moment of creation.
    """
    net_amount: str
    """
    Of a payment what you are owed, of a payout what reaches the bank; in IDR.
    """
    currency: Literal['IDR']
    """
    Always `IDR`.
    """
    quoted_at: str
    """
    When the fee was looked up. A quote reserves nothing; fees change with your fee table only.
    """


class CreatePaymentBody(TypedDict):
    method: Literal['virtual_account', 'qris', 'ewallet']
    """
    How the customer pays: `virtual_account`, `qris` or `ewallet`.
    """
    amount: str
    """
    IDR. With fee mode DEDUCTED the customer pays this; with ADDED the fee comes on top. What the customer pays is a whole amount.
    """
    channel: NotRequired[str | None]
    """
    Required for virtual_account and ewallet, omitted for qris.
    """
    organization_id: NotRequired[str | None]
    """
    The organization that the money is collected for: linked to you. Your own where it is left out.
    """
    external_ref: NotRequired[str | None]
    """
    Your own reference, kept as sent, up to 128 characters. It need not be unique; lists filter by it.
    """
    customer_name: NotRequired[str | None]
    """
    Shown to the customer by banks and wallets that show a name.
    """
    customer_email: NotRequired[str | None]
    """
    The customer's address; nothing is sent to it by us.
    """
    customer_phone: NotRequired[str | None]
    """
    Required for OVO, which asks the Indonesian mobile number 08..., 628... or +628.... Spaces, dots, dashes and parentheses do not count.
    """
    expires_in_minutes: NotRequired[int | None]
    """
    For how long the customer can pay, 1 to 2,880 minutes. The default is a day.
    """
    return_url: NotRequired[str | None]
    """
    Where an e-wallet's checkout sends the customer afterwards, paid or not; read the payment to know which. Without it that is a page of ours, which tells status and amount. Other methods send nobody anywhere.
    """
    metadata: NotRequired[dict[str, str] | None]
    """
    What you keep with it for yourself, up to 20 texts by names of your own; it is shown wherever the resource is, in webhooks too. It is sealed as names are, and forgotten with them.
    """


class ListPaymentsAnswer(TypedDict):
    """
    What was asked for.
    """

    items: list[PartnerPayment]
    """
    The rows of this page, newest first.
    """
    page: int
    """
    The page, from 1. One beyond the last is empty.
    """
    limit: int
    """
    How many rows a page has, at most 100.
    """
    total: int
    """
    How many rows there are on all pages.
    """
    next: NotRequired[str]
    """
    Where the list goes on: the `after` of the next page. Absent when no row follows.
    """


ListPaymentsQuery = TypedDict(
    'ListPaymentsQuery',
    {
        'page': NotRequired[int],
        'limit': NotRequired[int],
        'after': NotRequired[str],
        'status': NotRequired[Literal['pending', 'succeeded', 'failed', 'expired']],
        'external_ref': NotRequired[str],
        'reference': NotRequired[str],
        'method': NotRequired[Literal['virtual_account', 'qris', 'ewallet']],
        'channel': NotRequired[str],
        'organization_id': NotRequired[str],
        'instrument_id': NotRequired[str],
        'from': NotRequired[str],
        'to': NotRequired[str],
    },
)


class CreateInstrumentBody(TypedDict):
    method: Literal['virtual_account', 'qris']
    """
    How customers pay.
    """
    channel: NotRequired[str | None]
    """
    Required for virtual_account, omitted for qris.
    """
    amount: NotRequired[str | None]
    """
    IDR, a whole amount. Without it any amount may be paid.
    """
    external_ref: NotRequired[str | None]
    """
    Your own reference, kept as sent, up to 128 characters. It need not be unique; lists filter by it.
    """
    customer_name: NotRequired[str | None]
    """
    Shown to the customer by banks that show a name.
    """
    metadata: NotRequired[dict[str, str] | None]
    """
    What you keep with it for yourself, up to 20 texts by names of your own; it is shown wherever the resource is, in webhooks too. It is sealed as names are, and forgotten with them.
    """


class ListInstrumentsAnswer(TypedDict):
    """
    What was asked for.
    """

    items: list[Instrument]
    """
    The rows of this page, newest first.
    """
    page: int
    """
    The page, from 1. One beyond the last is empty.
    """
    limit: int
    """
    How many rows a page has, at most 100.
    """
    total: int
    """
    How many rows there are on all pages.
    """
    next: NotRequired[str]
    """
    Where the list goes on: the `after` of the next page. Absent when no row follows.
    """


ListInstrumentsQuery = TypedDict(
    'ListInstrumentsQuery',
    {
        'page': NotRequired[int],
        'limit': NotRequired[int],
        'after': NotRequired[str],
        'status': NotRequired[Literal['active', 'closed']],
        'external_ref': NotRequired[str],
        'from': NotRequired[str],
        'to': NotRequired[str],
    },
)


class CreatePaymentRefundBody(TypedDict):
    amount: NotRequired[str | None]
    """
    A whole IDR amount. Without it all that is left.
    """
    reason: str
    """
    For your own records; the customer is not told.
    """
    bank_code: NotRequired[str | None]
    """
    A `bank_code` of `GET /v1/partners/channels`. Required where the refund is a transfer.
    """
    bank_account_number: NotRequired[str | None]
    """
    Required where the refund is a transfer.
    """
    beneficiary_name: NotRequired[str | None]
    """
    The holder's name as the bank has it.
    """
    metadata: NotRequired[dict[str, str] | None]
    """
    What you keep with it for yourself, up to 20 texts by names of your own; it is shown wherever the resource is, in webhooks too. It is sealed as names are, and forgotten with them.
    """


class ListPaymentRefundsAnswer(TypedDict):
    """
    What was asked for.
    """

    items: list[Refund]
    """
    The rows of this page, newest first.
    """
    page: int
    """
    The page, from 1. One beyond the last is empty.
    """
    limit: int
    """
    How many rows a page has, at most 100.
    """
    total: int
    """
    How many rows there are on all pages.
    """
    next: NotRequired[str]
    """
    Where the list goes on: the `after` of the next page. Absent when no row follows.
    """


class ListPaymentRefundsQuery(TypedDict):
    page: NotRequired[int]
    """
    The page, from 1. One beyond the last is empty.
    """
    limit: NotRequired[int]
    """
    How many rows a page has, at most 100.
    """
    after: NotRequired[str]
    """
    Continues the list, in place of `page`: the `next` of the page before, or the id of its last row. So rows made meanwhile neither repeat nor hide others. A `next` goes on working when that row is gone; an id that names no row of yours in this list is refused.
    """


class PaymentSucceededWebhook(TypedDict):
    type: Literal['payment.succeeded']
    """
    What happened.
    """
    timestamp: str
    """
    When it happened.
    """
    test: NotRequired[Literal[True]]
    """
    Somebody on your side asked for an example: nothing happened. Absent from every other webhook.
    """
    data: WebhookPayment
    """
    The resource as its read endpoint shows it, with its `version`.
    """


class PaymentFailedWebhook(TypedDict):
    type: Literal['payment.failed']
    """
    What happened.
    """
    timestamp: str
    """
    When it happened.
    """
    test: NotRequired[Literal[True]]
    """
    Somebody on your side asked for an example: nothing happened. Absent from every other webhook.
    """
    data: WebhookPayment
    """
    The resource as its read endpoint shows it, with its `version`.
    """


class PaymentExpiredWebhook(TypedDict):
    type: Literal['payment.expired']
    """
    What happened.
    """
    timestamp: str
    """
    When it happened.
    """
    test: NotRequired[Literal[True]]
    """
    Somebody on your side asked for an example: nothing happened. Absent from every other webhook.
    """
    data: WebhookPayment
    """
    The resource as its read endpoint shows it, with its `version`.
    """


class PayoutSucceededWebhook(TypedDict):
    type: Literal['payout.succeeded']
    """
    What happened.
    """
    timestamp: str
    """
    When it happened.
    """
    test: NotRequired[Literal[True]]
    """
    Somebody on your side asked for an example: nothing happened. Absent from every other webhook.
    """
    data: WebhookPayout
    """
    The resource as its read endpoint shows it, with its `version`.
    """


class PayoutFailedWebhook(TypedDict):
    type: Literal['payout.failed']
    """
    What happened.
    """
    timestamp: str
    """
    When it happened.
    """
    test: NotRequired[Literal[True]]
    """
    Somebody on your side asked for an example: nothing happened. Absent from every other webhook.
    """
    data: WebhookPayout
    """
    The resource as its read endpoint shows it, with its `version`.
    """


class PayoutReversedWebhook(TypedDict):
    type: Literal['payout.reversed']
    """
    What happened.
    """
    timestamp: str
    """
    When it happened.
    """
    test: NotRequired[Literal[True]]
    """
    Somebody on your side asked for an example: nothing happened. Absent from every other webhook.
    """
    data: WebhookPayout
    """
    The resource as its read endpoint shows it, with its `version`.
    """


class RefundSucceededWebhook(TypedDict):
    type: Literal['refund.succeeded']
    """
    What happened.
    """
    timestamp: str
    """
    When it happened.
    """
    test: NotRequired[Literal[True]]
    """
    Somebody on your side asked for an example: nothing happened. Absent from every other webhook.
    """
    data: WebhookRefund
    """
    The resource as its read endpoint shows it, with its `version`.
    """


class RefundFailedWebhook(TypedDict):
    type: Literal['refund.failed']
    """
    What happened.
    """
    timestamp: str
    """
    When it happened.
    """
    test: NotRequired[Literal[True]]
    """
    Somebody on your side asked for an example: nothing happened. Absent from every other webhook.
    """
    data: WebhookRefund
    """
    The resource as its read endpoint shows it, with its `version`.
    """


class PayoutBatchCompletedWebhook(TypedDict):
    type: Literal['payout_batch.completed']
    """
    What happened.
    """
    timestamp: str
    """
    When it happened.
    """
    test: NotRequired[Literal[True]]
    """
    Somebody on your side asked for an example: nothing happened. Absent from every other webhook.
    """
    data: WebhookPayoutBatch
    """
    The resource as its read endpoint shows it, with its `version`.
    """


class PaymentAvailableWebhook(TypedDict):
    type: Literal['payment.available']
    """
    What happened.
    """
    timestamp: str
    """
    When it happened.
    """
    test: NotRequired[Literal[True]]
    """
    Somebody on your side asked for an example: nothing happened. Absent from every other webhook.
    """
    data: WebhookPayment
    """
    The resource as its read endpoint shows it, with its `version`.
    """


class PaymentUnmatchedWebhook(TypedDict):
    type: Literal['payment.unmatched']
    """
    What happened.
    """
    timestamp: str
    """
    When it happened.
    """
    test: NotRequired[Literal[True]]
    """
    Somebody on your side asked for an example: nothing happened. Absent from every other webhook.
    """
    data: WebhookUnmatchedPayment
    """
    The resource as its read endpoint shows it, with its `version`.
    """


class PayoutDelayedWebhook(TypedDict):
    type: Literal['payout.delayed']
    """
    What happened.
    """
    timestamp: str
    """
    When it happened.
    """
    test: NotRequired[Literal[True]]
    """
    Somebody on your side asked for an example: nothing happened. Absent from every other webhook.
    """
    data: WebhookPayout
    """
    The resource as its read endpoint shows it, with its `version`.
    """


class EndpointTestWebhook(TypedDict):
    type: Literal['endpoint.test']
    """
    What happened.
    """
    timestamp: str
    """
    When it happened.
    """
    test: NotRequired[Literal[True]]
    """
    Somebody on your side asked for an example: nothing happened. Absent from every other webhook.
    """
    data: WebhookTest
    """
    The resource as its read endpoint shows it, with its `version`.
    """


Webhook: TypeAlias = PaymentSucceededWebhook | PaymentFailedWebhook | PaymentExpiredWebhook | PayoutSucceededWebhook | PayoutFailedWebhook | PayoutReversedWebhook | RefundSucceededWebhook | RefundFailedWebhook | PayoutBatchCompletedWebhook | PaymentAvailableWebhook | PaymentUnmatchedWebhook | PayoutDelayedWebhook | EndpointTestWebhook
