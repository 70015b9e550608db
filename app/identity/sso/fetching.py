"""Requests to identity providers, with limits on time and response size."""

from collections.abc import Mapping
from typing import Any

import orjson

from app.kit import container, outbound_slots

TIMEOUT_SECONDS = 5.0
"""The timeout in seconds for one request, including the response."""
MAX_RESPONSE_BYTES = 256 * 1024


class UnusableResponse(Exception):  # noqa: N818 - names what the response is
    """Raised if there was no usable response; the message may be shown to users."""


class RequestRejected(UnusableResponse):
    """Raised if the provider rejected the request with a 4xx status."""


def fetch(
    method: str, url: str, *, headers: Mapping[str, str] | None = None, body: bytes = b""
) -> bytes:
    """Send a request, and return the body of a 2xx response. Redirects are not followed.

    Raises `RequestRejected` for a 4xx status, `UnusableResponse` if the request fails in another
    way or the response is too large, and 503 if too many requests are waiting.
    """
    with outbound_slots.hold_slot():
        outcome = container.current().egress.request(
            method,
            url,
            headers={"Accept": "application/json", **(headers or {})},
            body=body,
            total_timeout=TIMEOUT_SECONDS,
            max_response_bytes=MAX_RESPONSE_BYTES,
        )
    if outcome.error is not None:
        raise UnusableResponse(outcome.error)
    if not outcome.is_complete_success:
        status = outcome.status_code or 0
        error_type = RequestRejected if status // 100 == 4 else UnusableResponse  # noqa: PLR2004
        raise error_type(f"the response has the status {status}")
    if len(outcome.body) >= MAX_RESPONSE_BYTES:
        raise UnusableResponse("the response is too large")
    return outcome.body


def fetch_object(
    method: str, url: str, *, headers: Mapping[str, str] | None = None, body: bytes = b""
) -> dict[str, Any]:
    """Send a request, and return the JSON object in the body of a 2xx response.

    Raises the errors of `fetch`, and `UnusableResponse` if the body is not a JSON object.
    """
    try:
        document = orjson.loads(fetch(method, url, headers=headers, body=body))
    except orjson.JSONDecodeError:
        raise UnusableResponse("the response is not JSON") from None
    if not isinstance(document, dict):
        raise UnusableResponse("the response is not a JSON object")
    return document
