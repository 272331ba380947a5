"""The client against the running product. All it uses is the ``credentials.json`` in ``DATA_DIR``."""

from __future__ import annotations

import json
import os
import time
import unittest
import urllib.parse
import urllib.request
import uuid
from pathlib import Path
from typing import Any, Callable, TypeVar

from amanah_partner import PartnerApiError, PartnerClient, VerifiedWebhook, WebhookError, verify_webhook
from amanah_partner.models import CreatePayoutBody

T = TypeVar("T")

GIVEN: Any = json.loads(Path(os.environ["DATA_DIR"], "credentials.json").read_text())
SECRET: str = GIVEN["partner"]["webhook_secret"]
PAYOUT: CreatePayoutBody = {
    "amount": "20000",
    "bank_code": "BCA",
    "bank_account_number": "1234567890",
    "beneficiary_name": "Siti",
}


def connect(**options: Any) -> PartnerClient:
    given = {"api_key": GIVEN["partner"]["api_key"], "signing_secret": GIVEN["partner"]["signing_secret"]}
    return PartnerClient(GIVEN["urls"]["api"], **{**given, **options})


client = connect()


def sandbox(path: str, body: Any = None) -> Any:
    """Controls the sandbox, acting as the customer or the bank."""
    request = urllib.request.Request(
        GIVEN["urls"]["sandbox"] + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


def eventually(ask: Callable[[], T], is_right: Callable[[T], bool]) -> T:
    deadline = time.monotonic() + 30
    while True:
        value = ask()
        if is_right(value):
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"it was still {value} after 30 s")
        time.sleep(0.05)


def receive(id: str) -> Any:
    """The webhook about a resource, as received by the demo partner's endpoint on the sandbox."""
    path = f"/sandbox/webhooks?contains={urllib.parse.quote(id)}"
    return eventually(lambda: sandbox(path)["webhooks"], lambda kept: len(kept) > 0)[0]


def told_of(id: str) -> VerifiedWebhook:
    kept = receive(id)
    return verify_webhook(SECRET, kept["headers"], kept["body"])


def collect(amount: str) -> str:
    """Lets a customer pay, and waits until the net amount can be paid out."""
    made = client.payments.create({"method": "virtual_account", "channel": "BCA", "amount": amount})
    sandbox("/sandbox/pay", {"payment_code": made["payment_code"]})
    paid = eventually(lambda: client.payments.get(made["id"]), lambda payment: payment["is_final"])
    assert paid["status"] == "succeeded", paid
    return made["id"]


