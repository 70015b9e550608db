"""The distribution of new connections among the worker processes of a master.

All workers listen on one socket, and a new connection wakes all of them. Without this module, the
fastest worker would accept it: of two workers, one often gets all eight clients with persistent
connections while the other is idle. Therefore each worker writes its number of connections into
shared memory, and a worker that has more connections than another worker waits DEFER_SECONDS before
it accepts.
"""

import mmap

DEFER_SECONDS = 0.001
_SLOTS = 256
_ITEM_BYTES = 4
# Created when the master imports this module, so that its workers share the memory.
_counts = memoryview(mmap.mmap(-1, _SLOTS * _ITEM_BYTES)).cast("i")


class ConnectionCount:
    """The number of connections of one worker; `age` is gunicorn's number of the worker."""

    def __init__(self, age: int) -> None:
        self._slot = age % _SLOTS
        self.record(0)

    def record(self, connections: int) -> None:
        """Publish the number of connections of this worker to the other workers."""
        _counts[self._slot] = connections + 1  # 0 means no worker

    def is_lowest(self) -> bool:
        """Return whether no other worker has fewer connections."""
        return _counts[self._slot] <= min(filter(None, _counts))


def release(age: int) -> None:
    """Remove a worker that has ended; the master calls this."""
    _counts[age % _SLOTS] = 0
