"""The round-robin position of each queue, shared by all worker processes of this machine.

The position is the fairness key that the queue served last (`claims.get_fairness_key`). The parent
process maps the memory for it before forking. A partial write is harmless, because any value is a
valid position.
"""

import mmap
from uuid import UUID

from app.kit.jobs.queues import QUEUES

_KEY_BYTES = 16
_memory = mmap.mmap(-1, _KEY_BYTES * len(QUEUES))
_offsets = {name: _KEY_BYTES * number for number, name in enumerate(QUEUES)}


def get_last_served_key(queue: str) -> UUID:
    """Return the fairness key that `queue` served last."""
    offset = _offsets[queue]
    return UUID(bytes=_memory[offset : offset + _KEY_BYTES])


def set_last_served_key(queue: str, key: UUID) -> None:
    """Store `key` as the fairness key that `queue` served last."""
    offset = _offsets[queue]
    _memory[offset : offset + _KEY_BYTES] = key.bytes
