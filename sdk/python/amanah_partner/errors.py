"""The errors that a call raises."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Mapping

# The API answers with these under a key only after looking up what was created under it: nothing was, or nothing more
# will be. Any other refusal leaves open what happened to an earlier attempt.
_DECISIVE = frozenset(
    {
        "REQUEST_INVALID_PAYLOAD",
        "REQUEST_IDEMPOTENCY_KEY_REUSED",
        "RESOURCE_NOT_LINKED",
        "PAYMENT_NOT_PAID",
        "FUNDS_INSUFFICIENT_BALANCE",
        "FUNDS_LIMIT_EXCEEDED",
        "FUNDS_REFUND_EXCEEDED",
        "FUNDS_PAYOUT_SUSPENDED",
        "PROVIDER_REFUSED",
    }
)

UNREADABLE = "UNREADABLE"
"""The code when something other than the API answered."""


class PartnerApiError(Exception):
    """An error response of the API, by its ``code`` (``FUNDS_LIMIT_EXCEEDED``, ...).

    ``is_indeterminate`` means that a creation may have been carried out, or may still be: repeat it under the same
    key, or poll; never send it under another.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        details: Any = None,
        request_id: str | None = None,
        idempotency_key: str | None = None,
        retry_after_seconds: float | None = None,
        is_indeterminate: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.details = details
        self.request_id = request_id
        self.idempotency_key = idempotency_key
        self.retry_after_seconds = retry_after_seconds
        self.is_indeterminate = is_indeterminate


class NoAnswerError(Exception):
    """The last attempt got no answer; ``__cause__`` has the reason.

    The resource may have been created: repeat the creation under ``idempotency_key``, never under another.
    """

    def __init__(self, operation: str, *, attempts: int, idempotency_key: str | None, cause: BaseException) -> None:
        times = "1 attempt" if attempts == 1 else f"{attempts} attempts"
        super().__init__(f"{operation} got no answer in {times} ({cause})")
        self.idempotency_key = idempotency_key


def read_refusal(
    status: int,
    headers: Mapping[str, str],
    text: str,
    *,
    idempotency_key: str | None,
    may_be_done: bool,
) -> PartnerApiError:
    """The error for an answer that is not a success; ``may_be_done``: an earlier attempt may have been carried out."""
    retry_after = _read_retry_after(headers.get("retry-after"))
    is_open = idempotency_key is not None and (may_be_done or status >= 500)
    refusal = _read_envelope(text)
    if refusal is None:
        target = headers.get("location")
        what = "the answer is not from the API" if target is None else f"a redirect to {target}"
        return PartnerApiError(
            f"status {status}, {what}: is base_url right?",
            status=status,
            code=UNREADABLE,
            idempotency_key=idempotency_key,
            retry_after_seconds=retry_after,
            is_indeterminate=is_open,
        )
    error = refusal["error"]
    code = error["code"]
    return PartnerApiError(
        f"{code}: {error.get('message')}",
        status=status,
        code=code,
        details=error.get("details"),
        request_id=refusal.get("request_id"),
        idempotency_key=idempotency_key,
        retry_after_seconds=retry_after,
        is_indeterminate=is_open and code not in _DECISIVE,
    )


def _read_envelope(text: str) -> dict[str, Any] | None:
    try:
        read = json.loads(text)
    except ValueError:
        return None
    error = read.get("error") if isinstance(read, dict) else None
    return read if isinstance(error, dict) and isinstance(error.get("code"), str) else None


def _read_retry_after(header: str | None) -> float | None:
    """Seconds, or an HTTP date."""
    if header is None:
        return None
    if header.isascii() and header.isdigit():
        return float(header)
    try:
        at = parsedate_to_datetime(header)
    except ValueError:
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=timezone.utc)
    return max(0.0, (at - datetime.now(timezone.utc)).total_seconds())
