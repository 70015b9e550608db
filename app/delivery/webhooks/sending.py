"""Sending of an attempt: the headers, the signatures, the HTTP request and its result.

`X-Service-Signature` is `sha256=` and the hexadecimal HMAC-SHA-256 (RFC 2104) of the body. The
request also has the three headers of Standard Webhooks (https://www.standardwebhooks.com), whose
HMAC covers `{id}.{timestamp}.{body}`. The key for both HMACs is the secret's 64 ASCII characters.
"""

import base64
import hmac
import time
from collections.abc import Sequence
from functools import lru_cache

from app.delivery.webhooks.queries.leases import Attempt
from app.delivery.webhooks.queries.outcomes import AttemptResult
from app.kit import container
from app.kit.egress import RequestOutcome
from app.kit.logging import get_logger
from app.kit.secrets import DecryptionFailed

log = get_logger(__name__)

DEADLINE_SECONDS = 10.0
"""The maximum duration of an attempt in seconds."""
BODY_SECONDS = 1.0
"""The timeout in seconds for reading the body of a successful response. An attempt succeeds even if
the body is not read in time."""
MAX_RESPONSE_BYTES = 16 * 1024
EXCERPT_LENGTH = 1000
USER_AGENT = "Labeling-Webhooks/1"
_REDIRECT_ERROR = "The endpoint responded with a redirect; redirects are not followed."


def build_headers(attempt: Attempt, now: int) -> dict[str, str]:
    """Build the headers for an attempt made at `now` (seconds since the epoch).

    Raises:
        DecryptionFailed: the secret was encrypted with a key that the service no longer has.
    """
    body, message_id = attempt.body, str(attempt.id)
    secrets = [_decrypt(attempt.secret)]
    if attempt.previous_secret is not None:
        secrets.append(_decrypt(attempt.previous_secret))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        "X-Service-Event": attempt.event,
        "X-Service-Signature": sign_body(secrets[0], body),
        "X-Service-Delivery": message_id,
        "X-Service-Attempt": str(attempt.number),
        "webhook-id": message_id,
        "webhook-timestamp": str(now),
        "webhook-signature": sign_standard_webhook(secrets, message_id, now, body),
    }
    if attempt.request_id:
        headers["X-Request-ID"] = attempt.request_id
    return headers


def send(attempt: Attempt) -> AttemptResult:
    """Send an attempt and return its result. Failures are returned, never raised."""
    try:
        outcome = container.current().egress.request(
            "POST",
            attempt.url,
            headers=build_headers(attempt, int(time.time())),
            body=attempt.body,
            total_timeout=DEADLINE_SECONDS,
            max_response_bytes=MAX_RESPONSE_BYTES,
            success_body_seconds=BODY_SECONDS,
            repeatable=False,
        )
        return _build_result(attempt, outcome)
    except DecryptionFailed:
        error = "The signing secret cannot be decrypted with the keys that the service has."
        return AttemptResult(attempt, ok=False, fatal=True, error=error, error_kind="secret")
    except Exception:
        log.exception("webhook.attempt_failed", delivery=str(attempt.id))
        error = "The service could not make this attempt."
        return AttemptResult(attempt, ok=False, error=error, error_kind="internal")


def _build_result(attempt: Attempt, outcome: RequestOutcome) -> AttemptResult:
    """Build the result of a request. A 2xx status is a success even if the body was not read."""
    error, error_kind = outcome.error, outcome.error_kind
    if outcome.is_success:
        error = error_kind = None
    elif error is None and outcome.is_redirect:
        error = _REDIRECT_ERROR
    return AttemptResult(
        attempt,
        ok=outcome.is_success,
        status_code=outcome.status_code,
        error=error,
        error_kind=error_kind.value if error_kind else None,
        duration_ms=outcome.duration_ms,
        response_excerpt=_build_excerpt(outcome.body),
    )


def sign_body(secret: bytes, body: bytes) -> str:
    """Return the value of `X-Service-Signature` for a body: `sha256=` and a hexadecimal HMAC."""
    return "sha256=" + hmac.digest(secret, body, "sha256").hex()


def sign_standard_webhook(
    secrets: Sequence[bytes], message_id: str, timestamp: int, body: bytes
) -> str:
    """Return the value of `webhook-signature`: a signature for each secret, separated by spaces."""
    signed_content = b"%s.%d.%s" % (message_id.encode("ascii"), timestamp, body)
    digests = (hmac.digest(secret, signed_content, "sha256") for secret in secrets)
    return " ".join("v1," + base64.b64encode(digest).decode("ascii") for digest in digests)


def _build_excerpt(body: bytes) -> str | None:
    """Return the start of a response as text without NUL characters, or None if it is empty."""
    text = body[: 4 * EXCERPT_LENGTH].decode("utf-8", "replace").replace("\x00", "\ufffd")
    return text[:EXCERPT_LENGTH] or None


@lru_cache(maxsize=4096)
def _decrypt(token: str) -> bytes:
    return container.keyring().decrypt(token)
