"""A child of the supervisor: how it is started and stopped, and what has become of it."""

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

    `prepare` says how to start it and runs before every start. `stops` are the signals that end it,
    each with the seconds it gets; SIGKILL follows by itself. `log` is where its output goes, if it
    is not the terminal. With a `handover` its own children may outlive it. `backoff` is used
    instead of the supervisor's, if it is given.
    """

    name: str
    prepare: Callable[[], Launch]
    stops: Stops = ((signal.SIGTERM, 30.0),)
    log: Path | None = None
    handover: Handover | None = None
    backoff: Backoff | None = None


@dataclass
class Child:
    """A child as it is now: running, or due to be started again."""

    spec: ChildSpec
    process: subprocess.Popen[bytes] | None = None
    restarts: Restarts = field(default_factory=Restarts)

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return None if self.process is None else self.process.pid

    def owns(self, process: Process) -> bool:
        """Whether a process is one of its own that it may leave behind."""
        handover = self.spec.handover
        return handover is not None and handover.owns(process, self.pid)

    def stop_plans(self) -> list[tuple[Stoppable, Stops]]:
        """Return the processes to stop, each with its signals."""
        running: list[Stoppable] = [] if self.process is None else [self.process]
        if self.spec.handover is not None:
            running += self.spec.handover.kept
        return [(process, self.spec.stops) for process in running]
