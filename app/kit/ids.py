"""Generation of UUIDv7 ids (RFC 9562, section 5.7). PostgreSQL before 18 cannot generate them."""

import os
import threading
import time
from uuid import UUID

_RANDOM_BYTES = 8
_lock = threading.Lock()
_last_tick = 0  # in ticks of 1/4096 of a millisecond since the epoch


def uuid7() -> UUID:
    """Generate a UUIDv7 that is greater than all ids that this process generated before.

    The 12 bits of `rand_a` contain a fraction of the millisecond (method 3 of section 6.2).
    """
    return generate_ids(1)[0]


def generate_ids(count: int) -> list[UUID]:
    """Generate `count` UUIDv7 ids in ascending order, with one system call for all random bytes."""
    global _last_tick  # noqa: PLW0603 - the monotonic clock of the process
    with _lock:
        first_tick = max(time.time_ns() * 4096 // 1_000_000, _last_tick + 1)
        _last_tick = first_tick + count - 1
    random_bytes = os.urandom(_RANDOM_BYTES * count)
    return [
        _build_uuid(
            first_tick + number, random_bytes[_RANDOM_BYTES * number : _RANDOM_BYTES * (number + 1)]
        )
        for number in range(count)
    ]


def _build_uuid(ticks: int, random_bytes: bytes) -> UUID:
    milliseconds, fraction = ticks >> 12, ticks & 0xFFF
    random_bits = int.from_bytes(random_bytes, "big") & 0x3FFF_FFFF_FFFF_FFFF
    return UUID(int=milliseconds << 80 | 0x7 << 76 | fraction << 64 | 0x2 << 62 | random_bits)
