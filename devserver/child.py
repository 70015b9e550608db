"""The specification and the state of the supervisor's child processes."""

import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from app.kit.child_processes import Backoff, RestartState, Stoppable, StopSignals
from devserver.handover import Handover
from devserver.process import Launch
from devserver.processes import Process


@dataclass(frozen=True)
class ChildSpec:
    """A child process that the supervisor must keep running.

    `prepare` is called before every start, and returns how to start the child. `stop_signals` are
    sent to stop the child, each with the seconds to wait before the next signal; SIGKILL is sent
    last. `log` is the file that receives the child's output, if any. If there is a `handover`, the
    child's workers may outlive the child. `backoff` replaces the supervisor's backoff.
    """

    name: str
    prepare: Callable[[], Launch]
    stop_signals: StopSignals = ((signal.SIGTERM, 30.0),)
    log: Path | None = None
    handover: Handover | None = None
    backoff: Backoff | None = None


@dataclass
class Child:
    """A child process that is running, or is waiting for its restart."""

    spec: ChildSpec
    process: subprocess.Popen[bytes] | None = None
    restarts: RestartState = field(default_factory=RestartState)

    @property
    def pid(self) -> int | None:
        """Return the process id, or None if the child is not running."""
        return None if self.process is None else self.process.pid

    def owns(self, process: Process) -> bool:
        """Return whether a process is a worker that may outlive this child."""
        handover = self.spec.handover
        return handover is not None and handover.owns(process, self.pid)

    def list_stop_plans(self) -> list[tuple[Stoppable, StopSignals]]:
        """List the child and its orphaned workers, each with the signals that stop it."""
        running: list[Stoppable] = [] if self.process is None else [self.process]
        if self.spec.handover is not None:
            running += self.spec.handover.orphaned_workers
        return [(process, self.spec.stop_signals) for process in running]
