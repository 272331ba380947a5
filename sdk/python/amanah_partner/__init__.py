"""A typed client of the partner API: signed calls, safe retries, verified webhooks."""

from .client import PartnerClient
from .errors import NoAnswerError, PartnerApiError
from .webhook import VerifiedWebhook, WebhookError, verify_webhook

__all__ = [
    "NoAnswerError",
    "PartnerApiError",
    "PartnerClient",
    "VerifiedWebhook",
    "WebhookError",
    "verify_webhook",
]
