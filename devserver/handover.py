"""How the API's workers go on serving when their master dies, until the next one's are ready."""

import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass

from app.kit.child_processes import send_signal
from app.kit.serving.supervision import LIFELINE, READY
from devserver.processes import Process, alive, own_children


@dataclass
class Kept:
    """A worker without a master, with as much of the shape of a Popen as is needed to stop it."""

    pid: int
    kill_at: float | None = None

    def poll(self) -> int | None:
        """Return None while it runs."""
        return None if alive(self.pid) else 0


class Handover:
    """The workers of a master: who is ready, and who is kept although the master is dead.

    `workers` is how many a master has. Those that are kept get SIGTERM when so many of the next
    master's are ready, and SIGKILL `patience` seconds later.
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
        """What to pass on to the master."""
        return self._lifeline, self._reporting

    @property
    def environment(self) -> dict[str, str]:
        """Variables that say so to it."""
        return {LIFELINE: str(self._lifeline), READY: str(self._reporting)}

    @property
    def kept(self) -> list[Kept]:
        """The workers whose master is dead."""
        return list(self._kept.values())

    def keep(self, master: int) -> None:
        """Keep those workers of a dead master that were ready, the newest ones."""
        self.read()
        orphans = sorted(p.pid for p in own_children() if p.session == master)
        for pid in orphans:
            if pid in self._ready:
                self._kept[pid] = Kept(pid)
        self._ready.clear()
        serving = [kept for kept in self._kept.values() if kept.kill_at is None]
        self._end(serving[: -self._workers])

    def read(self) -> None:
        """Take in which workers have reported that they are ready."""
        try:
            while data := os.read(self.reports, 4096):
                self._unread += data
        except BlockingIOError:
            pass
        *lines, self._unread = self._unread.split(b"\n")
        self._ready.update(int(line) for line in lines)
        if self._kept and sum(map(alive, self._ready)) >= self._workers:
            self._end(kept for kept in self._kept.values() if kept.kill_at is None)

    def _end(self, workers: Iterable[Kept]) -> None:
        for worker in workers:
            worker.kill_at = time.monotonic() + self._patience
            send_signal(worker.pid, signal.SIGTERM)

    def forget(self, pid: int) -> None:
        """Note that a process has ended."""
        self._kept.pop(pid, None)

    def due_at(self) -> list[float]:
        """Return when `kill_late` has something to do."""
        return [kept.kill_at for kept in self._kept.values() if kept.kill_at is not None]

    def kill_late(self) -> None:
        """End those that were asked to and did not."""
        for kept in self._kept.values():
            if kept.kill_at is not None and kept.kill_at <= time.monotonic():
                kept.kill_at = time.monotonic() + self._patience
                send_signal(kept.pid, signal.SIGKILL)

    def owns(self, process: Process, master: int | None) -> bool:
        """Whether a process is a worker that is kept, or may be as soon as `master` is buried."""
        return process.pid in self._kept or process.session == master

    def close(self) -> None:
        """End the workers that are left, by closing the lifeline."""
        for descriptor in (self._lifeline, self._held_open, self.reports, self._reporting):
            os.close(descriptor)