class AgainstTheProduct(unittest.TestCase):
    def refused(self, call: Callable[[], Any]) -> PartnerApiError:
        with self.assertRaises(PartnerApiError) as raised:
            call()
        return raised.exception

    def test_collects_quote_payment_webhook_detail_timeline(self) -> None:
        quote = client.payments.quote({"method": "virtual_account", "channel": "BNI", "amount": "50000"})
        made = client.payments.create(
            {"method": "virtual_account", "channel": "BNI", "amount": "50000", "external_ref": "INV-7"}
        )
        self.assertEqual((made["status"], made["is_final"], made["reference"]), ("pending", False, "INV-7"))
        self.assertEqual((made["fee"], made["net_amount"]), (quote["fee"], quote["net_amount"]))
        sandbox("/sandbox/pay", {"payment_code": made["payment_code"]})
        webhook: Any = told_of(made["id"]).webhook
        self.assertEqual((webhook["type"], webhook["data"]["id"]), ("payment.succeeded", made["id"]))
        self.assertEqual(webhook["data"]["net_amount"], quote["net_amount"])
        self.assertEqual(client.payments.get(made["id"])["status"], "succeeded")
        self.assertIn("outcome", [item["type"] for item in client.payments.timeline(made["id"])["items"]])
        self.assertEqual([row["id"] for row in client.payments.all({"external_ref": "INV-7"})], [made["id"]])

    def test_cancels_an_open_payment_and_gets_a_409_for_a_paid_one(self) -> None:
        made = client.payments.create({"method": "qris", "amount": "50000"})
        self.assertEqual(client.payments.cancel(made["id"])["status"], "expired")
        self.assertEqual(told_of(made["id"]).webhook["type"], "payment.expired")
        paid = collect("30000")
        error = self.refused(lambda: client.payments.cancel(paid))
        self.assertEqual((error.status, error.code), (409, "PAYMENT_ALREADY_PAID"))

    def test_pays_out_balance_limits_payout_webhook_detail_timeline(self) -> None:
        collect("100000")
        before, used = client.balance(), client.limits()["max_hourly_count"]
        made = client.payouts.create({**PAYOUT, "external_ref": "PO-1"}, idempotency_key="python-payout-1")
        self.assertEqual((made["status"], made["amount"], made["external_ref"]), ("pending", "20000.0000", "PO-1"))
        webhook: Any = told_of(made["id"]).webhook
        self.assertEqual((webhook["type"], webhook["data"]["id"]), ("payout.succeeded", made["id"]))
        settled = client.payouts.get(made["id"])
        self.assertEqual((settled["status"], settled["is_final"]), ("succeeded", True))
        self.assertIsNone(client.payouts.timeline(made["id"])["next"])
        after, now_used = client.balance(), client.limits()["max_hourly_count"]
        self.assertEqual(float(before["balance"]) - float(after["balance"]), 20000)
        assert used is not None and now_used is not None
        self.assertEqual(now_used["used"] - used["used"], 1)

    def test_quotes_a_payout_to_a_checked_account(self) -> None:
        bank_code = PAYOUT["bank_code"]
        check = client.check_bank_account(
            {"bank_code": bank_code, "bank_account_number": PAYOUT["bank_account_number"]}
        )
        checked = client.payouts.quote(amount="20000", bank_account_check_id=check["id"])
        self.assertEqual(checked["fee"], client.payouts.quote(amount="20000", bank_code=bank_code)["fee"])

    def test_receives_a_webhook_with_the_code_of_a_failed_payout(self) -> None:
        collect("100000")
        made = client.payouts.create({**PAYOUT, "bank_account_number": "1234999999"}, idempotency_key="python-payout-2")
        webhook: Any = told_of(made["id"]).webhook
        self.assertEqual((webhook["type"], webhook["data"]["failure_code"]), ("payout.failed", "REJECTED_BY_CHANNEL"))

    def test_gets_the_first_response_again_under_its_key_and_a_refusal_for_another_body(self) -> None:
        key = "python-payment-1"
        first = client.payments.create({"method": "qris", "amount": "10000"}, idempotency_key=key)
        self.assertEqual(client.payments.create({"method": "qris", "amount": "10000"}, idempotency_key=key), first)
        error = self.refused(
            lambda: client.payments.create({"method": "qris", "amount": "10001"}, idempotency_key=key)
        )
        self.assertEqual((error.code, error.idempotency_key), ("REQUEST_IDEMPOTENCY_KEY_REUSED", key))

    def test_lists_channels_and_reads_every_page_once_newest_first(self) -> None:
        channels = client.channels()
        self.assertEqual(channels["fee_mode"], "DEDUCTED")
        self.assertIn("BCA", [bank["bank_code"] for bank in channels["payout_banks"]])
        windows = {one.get("channel"): one["refund_window_days"] for one in channels["collection"] if one["refundable"]}
        self.assertEqual(windows["DANA"], 30)
        made = [
            client.payments.create({"method": "qris", "amount": "10000", "external_ref": "PAGE"})["id"]
            for _ in range(5)
        ]
        read = [row["id"] for row in client.payments.all({"limit": 2, "external_ref": "PAGE", "status": "pending"})]
        self.assertEqual(read, made[::-1])
        page = client.payments.list({"limit": 2, "page": 3, "external_ref": "PAGE"})
        self.assertEqual((page["page"], page["limit"], page["total"], len(page["items"])), (3, 2, 5, 1))

    def test_reports_the_status_and_code_of_a_refusal(self) -> None:
        unknown = "3f2b8c1e-9d4a-4b7e-8a61-2c5d7e9f0a13"
        too_much: CreatePayoutBody = {**PAYOUT, "amount": "25000001"}
        calls: list[tuple[Callable[[], Any], int, str]] = [
            (lambda: connect(signing_secret="ams_somebody_else").balance(), 401, "AUTH_INVALID_CREDENTIALS"),
            (lambda: client.payments.get(unknown), 404, "RESOURCE_NOT_FOUND"),
            (lambda: client.payments.create({"method": "qris", "amount": "0.5"}), 400, "REQUEST_INVALID_PAYLOAD"),
            (lambda: client.payouts.create(too_much, idempotency_key=str(uuid.uuid4())), 422, "FUNDS_LIMIT_EXCEEDED"),
        ]
        for call, status, code in calls:
            error = self.refused(call)
            self.assertEqual((error.status, error.code), (status, code))
            self.assertTrue(error.request_id)

    def test_manages_its_own_endpoints(self) -> None:
        endpoints, deliveries = client.webhook_endpoints, client.webhook_deliveries
        url = f"{GIVEN['urls']['sandbox']}/sandbox/webhooks"
        made = endpoints.create({"url": url, "events": ["payout.failed"]})
        sent = endpoints.test(made["id"])
        kept = receive(made["id"])
        verified = verify_webhook(made["secret"], kept["headers"], kept["body"])
        self.assertEqual((verified.id, verified.webhook["type"]), (sent["webhook_id"], "endpoint.test"))
        self.assertNotEqual(endpoints.rotate_secret(made["id"])["secret"], made["secret"])
        delivered = eventually(
            lambda: list(deliveries.all({"endpoint_id": made["id"]})),
            lambda rows: [row["status"] for row in rows] == ["delivered"],
        )
        self.assertEqual(deliveries.get(delivered[0]["id"])["id"], sent["id"])
        period: Any = {"from": sent["created_at"], "to": "2999-12-31", "endpoint_id": made["id"], "dry_run": True}
        self.assertEqual(deliveries.replay(period), {"count": 1})
        self.assertEqual(endpoints.update(made["id"], {"status": "disabled"})["status"], "disabled")
        self.assertEqual(endpoints.delete(made["id"])["id"], made["id"])
        self.assertNotIn(made["id"], [row["id"] for row in endpoints.list()["items"]])

    def test_reads_the_statement_of_the_day(self) -> None:
        collect("30000")
        today = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 7 * 3600))
        statement = client.settlement(today)
        self.assertEqual(statement["day"], today)
        self.assertGreater(float(statement["totals"]["paid"]["amount"]), 0)

    def test_accepts_a_webhook_and_rejects_an_altered_one(self) -> None:
        kept = receive(collect("30000"))
        self.assertEqual(verify_webhook(SECRET, kept["headers"], kept["body"]).id, kept["headers"]["webhook-id"])
        with self.assertRaises(WebhookError):
            verify_webhook(SECRET, kept["headers"], kept["body"].replace("30000", "90000"))
