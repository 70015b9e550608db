"""A child of the supervisor and how to start and stop it."""

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
    """A child to keep running.

    `prepare` runs before every start and returns how to start the child. `stops` are the signals
    that end it, each with seconds to wait; SIGKILL follows. `log` is the file of its output, if
    any. With a `handover`, its own children may outlive it. `backoff` replaces the supervisor's.
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
        """The process id while it runs."""
        return None if self.process is None else self.process.pid

    def owns(self, process: Process) -> bool:
        """Return whether a process belongs to this child and may outlive it."""
        handover = self.spec.handover
        return handover is not None and handover.owns(process, self.pid)

    def stop_plans(self) -> list[tuple[Stoppable, Stops]]:
        """Return the processes to stop, each with its signals."""
        running: list[Stoppable] = [] if self.process is None else [self.process]
        if self.spec.handover is not None:
            running += self.spec.handover.kept
        return [(process, self.spec.stops) for process in running]
