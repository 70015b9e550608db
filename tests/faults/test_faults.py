"""Check that kills of single processes lose no events or writes.

Afterwards, every committed event is delivered, every acknowledged write exists, and no delivery has
more than four attempts.
"""

import signal
import threading
import time
from collections.abc import Callable

import pytest

from tests.factories.processes import send_signal
from tests.factories.waiting import wait_until
from tests.faults.conftest import Receiver, Service
from tests.faults.sites import Site

pytestmark = pytest.mark.xdist_group("faults")


class Writers:
    """Clients that create documents until `stop` is called; `written` has the acknowledged ids."""

    def __init__(self, service: Service, threads: int = 4) -> None:
        self.service = service
        self.written: set[str] = set()
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(n,)) for n in range(threads)]
        for thread in self._threads:
            thread.start()

    def _run(self, number: int) -> None:
        count = 0
        while not self._stop.is_set():
            count += 1
            artifact_id = self.service.write(f"writer {number} document {count} {time.time_ns()}")
            if artifact_id is not None:
                self.written.add(artifact_id)
            self._stop.wait(0.1)

    def build_progress_condition(self, count: int) -> Callable[[], bool]:
        goal = len(self.written) + count
        return lambda: len(self.written) >= goal

    def stop(self) -> set[str]:
        self._stop.set()
        for thread in self._threads:
            thread.join()
        return self.written


def test_a_worker_is_killed_in_the_middle_of_a_delivery(
    test_site: Site, receiver: Receiver
) -> None:
    service = test_site.service
    webhook = service.create_webhook(receiver)
    receiver.hold.set()
    written = {service.write(f"document {n}") for n in range(12)}
    assert None not in written
    wait_until(lambda: receiver.waiting > 0, "a delivery in progress")
    assert len(service.processes("worker.py")) >= 3
    service.kill("worker.py")
    receiver.hold.clear()
    service.settle(webhook, {w for w in written if w}, receiver)


def test_the_api_is_killed_under_load(test_site: Site, receiver: Receiver) -> None:
    service = test_site.service
    webhook = service.create_webhook(receiver)
    writers = Writers(service)
    for _ in range(2):
        wait_until(writers.build_progress_condition(20), "writes")
        service.kill("gunicorn")
    wait_until(writers.build_progress_condition(20), "writes after the last kill")
    service.settle(webhook, writers.stop(), receiver)


def test_valkey_is_flushed_and_killed_while_deliveries_are_pending(
    test_site: Site, receiver: Receiver
) -> None:
    service = test_site.service
    webhook = service.create_webhook(receiver)
    receiver.hold.set()
    writers = Writers(service)
    wait_until(writers.build_progress_condition(40), "writes")
    service.flush_valkey()
    wait_until(writers.build_progress_condition(20), "writes after FLUSHALL")
    service.kill("valkey-server")
    wait_until(writers.build_progress_condition(20), "writes after the kill")
    receiver.hold.clear()
    service.settle(webhook, writers.stop(), receiver)


def test_postgresql_is_restarted_under_load(test_site: Site, receiver: Receiver) -> None:
    service = test_site.service
    webhook = service.create_webhook(receiver)
    writers = Writers(service)
    for number in (signal.SIGINT, signal.SIGKILL):
        wait_until(writers.build_progress_condition(20), "writes")
        for process in service.processes("postgres", "-D"):
            send_signal(process, number)
        wait_until(writers.build_progress_condition(20), "writes after the restart")
    service.settle(webhook, writers.stop(), receiver)
