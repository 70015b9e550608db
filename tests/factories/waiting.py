"""Wait for conditions instead of sleeping for a fixed time."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
PAUSE_SECONDS = 0.02
MAX_PAUSE_SECONDS = 0.5
LONG = 15.0
"""A time in seconds: longer than the limits that tests set, even on a busy machine, but shorter
than the real limits, and than the time for which hosts in tests drip or stay silent."""


def wait_until(
    condition: Callable[[], T], what: str = "the condition", seconds: float = 150.0
) -> T:
    """Poll `condition` until it returns a true value, and return this value.

    Fails after `seconds`; `what` describes the condition in the message. Pauses become longer with
    time, because a condition is often a request, which slows down the work that it waits for.
    """
    started_at = time.monotonic()
    while not (value := condition()):
        waited = time.monotonic() - started_at
        assert waited < seconds, f"waited {seconds} s for {what}"
        time.sleep(min(max(PAUSE_SECONDS, waited / 20), MAX_PAUSE_SECONDS))
    return value


@contextmanager
def expect_to_end_soon() -> Iterator[None]:
    """Check that the code in the context ends within the limits that the test has set."""
    started_at = time.monotonic()
    yield
    assert time.monotonic() - started_at < LONG
