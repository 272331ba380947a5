"""Hooks for schemathesis: a login for people, a key and a signature for partners, the token of the provider."""

import hashlib
import hmac
import json
import os
from urllib.parse import urlsplit

import requests
import schemathesis

with open(os.environ["FUZZ_CREDENTIALS"], encoding="utf-8") as file:
    credentials = json.load(file)


class Caller(requests.auth.AuthBase):
    """Signs a request in, by the prefix of its path, with the very bytes that are sent."""

    def __init__(self):
        self.token = None

    def log_in(self):
        user = credentials["platform_super_admin"]
        answer = requests.post(
            credentials["urls"]["api"] + "/v1/auth/login",
            json={"email": user["email"], "password": user["password"]},
            timeout=30,
        )
        answer.raise_for_status()
        return answer.json()["data"]["access_token"]

    def __call__(self, request):
        path = urlsplit(request.url).path
        if path.startswith("/v1/partners/"):
            body = request.body or b""
            raw = body.encode() if isinstance(body, str) else body
            secret = credentials["partner"]["signing_secret"].encode()
            request.headers["Authorization"] = "Bearer " + credentials["partner"]["api_key"]
            request.headers["x-partner-signature"] = hmac.new(secret, raw, hashlib.sha256).hexdigest()
        elif path.startswith("/v1/gateway/callbacks/"):
            request.headers["x-callback-token"] = credentials["gateway_callback_token"]
        else:
            self.token = self.token or self.log_in()
            request.headers["Authorization"] = "Bearer " + self.token
        return request


schemathesis.auth.set_from_requests(Caller())


# What the fuzzer made itself, by the path of its collection: later calls meet real things, and never the demo data.
made = {}
organization = credentials["organization_admin"]
known = {
    "account_id": organization["account_id"],
    "source_account_id": organization["account_id"],
    "organization_id": organization["organization_id"],
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


@schemathesis.hook
def after_call(context, case, response):
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
