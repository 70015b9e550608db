"""Define the child processes of the supervisor, and how to start and stop them."""

import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from app.kit.child_processes import Backoff, Restarts, Stoppable, Stops
from devserver.handover import Handover
from devserver.process import Launch
from devserver.processes import Process


@dataclass(frozen=True)
class ChildSpec:
    """A child process to keep running.

    `prepare` runs before every start and returns how to start the child. `stops` are the signals
    that end it, each with the seconds to wait before the next signal; SIGKILL comes last. `log` is
    the file for its output, if any. With a `handover`, the child's own children may outlive it.
    `backoff` replaces the backoff of the supervisor.
    """

    name: str
    prepare: Callable[[], Launch]
    stops: Stops = ((signal.SIGTERM, 30.0),)
    log: Path | None = None
    handover: Handover | None = None
    backoff: Backoff | None = None


@dataclass
class Child:
    """The current state of a child: running, or waiting for its restart."""

    spec: ChildSpec
    process: subprocess.Popen[bytes] | None = None
    restarts: Restarts = field(default_factory=Restarts)

    @property
    def pid(self) -> int | None:
        """The process id while the child runs, else None."""
        return None if self.process is None else self.process.pid

    def owns(self, process: Process) -> bool:
        """Return whether a process belongs to this child and may outlive it."""
        handover = self.spec.handover
        return handover is not None and handover.owns(process, self.pid)

    def list_stop_plans(self) -> list[tuple[Stoppable, Stops]]:
        """Return the processes to stop, each with its signals."""
        running: list[Stoppable] = [] if self.process is None else [self.process]
        if self.spec.handover is not None:
            running += self.spec.handover.orphaned_workers
        return [(process, self.spec.stops) for process in running]
