"""Child processes: restarting with a backoff, stopping in parallel, and describing exits.

The supervisor in `devserver` and the parent process of the workers share this module. It imports
only the standard library, to keep the supervisor small.
"""

import contextlib
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

StopSignals = Sequence[tuple[int, float]]
"""Signals to stop a process, each with the seconds to wait before the next signal."""

_KILL = (int(signal.SIGKILL), 10.0)


@dataclass(frozen=True)
class Backoff:
    """The delays in seconds before a child process that exited is restarted.

    The delay doubles with each exit, from `first_seconds` up to `longest_seconds`. It starts again
    from `first_seconds` once the child has run for `healthy_seconds`.
    """

    first_seconds: float = 0.2
    longest_seconds: float = 30.0
    healthy_seconds: float = 60.0


@dataclass
class RestartState:
    """The restart state of one child process: its last start, its exits and its next start.

    `due_at` is the `time.monotonic()` value of the next start, or None if no start is scheduled.
    `delay` is in seconds. `exit_count` is the number of exits since the child last ran for
    `healthy_seconds`.
    """

    started_at: float = 0.0
    due_at: float | None = None
    delay: float = 0.0
    exit_count: int = 0

    def record_start(self) -> None:
        """Record that the child is being started."""
        self.due_at = None
        self.started_at = time.monotonic()

    def record_exit(self, backoff: Backoff) -> float:
        """Record that the child exited, and return the seconds until its next start."""
        now = time.monotonic()
        if now - self.started_at >= backoff.healthy_seconds:
            self.delay, self.exit_count = 0.0, 0
        self.delay = min(self.delay * 2 or backoff.first_seconds, backoff.longest_seconds)
        self.due_at = now + self.delay
        self.exit_count += 1
        return self.delay

    @property
    def is_due(self) -> bool:
        """Return whether the child must be started now."""
        return self.due_at is not None and self.due_at <= time.monotonic()


class Stoppable(Protocol):
    """A process that `stop_in_parallel` can stop, such as a Popen."""

    @property
    def pid(self) -> int:
        """Return the process id."""

    def poll(self) -> int | None:
        """Reap the process if it has exited. Return its exit status, or None if it is running."""


@dataclass
class ForkedChild:
    """A child created by `os.fork`; it has the methods of Popen that `Stoppable` requires."""

    pid: int
    status: int | None = None

    def poll(self) -> int | None:
        """Reap the child if it has exited. Return its exit status, or None if it is running."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = os.waitstatus_to_exitcode(status) if pid else None
        return self.status


def send_signal(pid: int, signal_number: int) -> None:
    """Send a signal to a process. Do nothing if the process no longer exists."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal_number)


def stop_in_parallel(plans: Sequence[tuple[Stoppable, StopSignals]]) -> None:
    """Stop each process with its signals, then SIGKILL, and wait up to 10 seconds after SIGKILL."""
    pending = {process.pid: (process, [*stops, _KILL]) for process, stops in plans}
    next_signal_at = dict.fromkeys(pending, 0.0)
    while pending:
        for pid, (process, signals) in list(pending.items()):
            if process.poll() is not None or (
                not signals and time.monotonic() >= next_signal_at[pid]
            ):
                del pending[pid]
            elif time.monotonic() >= next_signal_at[pid]:
                signal_number, seconds = signals.pop(0)
                send_signal(pid, signal_number)
                next_signal_at[pid] = time.monotonic() + seconds
        time.sleep(0.005)


def describe_exit(status: int) -> str:
    """Describe a Popen return code in words, such as "was killed by SIGKILL"."""
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:  # a real-time signal
        return f"was killed by signal {-status}"
