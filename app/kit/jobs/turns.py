"""Which organization each queue served last, known to all worker processes of this machine.

The marks are in memory that the parent maps before it forks. A torn write is harmless: any value
is only a place to go on from.
"""

import mmap
from uuid import UUID

from app.kit.jobs.queues import QUEUES

_SIZE = 16
_marks = mmap.mmap(-1, _SIZE * len(QUEUES))
_places = {name: _SIZE * number for number, name in enumerate(QUEUES)}


def get_last(queue: str) -> UUID:
    """Return whose turn of `queue` was the last one."""
    place = _places[queue]
    return UUID(bytes=_marks[place : place + _SIZE])


def set_last(queue: str, turn: UUID) -> None:
    """Note that `turn` was served."""
    place = _places[queue]
    _marks[place : place + _SIZE] = turn.bytes
