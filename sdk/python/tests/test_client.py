"""The client against a fake API that answers as scripted."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
import unittest
from typing import Any

from amanah_partner import NoAnswerError, PartnerApiError, PartnerClient

from .peer import DONE, RESET, Answer, Peer, refusal

SECRET = "ams_secret"
KEY = "order-4711"
PAYOUT: Any = {"amount": "20000", "bank_code": "BCA", "bank_account_number": "1234567890"}


def connect(url: str, **options: Any) -> PartnerClient:
    return PartnerClient(url, api_key="amk_key", signing_secret=SECRET, **options)


def hmac_of(text: bytes) -> str:
    return hmac.new(SECRET.encode(), text, hashlib.sha256).hexdigest()


class TheClient(unittest.TestCase):
    def test_signs_the_bytes_that_it_sends_and_keeps_the_path_of_base_url(self) -> None:
        with Peer(DONE) as peer:
            client = connect(f"{peer.url}/amanah/")
            client.payments.create({"method": "qris", "amount": "50000", "customer_name": "Siti Nurhaliza 🌸"})
            client.payments.list({"status": "failed", "external_ref": "a b&c"})
            create, read = peer.requests
        self.assertEqual(create.target, "/amanah/v1/partners/payments")
        self.assertEqual(create.headers["authorization"], "Bearer amk_key")
        self.assertEqual(create.headers["x-partner-signature"], hmac_of(create.body))
        self.assertRegex(create.headers["x-idempotency-key"], r"^[\w-]{36}$")
        self.assertEqual(json.loads(create.body)["customer_name"], "Siti Nurhaliza 🌸")
        self.assertEqual(read.target, "/amanah/v1/partners/payments?status=failed&external_ref=a+b%26c")
        self.assertEqual(read.headers["x-partner-signature"], hmac_of(b""))

    def test_signs_time_method_path_query_key_and_body_of_every_attempt(self) -> None:
        with Peer(refusal(503, "SERVICE_UNAVAILABLE", retry_after="0"), DONE) as peer:
            connect(peer.url).payouts.create(PAYOUT, idempotency_key=KEY)
            connect(f"{peer.url}/amanah/").payments.list({"external_ref": "a b&c"})
            self.assertEqual(len(peer.requests), 3)
            for request in peer.requests:
                found = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})", request.headers["x-partner-signature-v2"])
                assert found is not None
                self.assertLess(abs(time.time() - int(found[1])), 60)
                key = request.headers.get("x-idempotency-key", "")
                digest = hashlib.sha256(request.body).hexdigest()
                signed = "\n".join((found[1], request.method, request.target, key, digest))
                self.assertEqual(found[2], hmac_of(signed.encode()))

    def test_retries_the_same_bytes_under_the_same_key(self) -> None:
        actions: list[Answer | str] = [
            refusal(503, "SERVICE_UNAVAILABLE", retry_after="0"),
            refusal(429, "REQUEST_RATE_LIMITED", retry_after="0"),
            refusal(500, "INTERNAL"),
            refusal(408, "REQUEST_TIMEOUT"),
            refusal(504, "PROVIDER_INDETERMINATE"),
            Answer(502, "<h1>Bad Gateway</h1>"),
            RESET,
            Answer(200, '{"hello":"world"}'),
            Answer(200, '{"data":{"id"'),
        ]
        for action in actions:
            with self.subTest(action), Peer(action, DONE) as peer:
                self.assertEqual(connect(peer.url).payouts.create(PAYOUT, idempotency_key=KEY), {"id": "made"})
                sent = {(request.headers["x-idempotency-key"], request.body) for request in peer.requests}
                self.assertEqual((len(peer.requests), len(sent)), (2, 1))

    def test_does_not_retry_a_refusal(self) -> None:
        for status, code in ((400, "REQUEST_INVALID_PAYLOAD"), (401, "AUTH_INVALID_CREDENTIALS"), (502, "PROVIDER_REFUSED")):
            with self.subTest(code), Peer(refusal(status, code, details={"limit": "x"})) as peer:
                with self.assertRaises(PartnerApiError) as raised:
                    connect(peer.url).payouts.create(PAYOUT, idempotency_key=KEY)
                error = raised.exception
                self.assertEqual((error.status, error.code, str(error)), (status, code, f"{code}: no"))
                self.assertEqual((error.request_id, error.idempotency_key, error.details), ("r-1", KEY, {"limit": "x"}))
                self.assertEqual(len(peer.requests), 1)

    def test_does_not_retry_a_key_rotation(self) -> None:
        with Peer(RESET) as peer, self.assertRaises(NoAnswerError):
            connect(peer.url).rotate_key()
        self.assertEqual(len(peer.requests), 1)

    def test_suggests_checking_base_url_when_something_else_responds(self) -> None:
        moved = Answer(301, "", {"location": "https://pay.example.org/"})
        for answer, said in ((moved, "a redirect to https://pay.example.org/"), (Answer(404, "<h1>"), "is not from the API")):
            with self.subTest(said), Peer(answer) as peer:
                with self.assertRaisesRegex(PartnerApiError, said) as raised:
                    connect(peer.url).balance()
                self.assertEqual(raised.exception.code, "UNREADABLE")
                self.assertEqual(len(peer.requests), 1)

    def test_reports_whether_a_payout_may_have_been_created(self) -> None:
        cases: list[tuple[bool, list[Answer | str]]] = [
            (True, [RESET, refusal(429, "REQUEST_RATE_LIMITED")]),
            (True, [RESET, refusal(401, "AUTH_INVALID_CREDENTIALS")]),
            (True, [refusal(503, "SERVICE_UNAVAILABLE")]),
            (True, [Answer(502, "<h1>Bad Gateway</h1>")]),
            (False, [RESET, refusal(422, "FUNDS_LIMIT_EXCEEDED")]),
            (False, [refusal(502, "PROVIDER_REFUSED")]),
            (False, [refusal(429, "REQUEST_RATE_LIMITED")]),
        ]
        for expected, plan in cases:
            with self.subTest(plan), Peer(*plan) as peer:
                with self.assertRaises(PartnerApiError) as raised:
                    connect(peer.url, attempts=len(plan)).payouts.create(PAYOUT, idempotency_key=KEY)
                self.assertEqual(raised.exception.is_indeterminate, expected)

    def test_treats_a_refused_refund_as_not_created_even_after_an_unanswered_attempt(self) -> None:
        for refused in (refusal(409, "PAYMENT_NOT_PAID"), refusal(422, "FUNDS_REFUND_EXCEEDED")):
            with self.subTest(refused), Peer(RESET, refused) as peer:
                with self.assertRaises(PartnerApiError) as raised:
                    connect(peer.url).payments.refund("p-1", {"reason": "late"}, idempotency_key=KEY)
                self.assertFalse(raised.exception.is_indeterminate)
                self.assertEqual(len(peer.requests), 2)

    def test_fails_after_its_last_attempt_with_the_key_for_a_later_retry(self) -> None:
        with Peer(RESET) as peer, self.assertRaisesRegex(NoAnswerError, "no answer in 2 attempts") as raised:
            connect(peer.url, attempts=2).payouts.create(PAYOUT, idempotency_key=KEY)
        self.assertEqual(raised.exception.idempotency_key, KEY)

    def test_fails_at_once_if_retry_after_exceeds_a_minute(self) -> None:
        with Peer(refusal(503, "SERVICE_UNAVAILABLE", retry_after="3600")) as peer:
            with self.assertRaises(PartnerApiError) as raised:
                connect(peer.url).balance()
            self.assertEqual((raised.exception.retry_after_seconds, len(peer.requests)), (3600, 1))

    def test_rejects_invalid_options_keys_and_ids_without_sending(self) -> None:
        with Peer(DONE) as peer:
            for api_key, signing_secret in (("", SECRET), ("amk_key", "ams_secret\n")):
                with self.assertRaisesRegex(ValueError, "is missing or has invalid characters"):
                    PartnerClient(peer.url, api_key=api_key, signing_secret=signing_secret)
            with self.assertRaisesRegex(ValueError, "base_url is the address"):
                connect("pay.example.org")
            client = connect(peer.url)
            for key in ("short", " padded-key ", "päckchen-4711"):
                with self.assertRaisesRegex(ValueError, "8 to 128"):
                    client.payouts.create(PAYOUT, idempotency_key=key)
            for id in ("", ".."):
                with self.assertRaisesRegex(ValueError, "id is missing"):
                    client.payouts.get(id)
            self.assertEqual(peer.requests, [])

    def test_reads_all_pages_and_stops_after_the_last(self) -> None:
        def page(*ids: str, **more: str) -> Answer:
            items = [{"id": id} for id in ids]
            return Answer(200, {"data": {"items": items, "page": 1, "limit": 2, "total": 4, **more}})

        with Peer(page("d", "c", next="nRead-on"), page("b", "a")) as peer:
            self.assertEqual([row["id"] for row in connect(peer.url).payouts.all({"limit": 2})], ["d", "c", "b", "a"])
            targets = [request.target for request in peer.requests]
        self.assertEqual(targets, ["/v1/partners/payouts?limit=2", "/v1/partners/payouts?limit=2&after=nRead-on"])
