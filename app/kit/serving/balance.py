"""Distribution of new connections among the worker processes of a gunicorn master.

All workers listen on one socket, and a new connection wakes all of them. Without this module, the
fastest worker would accept the connection. One of two workers would then often serve all clients
with persistent connections while the other worker is idle. Therefore, each worker writes its number
of connections to shared memory, and a worker that has more connections than another worker waits
DEFER_SECONDS before it accepts a connection.
"""

import mmap

DEFER_SECONDS = 0.001
_SLOT_COUNT = 256
_COUNT_BYTES = 4
# Created when the master imports this module, so that its workers share the memory.
_counts = memoryview(mmap.mmap(-1, _SLOT_COUNT * _COUNT_BYTES)).cast("i")


class ConnectionCount:
    """The connection count of one worker in shared memory.

    `age` is the number that gunicorn assigned to the worker.
    """

    def __init__(self, age: int) -> None:
        self._slot = age % _SLOT_COUNT
        self.record(0)

    def record(self, connection_count: int) -> None:
        """Store the number of connections of this worker, for the other workers to read."""
        _counts[self._slot] = connection_count + 1  # 0 means no worker

    def is_lowest(self) -> bool:
        """Return whether no other worker has fewer connections than this worker."""
        return _counts[self._slot] <= min(filter(None, _counts))


def remove_count(age: int) -> None:
    """Remove the connection count of a worker that has exited. The master calls this."""
    _counts[age % _SLOT_COUNT] = 0
