"""A child of the supervisor: how it is started and stopped, and what has become of it."""

import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from devserver import ending
from devserver.handover import Handover
from devserver.process import Launch
from devserver.processes import Process


@dataclass(frozen=True)
class Backoff:
    """How long to wait before a child that died is started again, in seconds.

    Doubled from `first` up to `longest` with each death; forgotten after `healthy` seconds of life.
    """

    first: float = 0.2
    longest: float = 30.0
    healthy: float = 60.0


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
    stops: Sequence[tuple[int, float]] = ((signal.SIGTERM, 30.0),)
    log: Path | None = None
    handover: Handover | None = None
    backoff: Backoff | None = None


@dataclass
class Child:
    """A child as it is now: running, or due to be started again."""

    spec: ChildSpec
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    delay: float = 0.0
    due_at: float | None = None
    deaths: int = field(default=0)

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return None if self.process is None else self.process.pid

    def owns(self, process: Process) -> bool:
        """Whether a process is one of its own that it may leave behind."""
        handover = self.spec.handover
        return handover is not None and handover.owns(process, self.pid)

    def endings(self) -> list[ending.Plan]:
        """Return what is to be stopped, and how."""
        running: list[ending.Ending] = [] if self.process is None else [self.process]
        if self.spec.handover is not None:
            running += self.spec.handover.kept
        return [(process, self.spec.stops) for process in running]
