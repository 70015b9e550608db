"""What happens to the service: kills, freezes, an empty queue, restarts."""

import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import psutil
import redis

from tests.factories.processes import send_signal
from tests.faults.conftest import Service

_PAUSES = (4.0, 20.0)
_FREEZES = (1.0, 12.0)
_STOP_SECONDS = 90.0


class Faults:
    """Injects faults, one after another, and counts them by name."""

    def __init__(self, service: Service, seed: int, stop: threading.Event) -> None:
        self.service = service
        self.stop = stop
        self.random = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self._faults: list[tuple[str, Callable[[], None], int]] = [
            ("API worker killed", lambda: self._kill_one("gunicorn"), 4),
            ("API master killed", self._kill_master, 2),
            ("background process killed", lambda: self._kill_one("worker.py"), 6),
            ("all background processes killed", lambda: self._kill_all("worker.py"), 2),
            ("PostgreSQL killed", lambda: self._kill_all("postgres", "-D"), 2),
            ("PostgreSQL backend killed", lambda: self._kill_one("postgres: "), 2),
            ("Valkey killed", lambda: self._kill_all("valkey-server"), 2),
            ("Valkey emptied", self._empty, 2),
            ("Valkey frozen", lambda: self._freeze("valkey-server"), 2),
            ("PostgreSQL frozen", lambda: self._freeze("postgres"), 2),
            ("API worker frozen", lambda: self._freeze_one("gunicorn"), 2),
            ("background process frozen", lambda: self._freeze_one("worker.py"), 3),
            ("supervisor killed", lambda: self._restart(signal.SIGKILL), 1),
            ("service restarted", lambda: self._restart(signal.SIGTERM), 1),
        ]

    def run(self, tick: Callable[[], None]) -> None:
        """Inject faults until told to stop; `tick` is called several times a second."""
        weights = [weight for _, _, weight in self._faults]
        while not self.stop.is_set():
            ends = time.monotonic() + self.random.uniform(*_PAUSES)
            while time.monotonic() < ends and not self.stop.wait(0.2):
                tick()
            ((name, act, _),) = self.random.choices(self._faults, weights)
            act()
            self.counts[name] += 1

    def _kill_one(self, *words: str) -> None:
        found = self.service.processes(*words)
        if found:
            send_signal(self.random.choice(found), signal.SIGKILL)

    def _kill_all(self, *words: str) -> None:
        for process in self.service.processes(*words):
            send_signal(process, signal.SIGKILL)

    def _kill_master(self) -> None:
        """Kill the parent of the API's workers."""
        found = self.service.processes("gunicorn")
        ids = {process.pid for process in found}
        for process in found:
            with suppress(psutil.Error):
                if process.ppid() not in ids:
                    send_signal(process, signal.SIGKILL)

    def _empty(self) -> None:
        with suppress(redis.RedisError):
            redis.Redis.from_url(
                self.service.environment()["REDIS_URL"], socket_timeout=5
            ).flushall()

    def _freeze_one(self, *words: str) -> None:
        found = self.service.processes(*words)
        if found:
            self._freeze_processes([self.random.choice(found)])

    def _freeze(self, *words: str) -> None:
        self._freeze_processes(self.service.processes(*words))

    def _freeze_processes(self, processes: list[psutil.Process]) -> None:
        for process in processes:
            send_signal(process, signal.SIGSTOP)
        time.sleep(self.random.uniform(*_FREEZES))
        for process in processes:
            send_signal(process, signal.SIGCONT)

    def _restart(self, number: signal.Signals) -> None:
        self.service.process.send_signal(number)
        self.service.process.wait(_STOP_SECONDS)
        self.service.restart()
