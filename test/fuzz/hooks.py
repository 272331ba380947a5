"""Hooks for schemathesis. Each run calls as one kind of caller: a person, a partner or nobody."""

import hashlib
import hmac
import json
import os
import time
from urllib.parse import urlsplit

import requests
import schemathesis

with open(os.environ["FUZZ_CREDENTIALS"], encoding="utf-8") as file:
    credentials = json.load(file)


# A raw message for the bounces endpoint.
schemathesis.serializer.alias("message/rfc822", "text/plain")

# One of the demo logins, "partner" (by key and signature everywhere) or "nobody" (no credentials at all).
caller = os.environ["FUZZ_CALLER"]
# This run's client address: failed logins of the previous run must not throttle this one.
origin = {"X-Forwarded-For": os.environ["FUZZ_ADDRESS"]}


def sign_as_partner(request):
    body = request.body or b""
    raw = body.encode() if isinstance(body, str) else body
    secret = credentials["partner"]["signing_secret"].encode()
    request.headers["Authorization"] = "Bearer " + credentials["partner"]["api_key"]
    request.headers["x-partner-signature"] = hmac.new(secret, raw, hashlib.sha256).hexdigest()
    key = request.headers.get("x-idempotency-key", "")
    key = key.decode("latin-1") if isinstance(key, bytes) else key
    whole = "\n".join((request.method, request.path_url, key, hashlib.sha256(raw).hexdigest()))
    # Without an idempotency key a signature is accepted once, so a repeated call is signed with a later second.
    at = seconds[whole] = max(int(time.time()), seconds.get(whole, 0) + 1)
    signed = hmac.new(secret, f"{at}\n{whole}".encode("latin-1", "replace"), hashlib.sha256).hexdigest()
    request.headers["x-partner-signature-v2"] = f"t={at},v1={signed}"


seconds = {}


class Caller(requests.auth.AuthBase):
    """Signs a request over the exact bytes that are sent."""

    def __init__(self):
        self.token = None

    def log_in(self):
        user = credentials[caller]
        answer = requests.post(
            credentials["urls"]["api"] + "/v1/auth/login",
            json={"email": user["email"], "password": user["password"]},
            headers=origin,
            timeout=30,
        )
        answer.raise_for_status()
        return answer.json()["data"]["access_token"]

    def __call__(self, request):
        request.headers.update(origin)
        if caller == "nobody":
            return request
        if caller == "partner":
            sign_as_partner(request)
            if urlsplit(request.url).path.startswith("/v1/gateway/callbacks/"):
                request.headers["x-callback-token"] = credentials["gateway_callback_token"]
        else:
            self.token = self.token or self.log_in()
            request.headers["Authorization"] = "Bearer " + self.token
        return request


schemathesis.auth.set_from_requests(Caller())


# Ids of resources that the fuzzer created, by collection path: later calls use these, and never the demo data.
made = {}
owner = credentials.get(caller) if caller not in ("partner", "nobody") else None
if owner is None or owner["account_id"] is None:
    owner = credentials["organization_admin"]
known = {
    "account_id": owner["account_id"],
    "source_account_id": owner["account_id"],
    "organization_id": credentials["organization_admin"]["organization_id"],
}


def meets_the_schema(case):
    return case.meta is not None and case.meta.generation.mode.is_positive


@schemathesis.hook
def before_call(context, case, kwargs):
    if not meets_the_schema(case):
        return
    collection = case.path.split("/{")[0]
    if collection in made and case.path.count("{") == 1:
        name = case.path.split("{")[1].split("}")[0]
        case.path_parameters[name] = made[collection]
    if isinstance(case.body, dict) and not case.path.startswith("/v1/partners/"):
        for field in known.keys() & case.body.keys():
            case.body[field] = known[field]
        if "account_ids" in case.body:
            case.body["account_ids"] = [known["account_id"]]
        if "saving_circle_id" in case.body and "/v1/saving-circles" in made:
            case.body["saving_circle_id"] = made["/v1/saving-circles"]
        if case.body.get("reference_type") == "account_top_up" and "reference_id" in case.body:
            case.body["reference_id"] = known["account_id"]


@schemathesis.hook
def after_call(context, case, response):
    if 200 <= response.status_code < 300:
        with open(os.environ["FUZZ_SUCCESSES"], "a", encoding="utf-8") as successes:
            successes.write(f"{caller} {case.method} {case.operation.path}\n")
    if case.method != "POST" or response.status_code not in (200, 201):
        return
    try:
        answer = response.json()
    except ValueError:
        return
    for place in (answer, *(value for value in answer.values() if isinstance(value, dict))):
        if isinstance(place.get("id"), str):
            made[case.path.split("/{")[0]] = place["id"]
            return
