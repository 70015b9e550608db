"""The relay: one message wakes a group, regardless of how many of its jobs are due."""

from collections.abc import Callable, Iterator
from contextlib import closing

import psycopg2
import pytest
from flask import Flask
from redis import Redis
from rq import Queue as RqQueue
from rq.serializers import JSONSerializer

from app.kit import container, jobs
from app.kit.jobs import handlers
from app.kit.jobs.handlers import DueSource, Job
from app.kit.jobs.relay import DRAIN_FUNCTION, MAX_MESSAGES_PER_SOURCE, Relay
from devserver.postgres import EmbeddedPostgres
from tests.factories import Org, claim_jobs_of
from tests.factories.queueing import run_concurrently
from tests.kit.jobs.workshop import SEEN, declare_handler, enqueue, sql

QUEUED = 5_000


@pytest.fixture(scope="module", autouse=True)
def _handlers() -> Iterator[None]:
    def record(job: Job) -> None:
        SEEN[job.organization_id]["relayed"].append(job.args)

    with declare_handler("test.relayed", record, queue="erasing"):
        yield


@pytest.fixture
def connection(work: Callable[[], None]) -> Redis:
    """Return a client for a Valkey without messages. No job from other tests is due."""
    work()
    client = container.current().redis(timeout=5)
    client.flushall()
    return client


def _get_queue(connection: Redis, name: str = "slow") -> RqQueue:
    return RqQueue(name, connection=connection, serializer=JSONSerializer)


def _messages(connection: Redis, queue: str) -> list[list[object]]:
    return [[job.func_name, *job.args] for job in _get_queue(connection, queue).jobs]


def _delete_jobs(org: Org) -> None:
    sql(org, "DELETE FROM jobs WHERE organization_id = :org")


def test_a_long_queue_is_one_message(app: Flask, org: Org, connection: Redis) -> None:
    with org.transaction():
        jobs.enqueue_many("test.relayed", [(org.id, {"n": n}) for n in range(QUEUED)])
    relay = Relay(app, lambda: connection)
    for _ in range(5):
        relay.run_once()
    assert _messages(connection, "slow") == [[DRAIN_FUNCTION, "slow"]]
    _delete_jobs(org)


def test_a_job_that_another_transaction_has_locked_wakes_nobody(
    app: Flask, org: Org, connection: Redis, postgres: EmbeddedPostgres
) -> None:
    enqueue(org, "test.relayed", {})
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
    assert _messages(connection, "slow") == [[DRAIN_FUNCTION, "slow"]]
    _delete_jobs(org)


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
    _delete_jobs(org)


def test_two_relays_at_once_send_few_messages(app: Flask, org: Org, connection: Redis) -> None:
    enqueue(org, "test.relayed", {"n": 1})
    relays = [Relay(app, lambda: container.current().redis(timeout=5)) for _ in range(4)]
    run_concurrently(*(relay.run_once for relay in relays))
    assert 1 <= len(_messages(connection, "slow")) <= 4


def test_a_message_too_many_runs_nothing_twice(
    org: Org, connection: Redis, work: Callable[[], None]
) -> None:
    enqueue(org, "test.relayed", {"n": 1})
    for _ in range(3):
        _get_queue(connection).enqueue(DRAIN_FUNCTION, "slow", result_ttl=0)
    work()
    assert SEEN[org.id]["relayed"] == [{"n": 1}]


def test_work_survives_a_redis_that_forgot(
    app: Flask, org: Org, connection: Redis, work: Callable[[], None]
) -> None:
    enqueue(org, "test.relayed", {"n": 1})
    Relay(app, lambda: connection).run_once()
    connection.flushall()
    work()
    assert SEEN[org.id]["relayed"] == [{"n": 1}]


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
    _get_queue(connection).enqueue(DRAIN_FUNCTION, "no-such-group", result_ttl=0)
    enqueue(org, "test.relayed", {"n": 1})
    work()
    assert SEEN[org.id]["relayed"] == [{"n": 1}]
