"""Verification of webhooks (Standard Webhooks)."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Iterable, Mapping, cast

from standardwebhooks import Webhook as _Verifier
from standardwebhooks import WebhookVerificationError

from .models import Webhook

_PREFIX = "whsec_"
_SHORTEST_SECRET_BYTES = 24


class WebhookError(Exception):
    """Raised for a webhook that must not be trusted: answer it with 401."""


@dataclass(frozen=True)
class VerifiedWebhook:
    """``id`` is the same at every attempt: skip one that you have already processed."""

    id: str
    webhook: Webhook


def verify_webhook(secrets: str | Iterable[str], headers: Mapping[str, str], body: str | bytes) -> VerifiedWebhook:
    """Verifies a webhook and parses it.

    ``body`` is what was received, byte for byte, before any parsing; ``secrets`` are the valid ``whsec_...``, one or
    more. Raises WebhookError when it is not from the platform, or its timestamp is more than 5 minutes off; ValueError
    for an invalid secret, TypeError for a body that is already parsed.
    """
    keys = [_checked(secret) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
    if not isinstance(body, (str, bytes)):
        raise TypeError("the body of a webhook is the text or the bytes as received, before any parsing")
    given = {name.lower(): value for name, value in headers.items()}
    reasons: list[str] = []
    for key in keys:
        try:
            _Verifier(key).verify(body, given, json_parse=False)
        except (WebhookVerificationError, ValueError) as error:
            # A signature that is not base64, or a body that is not UTF-8, is a ValueError of the verifier.
            reasons.append(str(error))
            continue
        return VerifiedWebhook(id=given["webhook-id"], webhook=cast(Webhook, json.loads(body)))
    raise WebhookError(reasons[-1] if reasons else "there is no secret to verify the webhook with")


def _checked(secret: str) -> str:
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True) if secret.startswith(_PREFIX) else b""
    except binascii.Error:
        key = b""
    if len(key) < _SHORTEST_SECRET_BYTES:
        raise ValueError(f"a webhook secret is {_PREFIX} and base64, as the platform showed it")
    return secret
