"""How new connections are shared among the worker processes of a master.

All of them listen on one socket, and all are woken by a connection. Whoever was quickest would have
it: eight clients that keep their connections often end at one process while the other is idle. So
each process writes into shared memory how many connections it has, and one that has more than
another leaves a new connection to that one for a moment.
"""

import mmap

DEFER_SECONDS = 0.001
_SLOTS = 256
_ITEM_BYTES = 4
# Made when the master imports this module, so that its workers share it.
_counts = memoryview(mmap.mmap(-1, _SLOTS * _ITEM_BYTES)).cast("i")


class Share:
    """The connections of one worker; `age` is its number in the order of their start."""

    def __init__(self, age: int) -> None:
        self._slot = age % _SLOTS
        self.record(0)

    def record(self, connections: int) -> None:
        """Tell the other workers how many connections this one has."""
        _counts[self._slot] = connections + 1  # 0 is for no worker

    def is_smallest(self) -> bool:
        """Whether no other worker has fewer connections."""
        return _counts[self._slot] <= min(filter(None, _counts))


def release(age: int) -> None:
    """Forget a worker that has ended; the master calls this."""
    _counts[age % _SLOTS] = 0
