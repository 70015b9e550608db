"""Requests from the relay to start the processes of groups that have a waiting job.

The relay and its parent share a byte of memory for each group, so requests cannot queue up.
"""

import mmap
import os
import signal
from collections.abc import Iterable

SIGNAL = signal.SIGUSR1
"""The signal that notifies the parent process of new requests."""


class WakeUps:
    """The queue groups for which the relay has requested processes, in shared memory.

    Create this object in the parent, before the fork.
    """

    def __init__(self, groups: Iterable[str]) -> None:
        self._positions = {group: position for position, group in enumerate(groups)}
        self._flags = mmap.mmap(-1, len(self._positions))
        self._parent = os.getpid()

    def request(self, groups: Iterable[str]) -> None:
        """Make the parent process start the processes of `groups` that are not running."""
        for group in groups:
            self._flags[self._positions[group]] = True
        os.kill(self._parent, SIGNAL)

    def pop_groups(self) -> set[str]:
        """Return the requested groups, and clear the requests."""
        groups = {group for group, position in self._positions.items() if self._flags[position]}
        for group in groups:
            self._flags[self._positions[group]] = False
        return groups
