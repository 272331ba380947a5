"""The client: one method for each operation of the partner API."""

from __future__ import annotations

import uuid
from typing import Any, Callable, Iterator, Mapping, cast

from . import models
from .transport import Transport, in_path


class PartnerClient:
    """Signs every call, sends an idempotency key with every creation, and repeats only what is safe to repeat, always
    under the same key.

    ``attempts`` is the maximum number of attempts of a call, ``timeout`` the time-out of one attempt in seconds: a
    creation itself waits up to 20 s. No proxy may change the path, and this machine's clock must be accurate to five
    minutes: the second signature covers both. Raises ValueError for unusable options.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str,
        signing_secret: str,
        attempts: int = 5,
        timeout: float = 30.0,
    ) -> None:
        self._transport = Transport(
            base_url,
            api_key=api_key,
            signing_secret=signing_secret,
            attempts=attempts,
            timeout=timeout,
        )
        self.payments = Payments(self._transport)
        self.payouts = Payouts(self._transport)
        self.instruments = Instruments(self._transport)
        self.payout_batches = PayoutBatches(self._transport)
        self.webhook_endpoints = WebhookEndpoints(self._transport)
        self.webhook_deliveries = WebhookDeliveries(self._transport)

    def balance(self) -> models.GetBalanceAnswer:
        """The balance owed to you, and how much of it can be paid out now."""
        return cast(models.GetBalanceAnswer, self._transport.call("GET", "/v1/partners/balance"))

    def check_bank_account(self, body: models.CreateBankAccountCheckBody) -> models.BankAccountCheck:
        """Whether a bank account exists, and whether its holder is the expected one. Moves no money."""
        checked = self._transport.call("POST", "/v1/partners/bank-account-checks", body=body)
        return cast(models.BankAccountCheck, checked)

    def channels(self) -> models.ListChannelsAnswer:
        """The channels, banks and fees of this partner."""
        return cast(models.ListChannelsAnswer, self._transport.call("GET", "/v1/partners/channels"))

    def limits(self) -> models.ListLimitsAnswer:
        """The payout limits and how much of them is used."""
        return cast(models.ListLimitsAnswer, self._transport.call("GET", "/v1/partners/limits"))

    def settlement(self, day: str) -> models.GetSettlementAnswer:
        """The statement of one day of UTC+7, as ``2026-01-31``."""
        return cast(
            models.GetSettlementAnswer, self._transport.call("GET", f"/v1/partners/settlements/{in_path(day)}")
        )

    def rotate_key(self) -> models.RotateKeysAnswer:
        """Replaces this client's key and returns its successor, once. The old key works for another 24 hours.

        Not repeated automatically: if the response is lost, so is the successor, and the operator must issue another
        key.
        """
        return cast(models.RotateKeysAnswer, self._transport.call("POST", "/v1/partners/keys/rotate", once=True))


class _Resource:
    def __init__(self, transport: Transport) -> None:
        self._call = transport.call


class Payments(_Resource):
    """Payments by customers."""

    def quote(self, body: models.CreateQuoteBody) -> models.CreateQuoteAnswer:
        """What a payment would cost; creates nothing."""
        return cast(models.CreateQuoteAnswer, self._call("POST", "/v1/partners/quotes", body=body))

    def create(self, body: models.CreatePaymentBody, *, idempotency_key: str | None = None) -> models.PartnerPayment:
        """Creates a payment; the customer pays it with its ``payment_code``.

        Without a key, the client generates one for this call: a duplicate payment is only a second payment code.
        """
        key = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
        made = self._call("POST", "/v1/partners/payments", body=body, idempotency_key=key)
        return cast(models.PartnerPayment, made)

    def get(self, id: str) -> models.PartnerPayment:
        """The current state of a payment."""
        return cast(models.PartnerPayment, self._call("GET", f"/v1/partners/payments/{in_path(id)}"))

    def list(self, query: models.ListPaymentsQuery | None = None) -> models.ListPaymentsAnswer:
        """One page of the matching payments, newest first."""
        return cast(models.ListPaymentsAnswer, self._call("GET", "/v1/partners/payments", query=query))

    def all(self, query: models.ListPaymentsQuery | None = None) -> Iterator[models.PartnerPayment]:
        """Every matching payment, newest first, page after page."""
        return cast(Iterator[models.PartnerPayment], _read_on(self.list, query))

    def cancel(self, id: str) -> models.PartnerPayment:
        """Cancels an open payment: it becomes expired. Raises PAYMENT_ALREADY_PAID if it was paid first."""
        return cast(models.PartnerPayment, self._call("POST", f"/v1/partners/payments/{in_path(id)}/cancel"))

    def timeline(self, id: str) -> models.PartnerTimeline:
        """What happened to a payment, in plain words, and what happens next."""
        return cast(models.PartnerTimeline, self._call("GET", f"/v1/partners/payments/{in_path(id)}/timeline"))

    def refund(self, id: str, body: models.CreatePaymentRefundBody, *, idempotency_key: str) -> models.Refund:
        """Refunds a payment, in full or in part. The money is reserved when this returns; the outcome arrives by
        webhook or by polling. Store the key with your order before you call, as for a payout.
        """
        path = f"/v1/partners/payments/{in_path(id)}/refunds"
        return cast(models.Refund, self._call("POST", path, body=body, idempotency_key=idempotency_key))

    def get_refund(self, id: str, refund_id: str) -> models.Refund:
        """The current state of a refund."""
        path = f"/v1/partners/payments/{in_path(id)}/refunds/{in_path(refund_id)}"
        return cast(models.Refund, self._call("GET", path))

    def list_refunds(
        self, id: str, query: models.ListPaymentRefundsQuery | None = None
    ) -> models.ListPaymentRefundsAnswer:
        """One page of the refunds of a payment, newest first."""
        path = f"/v1/partners/payments/{in_path(id)}/refunds"
        return cast(models.ListPaymentRefundsAnswer, self._call("GET", path, query=query))

    def refund_timeline(self, id: str, refund_id: str) -> models.PartnerTimeline:
        """What happened to a refund, in plain words, and what happens next."""
        path = f"/v1/partners/payments/{in_path(id)}/refunds/{in_path(refund_id)}/timeline"
        return cast(models.PartnerTimeline, self._call("GET", path))


class Payouts(_Resource):
    """Payouts to banks."""

    def quote(
        self, *, amount: str, bank_code: str | None = None, bank_account_check_id: str | None = None
    ) -> models.CreateQuoteAnswer:
        """What a payout to this bank, or to the bank of an account check, would cost; reserves nothing."""
        body = {
            "method": "payout",
            "amount": amount,
            "bank_code": bank_code,
            "bank_account_check_id": bank_account_check_id,
        }
        return cast(models.CreateQuoteAnswer, self._call("POST", "/v1/partners/quotes", body=body))

    def create(self, body: models.CreatePayoutBody, *, idempotency_key: str) -> models.Payout:
        """Creates a payout. The money is reserved when this returns; the outcome arrives by webhook or by polling.

        Store the key with your order before you call: a generated key would differ when your own code repeats the
        call, and would pay twice.
        """
        made = self._call("POST", "/v1/partners/payouts", body=body, idempotency_key=idempotency_key)
        return cast(models.Payout, made)

    def get(self, id: str) -> models.Payout:
        """The current state of a payout."""
        return cast(models.Payout, self._call("GET", f"/v1/partners/payouts/{in_path(id)}"))

    def list(self, query: models.ListPayoutsQuery | None = None) -> models.ListPayoutsAnswer:
        """One page of the matching payouts, newest first."""
        return cast(models.ListPayoutsAnswer, self._call("GET", "/v1/partners/payouts", query=query))

    def all(self, query: models.ListPayoutsQuery | None = None) -> Iterator[models.ListedPayout]:
        """Every matching payout, newest first, page after page."""
        return cast(Iterator[models.ListedPayout], _read_on(self.list, query))

    def timeline(self, id: str) -> models.PartnerTimeline:
        """What happened to a payout, in plain words, and what happens next."""
        return cast(models.PartnerTimeline, self._call("GET", f"/v1/partners/payouts/{in_path(id)}/timeline"))


class Instruments(_Resource):
    """Reusable account numbers and QR codes."""

    def create(self, body: models.CreateInstrumentBody, *, idempotency_key: str) -> models.Instrument:
        """Creates an account number or QR code that a customer can pay any number of times."""
        made = self._call("POST", "/v1/partners/instruments", body=body, idempotency_key=idempotency_key)
        return cast(models.Instrument, made)

    def get(self, id: str) -> models.Instrument:
        """The current state of an instrument."""
        return cast(models.Instrument, self._call("GET", f"/v1/partners/instruments/{in_path(id)}"))

    def list(self, query: models.ListInstrumentsQuery | None = None) -> models.ListInstrumentsAnswer:
        """One page of the matching instruments, newest first."""
        return cast(models.ListInstrumentsAnswer, self._call("GET", "/v1/partners/instruments", query=query))

    def close(self, id: str) -> models.Instrument:
        """Closes it at the provider; money paid before still becomes payments."""
        return cast(models.Instrument, self._call("POST", f"/v1/partners/instruments/{in_path(id)}/close"))


class PayoutBatches(_Resource):
    """Payouts that one key creates and another approves, all or none."""

    def create(self, body: models.CreatePayoutBatchBody, *, idempotency_key: str) -> models.PayoutBatch:
        """Creates a batch of up to 1,000 payouts, which another key must approve; reserves nothing yet."""
        made = self._call("POST", "/v1/partners/payout-batches", body=body, idempotency_key=idempotency_key)
        return cast(models.PayoutBatch, made)

    def get(self, id: str) -> models.PayoutBatch:
        """The current state of a batch."""
        return cast(models.PayoutBatch, self._call("GET", f"/v1/partners/payout-batches/{in_path(id)}"))

    def list(self, query: models.ListPayoutBatchesQuery | None = None) -> models.ListPayoutBatchesAnswer:
        """One page of the matching batches, newest first."""
        listed = self._call("GET", "/v1/partners/payout-batches", query=query)
        return cast(models.ListPayoutBatchesAnswer, listed)

    def list_items(
        self, id: str, query: models.ListPayoutBatchItemsQuery | None = None
    ) -> models.ListPayoutBatchItemsAnswer:
        """One page of the items of a batch, in the order you sent them."""
        listed = self._call("GET", f"/v1/partners/payout-batches/{in_path(id)}/items", query=query)
        return cast(models.ListPayoutBatchItemsAnswer, listed)

    def approve(self, id: str) -> models.PayoutBatch:
        """Reserves the money of all its items, or of none, and sends them.

        Requires another key than the one that created it.
        """
        path = f"/v1/partners/payout-batches/{in_path(id)}/approve"
        return cast(models.PayoutBatch, self._call("POST", path, once=True))

    def reject(self, id: str) -> models.PayoutBatch:
        """Rejects it unpaid. Requires another key than the one that created it."""
        path = f"/v1/partners/payout-batches/{in_path(id)}/reject"
        return cast(models.PayoutBatch, self._call("POST", path, once=True))


class WebhookEndpoints(_Resource):
    """Endpoints for webhooks."""

    def create(self, body: models.CreateWebhookEndpointBody) -> models.WebhookEndpointWithSecret:
        """Adds an endpoint, at most ten; only this response contains its secret. Not repeated automatically."""
        made = self._call("POST", "/v1/partners/webhook-endpoints", body=body, once=True)
        return cast(models.WebhookEndpointWithSecret, made)

    def list(self, query: models.ListWebhookEndpointsQuery | None = None) -> models.ListWebhookEndpointsAnswer:
        """The endpoints, newest first."""
        return cast(models.ListWebhookEndpointsAnswer, self._call("GET", "/v1/partners/webhook-endpoints", query=query))

    def update(self, id: str, body: models.UpdateWebhookEndpointBody) -> models.WebhookEndpoint:
        """Changes its URL or events, or disables or enables it."""
        path = f"/v1/partners/webhook-endpoints/{in_path(id)}"
        return cast(models.WebhookEndpoint, self._call("PATCH", path, body=body))

    def delete(self, id: str) -> models.WebhookEndpoint:
        """Removes an endpoint, and returns it as it was."""
        return cast(models.WebhookEndpoint, self._call("DELETE", f"/v1/partners/webhook-endpoints/{in_path(id)}"))

    def rotate_secret(self, id: str) -> models.WebhookEndpointWithSecret:
        """Returns a new secret, once; the old one also signs for 24 hours. Not repeated automatically."""
        path = f"/v1/partners/webhook-endpoints/{in_path(id)}/rotate-secret"
        return cast(models.WebhookEndpointWithSecret, self._call("POST", path, once=True))

    def test(self, id: str) -> models.WebhookDelivery:
        """Sends ``endpoint.test`` to the endpoint; returns the delivery."""
        path = f"/v1/partners/webhook-endpoints/{in_path(id)}/test"
        return cast(models.WebhookDelivery, self._call("POST", path, once=True))


class WebhookDeliveries(_Resource):
    """The outcome of each webhook."""

    def list(self, query: models.ListWebhookDeliveriesQuery | None = None) -> models.ListWebhookDeliveriesAnswer:
        """One page of the matching webhooks, newest first, with the outcome of each."""
        read = self._call("GET", "/v1/partners/webhook-deliveries", query=query)
        return cast(models.ListWebhookDeliveriesAnswer, read)

    def all(self, query: models.ListWebhookDeliveriesQuery | None = None) -> Iterator[models.WebhookDelivery]:
        """Every matching webhook, newest first, page after page."""
        return cast(Iterator[models.WebhookDelivery], _read_on(self.list, query))

    def get(self, id: str) -> models.WebhookDeliveryWithBody:
        """The outcome of one webhook; in development the API adds the ``body`` that it sends."""
        path = f"/v1/partners/webhook-deliveries/{in_path(id)}"
        return cast(models.WebhookDeliveryWithBody, self._call("GET", path))

    def redeliver(self, id: str) -> models.WebhookDelivery:
        """Sends a webhook again at once, whatever its outcome."""
        path = f"/v1/partners/webhook-deliveries/{in_path(id)}/redeliver"
        return cast(models.WebhookDelivery, self._call("POST", path))

    def replay(self, body: models.ReplayWebhookDeliveriesBody) -> models.ReplayWebhookDeliveriesAnswer:
        """Sends every webhook of a period again, delivered ones too; returns how many.

        Not repeated automatically: each call resends them all. With ``dry_run`` it only counts.
        """
        path = "/v1/partners/webhook-deliveries/replay"
        return cast(models.ReplayWebhookDeliveriesAnswer, self._call("POST", path, body=body, once=True))


def _read_on(read: Callable[[Any], Any], query: Mapping[str, Any] | None) -> Iterator[Any]:
    """Continues from the position that each page returns, so that new rows neither repeat nor hide a row."""
    asked: dict[str, Any] = {"limit": 100, **(query or {})}
    while True:
        page = read(asked)
        yield from page["items"]
        if "next" not in page:
            return
        asked["after"] = page["next"]
