"""Wait for conditions instead of sleeping for a fixed time."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PAUSE_SECONDS = 0.02


def wait_until(
    condition: Callable[[], T], what: str = "the condition", seconds: float = 150.0
) -> T:
    """Poll `condition` until it returns a true value, and return that; fail after `seconds`."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(PAUSE_SECONDS)
    return value
