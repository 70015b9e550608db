"""The background processes as a whole: restarts, shutdown and outages."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from flask import Flask
from sqlalchemy import text

from app.kit import db
from app.kit.ids import uuid7
from app.kit.jobs import processes
from app.kit.jobs.processes import STOP_SECONDS, StartRequests
from app.kit.jobs.queues import GROUPS, list_queues
from tests.factories.orgs import transaction_across_organizations
from tests.factories.processes import freeze, has_ended, send_signal
from tests.factories.waiting import wait_until
from tests.factories.work import drain, postpone_periodic_jobs
from tests.kit.jobs.running import (
    CHILDREN,
    JOB_WORKERS,
    LASTING,
    Workers,
    count_clients,
    start_workers,
    wait_for_rest,
)

# Any job starts the processes of a group; this one reads nothing of an organization.
_JOB = """
INSERT INTO jobs (id, queue, function, args)
VALUES (:id, :queue, 'review_queue.expire_claims', '{}')
"""
# Jobs and deliveries that other tests left behind become due only after the tests.
_PUT_OFF = """
UPDATE {table} SET {due} = now() + interval '1 hour', leased_until = NULL, lease_token = NULL
WHERE {due} < now() + interval '1 hour'
"""
_WAITING = {"jobs": "due_at", "webhook_deliveries": "next_attempt_at"}
# If they were postponed, no new periodic jobs could be enqueued.
_DROP_PERIODIC = "DELETE FROM jobs WHERE unique_key LIKE 'periodic:%'"


@pytest.fixture
def workers(app: Flask, environ: dict[str, str], quiet: None, tmp_path: Path) -> Iterator[Workers]:
    """Start workers that the test stops, with a process for everything."""
    with start_workers(environ, tmp_path) as started:
        _start_all(app, started)
        wait_for_rest(started)
        yield started


@pytest.fixture(scope="module")
def _shared(
    app: Flask,
    environ: dict[str, str],
    quiet: None,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Workers]:
    folder = tmp_path_factory.mktemp("workers")
    with start_workers(environ, folder, JOB_IDLE_SECONDS="3600") as started:
        _start_all(app, started)
        yield started


@pytest.fixture
def lasting_workers(_shared: Workers) -> Workers:
    """Return workers that tests share, because none of these tests stops the parent."""
    _shared.begin_test()
    return _shared


@pytest.fixture(scope="module")
def quiet(app: Flask) -> Iterator[None]:
    """Make sure that nothing is due for a while, so that no worker runs a job.

    A worker that finishes a job while Redis hangs cannot report it, and is killed after a timeout.
    """
    postpone_periodic_jobs(app, shortest=0)
    drain(app)
    with transaction_across_organizations(app) as session:
        session.execute(text(_DROP_PERIODIC))
        for table, due in _WAITING.items():
            session.execute(text(_PUT_OFF.format(table=table, due=due)))
    yield
    with app.app_context(), db.transaction() as session:
        session.execute(text("DELETE FROM schedule_runs WHERE due_at > now()"))
    postpone_periodic_jobs(app)


def _start_all(app: Flask, workers: Workers) -> None:
    """Enqueue jobs until all processes are running; other workers may run some of these jobs."""

    def are_running() -> bool:
        _run_jobs(app, *GROUPS)
        return len(workers.children()) == CHILDREN

    wait_until(are_running, "all processes")


def _run_jobs(app: Flask, *groups: str) -> None:
    """Enqueue a job for each group, and wait until the jobs have run."""
    ids = [str(uuid7()) for _ in groups]
    queues = [list_queues(GROUPS[group])[0].name for group in groups]
    with transaction_across_organizations(app) as session:
        for id_, queue in zip(ids, queues, strict=True):
            session.execute(text(_JOB), {"id": id_, "queue": queue})

    def have_run() -> bool:
        with transaction_across_organizations(app) as session:
            unfinished = "SELECT count(*) FROM jobs WHERE id = ANY(CAST(:ids AS uuid[]))"
            return session.scalar(text(f"{unfinished} AND due_at IS NOT NULL"), {"ids": ids}) == 0

    wait_until(have_run)


def _have_ended(children: list[psutil.Process]) -> bool:
    return all(has_ended(child) for child in children)


def _stop_in_time(workers: Workers) -> None:
    """Stop the parent with SIGTERM, and check that it and all children end within the limit."""
    children = workers.children()
    started_at = time.monotonic()
    workers.parent.send_signal(signal.SIGTERM)
    assert workers.parent.wait(30) == 0
    assert time.monotonic() - started_at < STOP_SECONDS, workers.log.read_text()
    wait_until(lambda: _have_ended(children))


def test_the_parent_holds_no_connection(lasting_workers: Workers) -> None:
    assert psutil.Process(lasting_workers.parent.pid).net_connections() == []


def test_sigterm_ends_all_in_good_time(workers: Workers) -> None:
    _stop_in_time(workers)
    assert workers.lines("workers.stopped")


def test_who_kills_the_parent_kills_all(workers: Workers) -> None:
    children = workers.children()
    workers.parent.kill()
    workers.parent.wait(30)
    wait_until(lambda: _have_ended(children))


def test_processes_have_names_that_ps_shows(lasting_workers: Workers) -> None:
    names = {child.name() for child in lasting_workers.children()}
    assert {"relay", "webhooks", "quick", "documents-3", "exports-1", "training"} <= names


def test_a_child_that_dies_is_started_again(lasting_workers: Workers) -> None:
    victims = lasting_workers.children()
    for victim in victims:
        send_signal(victim, signal.SIGKILL)
    wait_until(lambda: len(lasting_workers.children()) == CHILDREN and _have_ended(victims))
    assert len(lasting_workers.lines("workers.child_ended")) == CHILDREN
    assert lasting_workers.parent.poll() is None


def test_children_outlive_an_outage_of_redis(lasting_workers: Workers) -> None:
    before = {child.pid for child in lasting_workers.children()}
    lasting_workers.valkey.stop()
    wait_until(lambda: len(lasting_workers.lines("waiting")) > 0)
    lasting_workers.valkey.start()
    wait_until(lambda: count_clients(lasting_workers) >= CHILDREN)
    assert {child.pid for child in lasting_workers.children()} == before


def test_children_outlive_a_redis_that_hangs(lasting_workers: Workers) -> None:
    before = {child.pid for child in lasting_workers.children()}
    with freeze(lasting_workers.valkey.pid):
        wait_until(lambda: len(lasting_workers.lines("relay.waiting")) >= 2)
        used = sum(sum(child.cpu_times()[:2]) for child in lasting_workers.children())
        wait_until(lambda: len(lasting_workers.lines("relay.waiting")) >= 4)
        busy = sum(sum(child.cpu_times()[:2]) for child in lasting_workers.children()) - used
        assert busy < 1.0, "they wait, and do not spin"
    wait_until(lambda: count_clients(lasting_workers) >= CHILDREN)
    assert {child.pid for child in lasting_workers.children()} == before


def test_sigterm_ends_all_while_redis_hangs(workers: Workers) -> None:
    wait_until(lambda: count_clients(workers) >= CHILDREN)
    with freeze(workers.valkey.pid):
        _stop_in_time(workers)


def test_processes_of_a_group_start_with_a_job_and_exit_when_idle(
    app: Flask, environ: dict[str, str], quiet: None, tmp_path: Path
) -> None:
    with start_workers(environ, tmp_path, JOB_IDLE_SECONDS="1") as started:
        assert len(started.children()) == LASTING
        for _ in range(2):
            _run_jobs(app, "exports", "invoices")
            wait_until(lambda: len(started.children()) == LASTING)
        assert started.lines("workers.child_ended") == []
        assert started.lines("died") == []


def test_there_is_a_process_for_every_queue(app: object) -> None:
    names = [child.name for child in processes.list_children(JOB_WORKERS, StartRequests())]
    assert (names[0], names[-1]) == ("relay", "webhooks")
    assert {name.partition("-")[0] for name in names[1:-1]} == set(GROUPS)
    assert [name for name in names if name.startswith("documents")] == [
        "documents-1",
        "documents-2",
        "documents-3",
    ]
