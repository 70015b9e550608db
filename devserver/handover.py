"""Keep the API's workers running after their master has died, until new workers are ready."""

import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass

from app.kit.child_processes import send_signal
from app.kit.serving.supervision import LIFELINE, READY
from devserver.processes import Process, is_running, list_children


@dataclass
class OrphanedWorker:
    """A worker without a master; it has the attributes of Popen that are needed to stop it."""

    pid: int
    kill_at: float | None = None

    def poll(self) -> int | None:
        """Return None while the worker runs, else 0."""
        return None if is_running(self.pid) else 0


class Handover:
    """The ready workers of a master, and the workers that outlive a dead master.

    `workers` is the number of workers per master. Workers of a dead master get SIGTERM when this
    number of workers of the next master is ready, and SIGKILL `grace_seconds` later.
    """

    def __init__(self, workers: int, grace_seconds: float) -> None:
        self._workers = workers
        self._grace_seconds = grace_seconds
        # Nobody writes to the lifeline. It closes when the supervisor ends, which ends the workers.
        self._lifeline, self._lifeline_writer = os.pipe2(os.O_CLOEXEC)
        self.reports, self._report_writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._ready: set[int] = set()
        self._orphans: dict[int, OrphanedWorker] = {}
        self._incomplete_line = b""

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The descriptors to pass to the master."""
        return self._lifeline, self._report_writer

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that contain the descriptors."""
        return {LIFELINE: str(self._lifeline), READY: str(self._report_writer)}

    @property
    def orphaned_workers(self) -> list[OrphanedWorker]:
        """The workers whose master is dead."""
        return list(self._orphans.values())

    def keep_workers(self, master: int) -> None:
        """Keep the newest ready workers of a dead master."""
        self.read()
        worker_pids = sorted(p.pid for p in list_children() if p.session == master)
        for pid in worker_pids:
            if pid in self._ready:
                self._orphans[pid] = OrphanedWorker(pid)
        self._ready.clear()
        serving_workers = [worker for worker in self._orphans.values() if worker.kill_at is None]
        self._terminate(serving_workers[: -self._workers])

    def read(self) -> None:
        """Read the reports of workers that are ready, and terminate workers they replace."""
        try:
            while data := os.read(self.reports, 4096):
                self._incomplete_line += data
        except BlockingIOError:
            pass
        *lines, self._incomplete_line = self._incomplete_line.split(b"\n")
        self._ready.update(int(line) for line in lines)
        if self._orphans and sum(map(is_running, self._ready)) >= self._workers:
            self._terminate(worker for worker in self._orphans.values() if worker.kill_at is None)

    def _terminate(self, workers: Iterable[OrphanedWorker]) -> None:
        for worker in workers:
            worker.kill_at = time.monotonic() + self._grace_seconds
            send_signal(worker.pid, signal.SIGTERM)

    def remove(self, pid: int) -> None:
        """Remove a worker whose process has ended."""
        self._orphans.pop(pid, None)

    def list_deadlines(self) -> list[float]:
        """Return the times at which `kill_overdue` must be called."""
        return [worker.kill_at for worker in self._orphans.values() if worker.kill_at is not None]

    def kill_overdue(self) -> None:
        """Send SIGKILL to workers that did not end after SIGTERM."""
        for worker in self._orphans.values():
            if worker.kill_at is not None and worker.kill_at <= time.monotonic():
                worker.kill_at = time.monotonic() + self._grace_seconds
                send_signal(worker.pid, signal.SIGKILL)

    def owns(self, process: Process, master: int | None) -> bool:
        """Return whether a process outlives a dead master, or belongs to `master`."""
        return process.pid in self._orphans or process.session == master

    def close(self) -> None:
        """Close the lifeline, which ends the remaining workers."""
        for descriptor in (
            self._lifeline,
            self._lifeline_writer,
            self.reports,
            self._report_writer,
        ):
            os.close(descriptor)
