"""The relay: one message wakes a group, regardless of how many of its jobs are due."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing

import psycopg2
import pytest
from flask import Flask
from redis import Redis
from rq import Queue as RqQueue
from rq.serializers import JSONSerializer

from app.kit import container, db, jobs, tenancy
from app.kit.jobs import handlers
from app.kit.jobs.handlers import DueSource, Job
from app.kit.jobs.relay import DRAIN, MAX_MESSAGES_PER_SOURCE, Relay
from devserver.postgres import EmbeddedPostgres
from tests.factories import Org, claim_jobs_of
from tests.kit.jobs.workshop import SEEN, declare_handler, enqueue

QUEUED = 5_000


@pytest.fixture(scope="module", autouse=True)
def _handlers() -> Iterator[None]:
    def hear(job: Job) -> None:
        SEEN[job.organization_id]["heard"].append(job.args)

    with declare_handler("test.relayed", hear, queue="erasing"):
        yield


@pytest.fixture
def connection(work: Callable[[], None]) -> Redis:
    """Return a client for a Valkey without messages. No job from other tests is due."""
    work()
    found = container.current().redis(timeout=5)
    found.flushall()
    return found


def _messages(connection: Redis, queue: str) -> list[list[object]]:
    target = RqQueue(queue, connection=connection, serializer=JSONSerializer)
    return [[job.func_name, *job.args] for job in target.jobs]


def test_a_long_queue_is_one_message(app: Flask, org: Org, connection: Redis) -> None:
    with app.app_context(), tenancy.organization(org.id), db.transaction():
        jobs.enqueue_many("test.relayed", [(org.id, {"n": n}) for n in range(QUEUED)])
    relay = Relay(app, lambda: connection)
    for _ in range(5):
        relay.run_once()
    assert _messages(connection, "slow") == [[DRAIN, "slow"]]
    with app.app_context(), tenancy.organization(org.id), db.transaction():
        db.session().execute(jobs.JobRow.__table__.delete())


def test_a_job_that_another_transaction_has_locked_wakes_nobody(
    app: Flask, org: Org, connection: Redis, postgres: EmbeddedPostgres
) -> None:
    with app.app_context(), tenancy.organization(org.id), db.transaction():
        jobs.enqueue("test.relayed", {}, organization_id=org.id)
    relay = Relay(app, lambda: connection)
    with closing(psycopg2.connect(postgres.url)) as other:
        cursor = other.cursor()
        cursor.execute("SET LOCAL app.organization_id = %s", [str(org.id)])
        cursor.execute("SELECT FROM jobs WHERE function = 'test.relayed' FOR UPDATE")
        assert cursor.rowcount == 1
        relay.run_once()
        assert _messages(connection, "slow") == []
        # A connection that is closed without this keeps its locks for a moment.
        other.rollback()
    relay.run_once()
    assert _messages(connection, "slow") == [[DRAIN, "slow"]]
    with app.app_context(), tenancy.organization(org.id), db.transaction():
        db.session().execute(jobs.JobRow.__table__.delete())


def test_processes_start_for_jobs_that_wait_for_a_quota(
    app: Flask, org: Org, connection: Redis
) -> None:
    """Processes of another machine increase the quota of the organization."""
    started: list[str] = []
    relay = Relay(app, lambda: connection, started.extend)
    enqueue(org, "test.relayed", {"n": 1})
    enqueue(org, "test.relayed", {"n": 2})
    assert len(claim_jobs_of(org, "erasing")) == 1
    relay.run_once()
    assert _messages(connection, "slow") == []
    # Other tests may have left jobs in other queues.
    assert "slow" in started
    with app.app_context(), tenancy.organization(org.id), db.transaction():
        db.session().execute(jobs.JobRow.__table__.delete())


def test_two_relays_at_once_send_few_messages(app: Flask, org: Org, connection: Redis) -> None:
    enqueue(org, "test.relayed", {"n": 1})
    start = threading.Barrier(4)

    def relay() -> None:
        start.wait()
        Relay(app, lambda: container.current().redis(timeout=5)).run_once()

    threads = [threading.Thread(target=relay) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= len(_messages(connection, "slow")) <= 4


def test_a_message_too_many_runs_nothing_twice(
    org: Org, connection: Redis, work: Callable[[], None]
) -> None:
    enqueue(org, "test.relayed", {"n": 1})
    target = RqQueue("slow", connection=connection, serializer=JSONSerializer)
    for _ in range(3):
        target.enqueue(DRAIN, "slow", result_ttl=0)
    work()
    assert SEEN[org.id]["heard"] == [{"n": 1}]


def test_work_survives_a_redis_that_forgot(
    app: Flask, org: Org, connection: Redis, work: Callable[[], None]
) -> None:
    enqueue(org, "test.relayed", {"n": 1})
    Relay(app, lambda: connection).run_once()
    connection.flushall()
    work()
    assert SEEN[org.id]["heard"] == [{"n": 1}]


def test_nothing_is_claimed_for_a_source_whose_messages_wait(
    app: Flask, connection: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, the leases would expire, and the same rows would be sent again and again."""
    claimed: list[int] = []

    def claim() -> handlers.Batches:
        claimed.append(1)
        return [[["one row"]]]

    source = DueSource(
        name="stuck",
        queue="test-stuck",
        function="posixpath.basename",
        claim=claim,
        start=lambda _app: None,
        stop=lambda _seconds: None,
        wait_until_handled=lambda _seconds: True,
        measure_backlog=lambda: (0, 0.0),
    )
    monkeypatch.setattr(handlers, "SOURCES", [source])
    relay = Relay(app, lambda: connection)
    for _ in range(MAX_MESSAGES_PER_SOURCE + 10):
        relay.run_once()
    assert len(claimed) == MAX_MESSAGES_PER_SOURCE
    assert len(_messages(connection, "test-stuck")) == MAX_MESSAGES_PER_SOURCE


def test_a_message_for_a_group_that_nobody_knows_is_harmless(
    org: Org, connection: Redis, work: Callable[[], None]
) -> None:
    target = RqQueue("slow", connection=connection, serializer=JSONSerializer)
    target.enqueue(DRAIN, "no-such-group", result_ttl=0)
    enqueue(org, "test.relayed", {"n": 1})
    work()
    assert SEEN[org.id]["heard"] == [{"n": 1}]
