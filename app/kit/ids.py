"""UUIDv7 (RFC 9562, section 5.7), generated here to support servers before PostgreSQL 18."""

import os
import threading
import time
from uuid import UUID

_lock = threading.Lock()
_last = 0


def uuid7() -> UUID:
    """Return a UUIDv7 that is greater than every one this process generated before.

    The 12 bits of `rand_a` contain a fraction of the millisecond (method 3 of section 6.2).
    """
    global _last  # noqa: PLW0603 - the monotonic clock of the process
    with _lock:
        now = time.time_ns() * 4096 // 1_000_000
        _last = now = max(now, _last + 1)
    milliseconds, fraction = now >> 12, now & 0xFFF
    tail = int.from_bytes(os.urandom(8), "big") & 0x3FFF_FFFF_FFFF_FFFF
    return UUID(int=milliseconds << 80 | 0x7 << 76 | fraction << 64 | 0x2 << 62 | tail)
