"""Check that a kill of gunicorn's master fails no requests, and that no processes remain."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import Self

import psutil
import pytest
import requests

from devserver import processes
from tests.factories.waiting import wait_until
from tests.faults.conftest import Service, run_service

pytestmark = pytest.mark.xdist_group("faults")
GOAL_SECONDS = 2.0


class Visitors:
    """Clients that read a list, with a new connection for each request."""

    def __init__(self, service: Service, threads: int = 4) -> None:
        self._service = service
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self.succeeded: list[float] = []
        self.failures: list[str] = []
        self._threads = [threading.Thread(target=self._run) for _ in range(threads)]

    def __enter__(self) -> Self:
        self.succeeded.append(time.monotonic())
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                response = self._service.call("GET", "/artifacts?page_size=10")
                problem = "" if response.status_code == 200 else response.text
            except requests.RequestException as error:
                problem = repr(error)
            with self._lock:
                if problem:
                    self.failures.append(problem)
                else:
                    self.succeeded.append(time.monotonic())
            # More requests would take processor time from the recovery.
            self._stop.wait(0.1)

    def get_longest_pause(self) -> float:
        times = [*self.succeeded, time.monotonic()]
        return max(later - earlier for earlier, later in pairwise(times))


def find_api(service: Service) -> tuple[psutil.Process | None, set[int]]:
    """Return gunicorn's master, if there is one, and the ids of the workers of any master.

    The master is the process whose parent is the supervisor and who has children.
    """
    by_pid = {process.pid: process for process in service.processes("gunicorn")}
    parents = {}
    for process in by_pid.values():
        with suppress(psutil.Error):
            parents[process.pid] = process.ppid()
    supervised = (pid for pid, parent in parents.items() if parent == service.process.pid)
    master = next((pid for pid in supervised if pid in parents.values()), None)
    return (by_pid[master] if master else None), by_pid.keys() - {master}


@contextmanager
def kill_master(service: Service) -> Iterator[set[int]]:
    """Kill the master, and yield the ids of its workers, which are still running."""
    master, orphaned_pids = find_api(service)
    assert master is not None
    assert len(orphaned_pids) == 2
    master.send_signal(signal.SIGKILL)
    master.wait(30)
    yield orphaned_pids


def wait_for_new_master(service: Service, before: set[int]) -> None:
    """Wait until there is a master with two workers, and no worker in `before` is running."""

    def is_handed_over() -> bool:
        master, workers = find_api(service)
        return master is not None and len(workers) == 2 and not workers & before

    wait_until(is_handed_over, "a master with its workers")


def test_no_request_fails_when_the_master_is_killed_under_load(shared_service: Service) -> None:
    wait_for_new_master(shared_service, set())
    with Visitors(shared_service) as visitors:
        for _ in range(2):
            with kill_master(shared_service) as orphaned_pids:
                pass
            wait_for_new_master(shared_service, orphaned_pids)
    assert not visitors.failures
    assert visitors.get_longest_pause() < GOAL_SECONDS


def test_a_stop_ends_the_workers_of_a_killed_master() -> None:
    with run_service() as service, kill_master(service) as orphaned_pids:
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(60) == 0
        assert not any(map(processes.is_running, orphaned_pids))


def test_a_kill_of_the_supervisor_ends_the_workers_of_a_killed_master() -> None:
    with run_service() as service:
        all_pids = {p.pid for p in psutil.Process(service.process.pid).children(recursive=True)}
        with kill_master(service) as orphaned_pids:
            service.process.send_signal(signal.SIGKILL)
            service.process.wait(60)
            wait_until(
                lambda: not any(map(processes.is_running, orphaned_pids)), "the workers to end"
            )
            wait_until(lambda: not any(map(processes.is_running, all_pids)), "everything to end")
