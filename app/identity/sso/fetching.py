"""Asking providers, through the one door: in bounded time, of bounded size, at allowed places."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from threading import BoundedSemaphore
from typing import Any

import orjson

from app.kit import container, errors

DEADLINE = 5.0
"""Seconds for one answer."""
MAX_BYTES = 256 * 1024
PATIENCE = 0.5
"""Seconds to wait for a place."""


class Unusable(Exception):  # noqa: N818 - names what the answer is
    """No answer, or none that can be used; the message may be told to an administrator."""


class Declined(Unusable):
    """The provider understood and says no: a status of 4xx."""


@cache
def places() -> BoundedSemaphore:
    """As many as may wait for others' servers at once in this process: half of its threads."""
    return BoundedSemaphore(max(1, container.settings().web_threads // 2))


@contextmanager
def place() -> Iterator[None]:
    """Hold a place while waiting for a server that an administrator chose. Raises 503.

    Anybody may be one, and choose a slow server: it must not hold up what others do here.
    """
    if not places().acquire(timeout=PATIENCE):
        raise errors.busy(
            "Too many are waiting for identity providers. Try again shortly.", retry_after=1
        )
    try:
        yield
    finally:
        places().release()


def fetch(
    method: str, url: str, *, headers: Mapping[str, str] | None = None, body: bytes = b""
) -> bytes:
    """The whole body of a 2xx answer. A redirect is no answer. Raises `Unusable`, `Declined`,
    and 503 while too many wait."""
    with place():
        outcome = container.current().egress.request(
            method,
            url,
            headers={"Accept": "application/json", **(headers or {})},
            body=body,
            deadline=DEADLINE,
            max_response_bytes=MAX_BYTES,
        )
    if outcome.error is not None:
        raise Unusable(outcome.error)
    if not outcome.ok:
        status = outcome.status_code or 0
        kind = Declined if status // 100 == 4 else Unusable  # noqa: PLR2004
        raise kind(f"the answer has the status {status}")
    if len(outcome.body) >= MAX_BYTES:
        raise Unusable("the answer is too large")
    return outcome.body


def fetch_object(
    method: str, url: str, *, headers: Mapping[str, str] | None = None, body: bytes = b""
) -> dict[str, Any]:
    """The JSON object of a 2xx answer. Raises `Unusable`, `Declined`."""
    try:
        found = orjson.loads(fetch(method, url, headers=headers, body=body))
    except orjson.JSONDecodeError:
        raise Unusable("the answer is not JSON") from None
    if not isinstance(found, dict):
        raise Unusable("the answer is not a JSON object")
    return found
