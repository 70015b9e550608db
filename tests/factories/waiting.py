"""Wait for conditions instead of sleeping for a fixed time."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PAUSE_SECONDS = 0.02
MAX_PAUSE_SECONDS = 0.5


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
