"""Wait for conditions instead of sleeping for a fixed time."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PAUSE_SECONDS = 0.02
LONGEST_PAUSE_SECONDS = 0.5


def wait_until(
    condition: Callable[[], T], what: str = "the condition", seconds: float = 150.0
) -> T:
    """Poll `condition` until it returns a true value, and return that; fail after `seconds`.

    The longer it takes, the longer the pauses: a condition is often a request, which takes time
    from what it waits for.
    """
    began = time.monotonic()
    while not (value := condition()):
        waited = time.monotonic() - began
        assert waited < seconds, f"waited {seconds} s for {what}"
        time.sleep(min(max(PAUSE_SECONDS, waited / 20), LONGEST_PAUSE_SECONDS))
    return value
