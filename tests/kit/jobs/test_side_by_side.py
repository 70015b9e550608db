"""The queues of a group are served concurrently: a long job delays no other queue."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from flask import Flask

from app.kit.jobs import worker
from app.kit.jobs.handlers import Job
from app.kit.jobs.queues import QUEUES, Queue, compute_quota, list_queues
from tests.factories import Org, make_org
from tests.kit.jobs.workshop import declare_handler, enqueue, rows

SECONDS = 60.0
Drain = Callable[..., threading.Thread]


class Gate:
    """A handler that waits until it is released, and counts the concurrent runs."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.arrived = threading.Semaphore(0)
        self.inside = 0
        self.most = 0
        self._lock = threading.Lock()

    def pass_through(self, _: Job) -> None:
        with self._lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        self.arrived.release()
        assert self.opened.wait(SECONDS)
        with self._lock:
            self.inside -= 1

    def wait_for_runs(self, count: int) -> None:
        """Wait until `count` more runs have started."""
        for _ in range(count):
            assert self.arrived.acquire(timeout=SECONDS)

    def open(self, draining: threading.Thread) -> None:
        """Release all runs, and wait until the group is drained."""
        self.opened.set()
        draining.join(SECONDS)


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.opened.set()


@pytest.fixture
def drain(app: Flask, work: Callable[[], None]) -> Iterator[Drain]:
    """Return a function that drains a group in a thread, as its process does."""
    work()
    threads: list[threading.Thread] = []

    def drain_group(group: str) -> None:
        with app.app_context():
            worker.drain(group)

    def start(group: str = "slow") -> threading.Thread:
        threads.append(threading.Thread(target=drain_group, args=[group]))
        threads[-1].start()
        return threads[-1]

    yield start
    for thread in threads:
        thread.join(SECONDS)
        assert not thread.is_alive()


def _enqueue_for_each_slot(function: str, queue: Queue, *orgs: Org) -> None:
    """Enqueue as many jobs for each organization as the queue has slots."""
    for org in orgs:
        for _ in range(queue.slots):
            enqueue(org, function, {})


def test_a_long_job_holds_up_no_other_queue(org: Org, gate: Gate, drain: Drain) -> None:
    done = threading.Event()
    with (
        declare_handler("test.long", gate.pass_through, queue="maintenance"),
        declare_handler("test.short", lambda _: done.set(), queue="bulk"),
    ):
        enqueue(org, "test.long", {})
        thread = drain()
        gate.wait_for_runs(1)
        # This job is enqueued while the group's process is busy, and no relay reports it.
        enqueue(org, "test.short", {})
        assert done.wait(SECONDS)
        assert not gate.opened.is_set()
        gate.open(thread)
    assert {row.status for row in rows(org)} == {"completed"}


def test_a_queue_never_runs_more_than_it_has_slots(
    org: Org, other_org: Org, gate: Gate, drain: Drain
) -> None:
    slots = QUEUES["bulk"].slots
    with declare_handler("test.long", gate.pass_through, queue="bulk"):
        _enqueue_for_each_slot("test.long", QUEUES["bulk"], org, other_org)
        thread = drain()
        gate.wait_for_runs(slots)
        assert not gate.arrived.acquire(timeout=0.5)
        gate.open(thread)
    assert gate.most == slots
    assert {row.status for row in [*rows(org), *rows(other_org)]} == {"completed"}


def test_jobs_that_wait_for_slow_hosts_leave_slots_for_other_organizations(
    org: Org, other_org: Org, gate: Gate, drain: Drain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "SLOW_SECONDS", 0.0)
    third_org = make_org(org.app)
    done = threading.Event()
    with (
        declare_handler("test.stalled", gate.pass_through, queue="crawls"),
        declare_handler("test.short", lambda _: done.set(), queue="crawls"),
    ):
        _enqueue_for_each_slot("test.stalled", QUEUES["crawls"], org, other_org)
        thread = drain("crawls")
        quota = compute_quota(QUEUES["crawls"].slots)
        gate.wait_for_runs(2 * quota)
        enqueue(third_org, "test.short", {})
        assert done.wait(SECONDS)
        # Each of the two organizations is at its quota.
        assert gate.most == gate.inside == 2 * quota
        gate.open(thread)
    assert {row.status for row in [*rows(org), *rows(other_org)]} == {"completed"}


def test_the_spare_slots_of_a_queue_are_limited(
    org: Org, other_org: Org, gate: Gate, drain: Drain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "SLOW_SECONDS", 0.0)
    queue = replace(QUEUES["crawls"], spare_slots=1)
    monkeypatch.setitem(QUEUES, "crawls", queue)
    with declare_handler("test.stalled", gate.pass_through, queue="crawls"):
        _enqueue_for_each_slot("test.stalled", queue, org, other_org)
        thread = drain("crawls")
        gate.wait_for_runs(queue.slots + 1)
        assert not gate.arrived.acquire(timeout=0.5)
        gate.open(thread)
    assert gate.most == queue.slots + 1
    assert {row.status for row in [*rows(org), *rows(other_org)]} == {"completed"}


def test_it_ends_although_an_organization_waits_for_its_quota(
    org: Org, gate: Gate, drain: Drain
) -> None:
    """If no due job can be claimed yet, the idle slots wait and do not spin."""
    with declare_handler("test.long", gate.pass_through, queue="bulk"):
        for _ in range(3):
            enqueue(org, "test.long", {})
        thread = drain()
        gate.wait_for_runs(1)
        assert not gate.arrived.acquire(timeout=0.5)
        assert gate.most == 1
        gate.open(thread)
    assert {row.status for row in rows(org)} == {"completed"}


def test_the_slow_group_is_what_these_tests_think() -> None:
    assert {queue.name for queue in list_queues(QUEUES["bulk"].group)} == {
        "bulk",
        "drift",
        "erasing",
        "invoices",
        "maintenance",
        "ocr",
        "predictions",
        "quality_counts",
    }
