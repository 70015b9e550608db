"""Child processes: restart them with a backoff, stop them together, and describe how they ended.

The supervisor of `devserver` and the parent of the workers share this module. It imports only the
standard library, to keep the supervisor small.
"""

import contextlib
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

Stops = Sequence[tuple[int, float]]
"""Signals that end a process, each with the seconds to wait before the next signal."""

_KILL = (int(signal.SIGKILL), 10.0)


@dataclass(frozen=True)
class Backoff:
    """The delays in seconds before an ended child process is restarted.

    The delay doubles with each exit, from `first` up to `longest`. It starts again from `first`
    once the child has run for `healthy` seconds.
    """

    first: float = 0.2
    longest: float = 30.0
    healthy: float = 60.0


@dataclass
class Restarts:
    """The restarts of one child process: its last start, its exits and its next start.

    `due_at` is a time of the monotonic clock, or None while the child runs.
    """

    started_at: float = 0.0
    due_at: float | None = None
    delay: float = 0.0
    exits: int = 0

    def record_start(self) -> None:
        """Record that the child is being started."""
        self.due_at = None
        self.started_at = time.monotonic()

    def record_exit(self, backoff: Backoff) -> float:
        """Record that the child ended, and return the seconds until its next start."""
        now = time.monotonic()
        if now - self.started_at >= backoff.healthy:
            self.delay, self.exits = 0.0, 0
        self.delay = min(self.delay * 2 or backoff.first, backoff.longest)
        self.due_at = now + self.delay
        self.exits += 1
        return self.delay

    @property
    def is_due(self) -> bool:
        """Return whether the child must be started now."""
        return self.due_at is not None and self.due_at <= time.monotonic()


class Stoppable(Protocol):
    """A process that can be stopped, such as a Popen."""

    @property
    def pid(self) -> int:
        """Return the process id."""

    def poll(self) -> int | None:
        """Reap the process if it ended; return its exit status, or None while it runs."""


@dataclass
class ForkedChild:
    """A child created by `os.fork`; it has the methods of Popen that `Stoppable` requires."""

    pid: int
    status: int | None = None

    def poll(self) -> int | None:
        """Reap the child if it ended; return its exit status, or None while it runs."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = os.waitstatus_to_exitcode(status) if pid else None
        return self.status


def send_signal(pid: int, number: int) -> None:
    """Send a signal to a process that may have ended already."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def stop_in_parallel(plans: Sequence[tuple[Stoppable, Stops]]) -> None:
    """Stop all processes in parallel: send each process its signals in order, then SIGKILL."""
    pending = {process.pid: (process, [*stops, _KILL]) for process, stops in plans}
    next_signal_at = dict.fromkeys(pending, 0.0)
    while pending:
        for pid, (process, signals) in list(pending.items()):
            if process.poll() is not None or (
                not signals and time.monotonic() >= next_signal_at[pid]
            ):
                del pending[pid]
            elif time.monotonic() >= next_signal_at[pid]:
                number, seconds = signals.pop(0)
                send_signal(pid, number)
                next_signal_at[pid] = time.monotonic() + seconds
        time.sleep(0.005)


def describe_exit(status: int) -> str:
    """Describe in words what a Popen return code means."""
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:  # a real-time signal
        return f"was ended by signal {-status}"
