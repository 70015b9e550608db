"""Inject faults: killed and frozen processes and machines, an emptied queue, and restarts."""

import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress

import psutil
import redis

from tests.factories.processes import send_signal
from tests.faults.conftest import Service
from tests.faults.machines import kill_machine

_PAUSE_RANGE = (4.0, 20.0)
"""The shortest and the longest pause between two faults, in seconds."""
_FREEZE_RANGE = (1.0, 12.0)
"""The shortest and the longest time for which processes are frozen, in seconds."""
_STOP_SECONDS = 90.0


class Faults:
    """Injects one random fault after another until `stop` is set. `counts` has them by name.

    The first machine runs PostgreSQL and Valkey. With several machines, it does not restart.
    """

    def __init__(self, machines: Sequence[Service], seed: int, stop: threading.Event) -> None:
        self.machines = machines
        self.stop = stop
        self.random = random.Random(seed)
        self.counts: Counter[str] = Counter()
        # Each fault has a name, a function and a weight.
        self._faults: list[tuple[str, Callable[[], None], int]] = [
            ("API worker killed", lambda: self._kill_one("gunicorn"), 4),
            ("API master killed", self._kill_master, 2),
            ("background process killed", lambda: self._kill_one("worker.py"), 6),
            ("all background processes killed", lambda: self._kill_all("worker.py"), 2),
            ("PostgreSQL killed", lambda: self._kill_all("postgres", "-D"), 2),
            ("PostgreSQL backend killed", lambda: self._kill_one("postgres: "), 2),
            ("Valkey killed", lambda: self._kill_all("valkey-server"), 2),
            ("Valkey emptied", self._empty_valkey, 2),
            ("Valkey frozen", lambda: self._freeze_all("valkey-server"), 2),
            ("PostgreSQL frozen", lambda: self._freeze_all("postgres"), 2),
            ("API worker frozen", lambda: self._freeze_one("gunicorn"), 2),
            ("background process frozen", lambda: self._freeze_one("worker.py"), 3),
            ("supervisor killed", lambda: self._restart(signal.SIGKILL), 1),
            ("service restarted", lambda: self._restart(signal.SIGTERM), 1),
        ]
        if len(machines) > 1:
            self._faults.append(("machine killed", self._kill_machine, 3))

    def run(self, tick: Callable[[], None]) -> None:
        """Inject faults until `stop` is set; call `tick` every 0.2 s during the pauses."""
        weights = [weight for _, _, weight in self._faults]
        while not self.stop.is_set():
            deadline = time.monotonic() + self.random.uniform(*_PAUSE_RANGE)
            while time.monotonic() < deadline and not self.stop.wait(0.2):
                tick()
            ((name, inject, _),) = self.random.choices(self._faults, weights)
            inject()
            self.counts[name] += 1

    def _list_processes(self, *words: str) -> list[psutil.Process]:
        """Return the processes of all machines whose command lines contain all words."""
        return [process for machine in self.machines for process in machine.processes(*words)]

    def _kill_one(self, *words: str) -> None:
        """Kill a random process whose command line contains all words, if there is one."""
        processes = self._list_processes(*words)
        if processes:
            send_signal(self.random.choice(processes), signal.SIGKILL)

    def _kill_all(self, *words: str) -> None:
        for machine in self.machines:
            machine.kill(*words)

    def _kill_master(self) -> None:
        """Kill the gunicorn master, which is the parent of the API workers."""
        processes = self._list_processes("gunicorn")
        process_ids = {process.pid for process in processes}
        for process in processes:
            with suppress(psutil.Error):
                if process.ppid() not in process_ids:
                    send_signal(process, signal.SIGKILL)

    def _empty_valkey(self) -> None:
        with suppress(redis.RedisError):
            redis.Redis.from_url(
                self.machines[0].environment()["REDIS_URL"], socket_timeout=5
            ).flushall()

    def _freeze_one(self, *words: str) -> None:
        processes = self._list_processes(*words)
        if processes:
            self._freeze_processes([self.random.choice(processes)])

    def _freeze_all(self, *words: str) -> None:
        self._freeze_processes(self._list_processes(*words))

    def _freeze_processes(self, processes: list[psutil.Process]) -> None:
        for process in processes:
            send_signal(process, signal.SIGSTOP)
        time.sleep(self.random.uniform(*_FREEZE_RANGE))
        for process in processes:
            send_signal(process, signal.SIGCONT)

    def _restart(self, stop_signal: signal.Signals) -> None:
        machine = self._choose_restartable()
        machine.process.send_signal(stop_signal)
        machine.process.wait(_STOP_SECONDS)
        machine.restart()

    def _kill_machine(self) -> None:
        machine = self._choose_restartable()
        kill_machine(machine)
        # The others continue alone for a while.
        time.sleep(self.random.uniform(*_FREEZE_RANGE))
        machine.restart()

    def _choose_restartable(self) -> Service:
        return self.random.choice(self.machines[1:] or self.machines)
