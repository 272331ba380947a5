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


caller = Caller()


@schemathesis.hook
def before_call(context, case, kwargs):
    kwargs["auth"] = caller
