"""Keep the API's workers running after their master was killed, until new workers are ready."""

import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass

from app.kit.child_processes import send_signal
from app.kit.serving.supervision import LIFELINE_ENV, READY_ENV
from devserver.processes import Process, is_running, list_children


@dataclass
class OrphanedWorker:
    """A worker without a master, with the methods of Popen that are needed to stop it."""

    pid: int
    kill_at: float | None = None

    def poll(self) -> int | None:
        """Return None if the worker is running, or 0 if it has exited."""
        return None if is_running(self.pid) else 0


class Handover:
    """The workers of the current master that are ready, and the workers of dead masters.

    `worker_count` is the number of workers per master. The workers of a dead master get SIGTERM
    when all workers of the next master are ready, and SIGKILL `grace_seconds` later.
    """

    def __init__(self, worker_count: int, grace_seconds: float) -> None:
        self._worker_count = worker_count
        self._grace_seconds = grace_seconds
        # Nobody writes to the lifeline. When the supervisor exits, the lifeline is closed, and the
        # workers exit.
        self._lifeline, self._lifeline_writer = os.pipe2(os.O_CLOEXEC)
        self.report_reader, self._report_writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._ready_pids: set[int] = set()
        self._orphans: dict[int, OrphanedWorker] = {}
        self._incomplete_line = b""

    @property
    def descriptors(self) -> tuple[int, ...]:
        """Return the file descriptors that the master must inherit."""
        return self._lifeline, self._report_writer

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment variables that contain the descriptor numbers."""
        return {LIFELINE_ENV: str(self._lifeline), READY_ENV: str(self._report_writer)}

    @property
    def orphaned_workers(self) -> list[OrphanedWorker]:
        """Return the workers whose master was killed or has exited."""
        return list(self._orphans.values())

    def keep_workers(self, master_pid: int) -> None:
        """Keep the ready workers of a dead master running, at most as many as a master has."""
        self.process_reports()
        worker_pids = sorted(p.pid for p in list_children() if p.session_id == master_pid)
        for pid in worker_pids:
            if pid in self._ready_pids:
                self._orphans[pid] = OrphanedWorker(pid)
        self._ready_pids.clear()
        serving_workers = [worker for worker in self._orphans.values() if worker.kill_at is None]
        self._terminate(serving_workers[: -self._worker_count])

    def process_reports(self) -> None:
        """Process reports from ready workers, and terminate the orphans that they replace."""
        try:
            while data := os.read(self.report_reader, 4096):
                self._incomplete_line += data
        except BlockingIOError:
            pass
        *lines, self._incomplete_line = self._incomplete_line.split(b"\n")
        self._ready_pids.update(int(line) for line in lines)
        if self._orphans and sum(map(is_running, self._ready_pids)) >= self._worker_count:
            self._terminate(worker for worker in self._orphans.values() if worker.kill_at is None)

    def _terminate(self, workers: Iterable[OrphanedWorker]) -> None:
        for worker in workers:
            worker.kill_at = time.monotonic() + self._grace_seconds
            send_signal(worker.pid, signal.SIGTERM)

    def remove(self, pid: int) -> None:
        """Remove an orphaned worker whose process has exited."""
        self._orphans.pop(pid, None)

    def list_deadlines(self) -> list[float]:
        """Return the `time.monotonic()` values at which `kill_overdue` must be called."""
        return [worker.kill_at for worker in self._orphans.values() if worker.kill_at is not None]

    def kill_overdue(self) -> None:
        """Send SIGKILL to orphaned workers that have not exited in time after SIGTERM."""
        for worker in self._orphans.values():
            if worker.kill_at is not None and worker.kill_at <= time.monotonic():
                worker.kill_at = time.monotonic() + self._grace_seconds
                send_signal(worker.pid, signal.SIGKILL)

    def owns(self, process: Process, master_pid: int | None) -> bool:
        """Return whether a process is an orphaned worker, or belongs to the master `master_pid`."""
        return process.pid in self._orphans or process.session_id == master_pid

    def close(self) -> None:
        """Close the lifeline, which makes the remaining workers exit."""
        for descriptor in (
            self._lifeline,
            self._lifeline_writer,
            self.report_reader,
            self._report_writer,
        ):
            os.close(descriptor)
