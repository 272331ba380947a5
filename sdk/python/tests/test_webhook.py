"""Verification of webhooks, without a sender."""

from __future__ import annotations

import base64
import json
import unittest
from datetime import datetime, timedelta, timezone
from typing import Any

from standardwebhooks import Webhook

from amanah_partner import WebhookError, verify_webhook

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OTHER = "whsec_" + base64.b64encode(bytes(32)).decode()
BODY = '{ "type": "payment.succeeded",  "data": { "reference": "Žižek" } }'


def headers(secret: str = SECRET, *, age: timedelta = timedelta(), **changes: str) -> dict[str, str]:
    at = datetime.now(timezone.utc) - age
    return {
        "Webhook-Id": "msg-1",
        "Webhook-Timestamp": str(int(at.timestamp())),
        "Webhook-Signature": Webhook(secret).sign("msg-1", at, BODY),
        **{name.replace("_", "-"): value for name, value in changes.items()},
    }


class VerifyWebhook(unittest.TestCase):
    def test_accepts_text_or_bytes_signed_with_either_secret(self) -> None:
        for secrets, body in ((SECRET, BODY), ([OTHER, SECRET], BODY), (SECRET, BODY.encode())):
            verified = verify_webhook(secrets, headers(), body)
            self.assertEqual((verified.id, verified.webhook), ("msg-1", json.loads(BODY)))
        both = f"{headers(OTHER)['Webhook-Signature']} {headers()['Webhook-Signature']}"
        self.assertEqual(verify_webhook(SECRET, headers(Webhook_Signature=both), BODY).id, "msg-1")

    def test_rejects_forged_altered_old_and_unsigned_webhooks(self) -> None:
        refused: list[tuple[dict[str, str], str | bytes]] = [
            (headers(OTHER), BODY),
            (headers(), BODY.replace("succeeded", "failed")),
            (headers(), b"\xff\xfe"),
            (headers(age=timedelta(minutes=6)), BODY),
            (headers(age=timedelta(minutes=-6)), BODY),
            (headers(Webhook_Id="msg-2"), BODY),
            (headers(Webhook_Timestamp="soon"), BODY),
            (headers(Webhook_Signature=""), BODY),
            (headers(Webhook_Signature="v1,%%%"), BODY),
            (headers(Webhook_Signature="nothing"), BODY),
            ({}, BODY),
        ]
        for given, body in refused:
            with self.subTest(given), self.assertRaises(WebhookError):
                verify_webhook(SECRET, given, body)

    def test_rejects_malformed_secrets_and_parsed_bodies(self) -> None:
        for secret in ("", "whsec_", "whsec_c2hvcnQ=", SECRET[6:]):
            with self.subTest(secret), self.assertRaisesRegex(ValueError, "a webhook secret is whsec_"):
                verify_webhook(secret, headers(), BODY)
        parsed: Any = json.loads(BODY)
        with self.assertRaisesRegex(TypeError, "before any parsing"):
            verify_webhook(SECRET, headers(), parsed)
