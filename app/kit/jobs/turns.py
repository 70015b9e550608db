"""The organization that each queue served last, shared by all worker processes of this machine.

The values are in memory that the parent maps before it forks. A torn write is harmless: any value
is a valid position in the round.
"""

import mmap
from uuid import UUID

from app.kit.jobs.queues import QUEUES

_SIZE = 16
_memory = mmap.mmap(-1, _SIZE * len(QUEUES))
_offsets = {name: _SIZE * number for number, name in enumerate(QUEUES)}


def get_last_turn(queue: str) -> UUID:
    """Return the turn that `queue` served last."""
    offset = _offsets[queue]
    return UUID(bytes=_memory[offset : offset + _SIZE])


def set_last_turn(queue: str, turn: UUID) -> None:
    """Store `turn` as the turn that `queue` served last."""
    offset = _offsets[queue]
    _memory[offset : offset + _SIZE] = turn.bytes
