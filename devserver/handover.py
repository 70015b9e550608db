"""Keep the API's workers serving after their master died, until new workers are ready."""

import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass

from app.kit.child_processes import send_signal
from app.kit.serving.supervision import LIFELINE, READY
from devserver.processes import Process, is_running, list_children


@dataclass
class Kept:
    """A worker without a master. It has the members of a Popen that stopping it needs."""

    pid: int
    kill_at: float | None = None

    def poll(self) -> int | None:
        """Return None while it runs."""
        return None if is_running(self.pid) else 0


class Handover:
    """The workers of a master: those that are ready, and those that outlive a dead master.

    `workers` is the number of workers of a master. Workers of a dead master get SIGTERM when so
    many workers of the next master are ready, and SIGKILL `patience` seconds later.
    """

    def __init__(self, workers: int, patience: float) -> None:
        self._workers = workers
        self._patience = patience
        # Nobody writes to the lifeline: it closes when the supervisor ends, and takes them along.
        self._lifeline, self._held_open = os.pipe2(os.O_CLOEXEC)
        self.reports, self._reporting = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._ready: set[int] = set()
        self._kept: dict[int, Kept] = {}
        self._unread = b""

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The descriptors to pass to the master."""
        return self._lifeline, self._reporting

    @property
    def environment(self) -> dict[str, str]:
        """The variables that name the descriptors."""
        return {LIFELINE: str(self._lifeline), READY: str(self._reporting)}

    @property
    def kept(self) -> list[Kept]:
        """The workers whose master is dead."""
        return list(self._kept.values())

    def keep(self, master: int) -> None:
        """Keep the newest workers of a dead master that were ready."""
        self.read()
        orphans = sorted(p.pid for p in list_children() if p.session == master)
        for pid in orphans:
            if pid in self._ready:
                self._kept[pid] = Kept(pid)
        self._ready.clear()
        serving = [kept for kept in self._kept.values() if kept.kill_at is None]
        self._end(serving[: -self._workers])

    def read(self) -> None:
        """Read which workers have reported that they are ready."""
        try:
            while data := os.read(self.reports, 4096):
                self._unread += data
        except BlockingIOError:
            pass
        *lines, self._unread = self._unread.split(b"\n")
        self._ready.update(int(line) for line in lines)
        if self._kept and sum(map(is_running, self._ready)) >= self._workers:
            self._end(kept for kept in self._kept.values() if kept.kill_at is None)

    def _end(self, workers: Iterable[Kept]) -> None:
        for worker in workers:
            worker.kill_at = time.monotonic() + self._patience
            send_signal(worker.pid, signal.SIGTERM)

    def forget(self, pid: int) -> None:
        """Record that a process has ended."""
        self._kept.pop(pid, None)

    def list_deadlines(self) -> list[float]:
        """Return the times at which `kill_overdue` must be called."""
        return [kept.kill_at for kept in self._kept.values() if kept.kill_at is not None]

    def kill_overdue(self) -> None:
        """Send SIGKILL to workers that did not end after SIGTERM."""
        for kept in self._kept.values():
            if kept.kill_at is not None and kept.kill_at <= time.monotonic():
                kept.kill_at = time.monotonic() + self._patience
                send_signal(kept.pid, signal.SIGKILL)

    def owns(self, process: Process, master: int | None) -> bool:
        """Return whether a process outlives its master, or would outlive `master`."""
        return process.pid in self._kept or process.session == master

    def close(self) -> None:
        """Close the lifeline, which ends the remaining workers."""
        for descriptor in (self._lifeline, self._held_open, self.reports, self._reporting):
            os.close(descriptor)
