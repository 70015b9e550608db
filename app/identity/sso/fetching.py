"""Requests to identity providers, with limits on time and response size."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from threading import BoundedSemaphore
from typing import Any

import orjson

from app.kit import container, errors

DEADLINE = 5.0
"""The timeout in seconds for one request, including the response."""
MAX_BYTES = 256 * 1024
SLOT_TIMEOUT = 0.5
"""The maximum time in seconds to wait for a free request slot."""


class UnusableResponse(Exception):  # noqa: N818 - names what the answer is
    """Raised if there was no usable response; the message may be shown to an administrator."""


class RequestRejected(UnusableResponse):
    """Raised if the provider rejected the request with a 4xx status."""


@cache
def get_request_slots() -> BoundedSemaphore:
    """Return the semaphore that limits concurrent requests to providers in this process.

    At most half of the process's threads can hold a slot.
    """
    return BoundedSemaphore(max(1, container.settings().web_threads // 2))


@contextmanager
def hold_slot() -> Iterator[None]:
    """Hold a request slot while waiting for a server that an administrator chose.

    The limit exists because anybody can become an administrator and choose a slow server, which
    must not block other requests. Raises 503 if no slot becomes free.
    """
    if not get_request_slots().acquire(timeout=SLOT_TIMEOUT):
        raise errors.busy(
            "Too many requests to identity providers are in progress. Try again.", retry_after=1
        )
    try:
        yield
    finally:
        get_request_slots().release()


def fetch(
    method: str, url: str, *, headers: Mapping[str, str] | None = None, body: bytes = b""
) -> bytes:
    """Send a request, and return the body of a 2xx response. Redirects are not followed.

    Raises `UnusableResponse`, `RequestRejected`, and 503 if too many requests are waiting.
    """
    with hold_slot():
        outcome = container.current().egress.request(
            method,
            url,
            headers={"Accept": "application/json", **(headers or {})},
            body=body,
            deadline=DEADLINE,
            max_response_bytes=MAX_BYTES,
        )
    if outcome.error is not None:
        raise UnusableResponse(outcome.error)
    if not outcome.ok:
        status = outcome.status_code or 0
        error_type = RequestRejected if status // 100 == 4 else UnusableResponse  # noqa: PLR2004
        raise error_type(f"the response has the status {status}")
    if len(outcome.body) >= MAX_BYTES:
        raise UnusableResponse("the response is too large")
    return outcome.body


def fetch_object(
    method: str, url: str, *, headers: Mapping[str, str] | None = None, body: bytes = b""
) -> dict[str, Any]:
    """Send a request, and return the JSON object in the body of a 2xx response.

    Raises `UnusableResponse`, `RequestRejected`, and 503 if too many requests are waiting.
    """
    try:
        document = orjson.loads(fetch(method, url, headers=headers, body=body))
    except orjson.JSONDecodeError:
        raise UnusableResponse("the response is not JSON") from None
    if not isinstance(document, dict):
        raise UnusableResponse("the response is not a JSON object")
    return document
