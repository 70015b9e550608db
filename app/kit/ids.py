"""UUIDv7 (RFC 9562, section 5.7), generated here to support servers before PostgreSQL 18."""

import os
import threading
import time
from uuid import UUID

_TAIL_BYTES = 8
_lock = threading.Lock()
_last = 0


def uuid7() -> UUID:
    """Return a UUIDv7 that is greater than every one this process generated before.

    The 12 bits of `rand_a` contain a fraction of the millisecond (method 3 of section 6.2).
    """
    return generate(1)[0]


def generate(count: int) -> list[UUID]:
    """Return `count` ascending ids like those of `uuid7`, with one system call."""
    global _last  # noqa: PLW0603 - the monotonic clock of the process
    with _lock:
        first = max(time.time_ns() * 4096 // 1_000_000, _last + 1)
        _last = first + count - 1
    tails = os.urandom(_TAIL_BYTES * count)
    return [
        _build(first + number, tails[_TAIL_BYTES * number : _TAIL_BYTES * (number + 1)])
        for number in range(count)
    ]


def _build(now: int, tail: bytes) -> UUID:
    milliseconds, fraction = now >> 12, now & 0xFFF
    random = int.from_bytes(tail, "big") & 0x3FFF_FFFF_FFFF_FFFF
    return UUID(int=milliseconds << 80 | 0x7 << 76 | fraction << 64 | 0x2 << 62 | random)
