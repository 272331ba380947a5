"""Signs and sends calls, and retries those that may be retried."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import random
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Mapping

from .errors import UNREADABLE, NoAnswerError, PartnerApiError, read_refusal

_FIRST_WAIT = 0.25
_LONGEST_WAIT = 8.0
# If the API asks for a longer wait, the call fails instead, and the caller decides what to do.
_LONGEST_RETRY_AFTER = 60.0
# Nothing was decided, or the outcome is not known yet: repeat the same request under the same key.
_REPEATABLE = frozenset({408, 429, 500, 503, 504})
# Of how many calls without an idempotency key the last signed second is remembered.
_MOST_TIMES = 1000
_KEY = re.compile(r"[\x21-\x7e][\x20-\x7e]{6,126}[\x21-\x7e]")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: a signed call goes nowhere else."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Transport:
    """One partner's connection to the API; raises ValueError for unusable options."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str,
        signing_secret: str,
        attempts: int,
        timeout: float,
    ) -> None:
        base = urllib.parse.urlsplit(base_url)
        if base.scheme not in ("http", "https") or not base.netloc:
            raise ValueError(f"base_url is the address of the API, like https://pay.example.org, not {base_url}")
        for name, value in (("api_key", api_key), ("signing_secret", signing_secret)):
            if not re.fullmatch(r"[\x21-\x7e]+", value):
                raise ValueError(f"{name} is missing or has invalid characters")
        self._origin = f"{base.scheme}://{base.netloc}"
        self._prefix = base.path.rstrip("/")
        self._api_key = api_key
        self._secret = signing_secret.encode()
        self._attempts = attempts
        self._timeout = timeout
        self._times: dict[str, int] = {}
        self._lock = threading.Lock()
        self._opener = urllib.request.build_opener(_NoRedirect)

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        idempotency_key: str | None = None,
        once: bool = False,
    ) -> Any:
        """The ``data`` of the answer. A call with ``once`` is never repeated automatically."""
        if idempotency_key is not None and not _KEY.fullmatch(idempotency_key):
            raise ValueError("idempotency_key must be 8 to 128 printable ASCII characters, stored with your own order")
        asked = {name: value for name, value in (query or {}).items() if value is not None}
        target = self._prefix + path + (f"?{urllib.parse.urlencode(asked)}" if asked else "")
        # The signed bytes are the bytes sent, in every attempt.
        raw = b"" if body is None else json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        may_be_done = False
        tried = 0
        while True:
            tried += 1
            outcome: PartnerApiError | NoAnswerError
            try:
                return self._attempt(method, target, raw, idempotency_key, may_be_done)
            except PartnerApiError as refusal:
                outcome = refusal
                may_be_done = refusal.is_indeterminate
            except (OSError, http.client.HTTPException, ValueError) as cause:
                outcome = NoAnswerError(
                    f"{method} {path}", attempts=tried, idempotency_key=idempotency_key, cause=cause
                )
                outcome.__cause__ = cause
                may_be_done = True
            wait = _wait_before(tried + 1, outcome)
            if once or tried >= self._attempts or wait is None:
                raise outcome
            time.sleep(wait)

    def _attempt(self, method: str, target: str, raw: bytes, idempotency_key: str | None, may_be_done: bool) -> Any:
        headers = {
            "authorization": f"Bearer {self._api_key}",
            "user-agent": "amanah-partner-python/1.0.0",
            "x-partner-signature": self._sign(raw),
            "x-partner-signature-v2": self._sign_request(method, target, raw, idempotency_key or ""),
        }
        if raw:
            headers["content-type"] = "application/json"
        if idempotency_key is not None:
            headers["x-idempotency-key"] = idempotency_key
        request = urllib.request.Request(self._origin + target, data=raw or None, headers=headers, method=method)
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                text = answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                given = {name.lower(): value for name, value in error.headers.items()}
                refused = error.read().decode(errors="replace")
            raise read_refusal(
                error.code, given, refused, idempotency_key=idempotency_key, may_be_done=may_be_done
            ) from None
        read = json.loads(text)
        if not isinstance(read, dict) or "data" not in read:
            raise ValueError("the answer is not from the API: is base_url right?")
        return read["data"]

    def _sign(self, signed: bytes) -> str:
        return hmac.new(self._secret, signed, hashlib.sha256).hexdigest()

    def _sign_request(self, method: str, target: str, raw: bytes, idempotency_key: str) -> str:
        """The signature over the whole request, timestamped now."""
        whole = "\n".join((method, target, idempotency_key, hashlib.sha256(raw).hexdigest()))
        at = int(time.time())
        if method != "GET" and not idempotency_key:
            # Such a signature is accepted only once, so a repeated call is signed with a later second.
            with self._lock:
                at = max(at, self._times.pop(whole, 0) + 1)
                self._times[whole] = at
                while len(self._times) > _MOST_TIMES:
                    del self._times[next(iter(self._times))]
        return f"t={at},v1={self._sign(f'{at}{chr(10)}{whole}'.encode())}"


def _wait_before(attempt: int, outcome: PartnerApiError | NoAnswerError) -> float | None:
    """Seconds to wait before the attempt with this number, with jitter; None if it must not be made."""
    growing = min(_FIRST_WAIT * 2.0 ** (attempt - 2), _LONGEST_WAIT) * random.uniform(0.5, 1)
    if isinstance(outcome, NoAnswerError):
        return growing
    # The API's own 502 is the provider's refusal; a proxy's 502 means that the API is down.
    is_repeatable = outcome.status in _REPEATABLE or (outcome.status == 502 and outcome.code == UNREADABLE)
    wait = max(growing, outcome.retry_after_seconds or 0)
    return wait if is_repeatable and wait <= _LONGEST_RETRY_AFTER else None


def in_path(value: str) -> str:
    """An id as a segment of a path; an empty one would read the list instead of the row."""
    if not isinstance(value, str) or not value.strip("."):
        raise ValueError("id is missing")
    return urllib.parse.quote(value, safe="")
