"""Durable work: claims, leases, retries, and what happens when Redis forgets."""

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from rq import Queue
from rq.serializers import JSONSerializer
from sqlalchemy import text

from app.kit import container, db, events, jobs, tenancy
from app.kit.jobs import handlers, relay, worker
from app.kit.jobs.handlers import Job
from tests.factories import Org

SEEN: dict[UUID | None, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
"""What the handlers saw, by organization: what one test leaves runs when its lease is over."""


@pytest.fixture(scope="module", autouse=True)
def _handlers() -> Iterator[None]:
    @jobs.handler("test.hear", listens=("test.happened",))
    def hear(job: Job) -> None:
        SEEN[job.organization_id]["heard"].append(job.args)

    @jobs.handler("test.batch", batch=True)
    def batch(found: list[Job]) -> None:
        for organization_id in {job.organization_id for job in found}:
            SEEN[organization_id]["batch"].append([job.args["n"] for job in found])

    def on_failure(job: Job, error: str) -> None:
        SEEN[job.organization_id]["failed"].append((job.args, error))

    @jobs.handler("test.fail", max_attempts=2, on_failure=on_failure)
    def fail(job: Job) -> None:
        raise RuntimeError("no luck")

    @jobs.handler("test.broken")
    def broken(job: Job) -> None:
        db.session().execute(text("SELECT CAST(:v AS jsonb)"), {"v": job.args["hash"]})

    @jobs.handler("test.slow", lease_seconds=1)
    def slow(job: Job) -> None:
        job.checkpoint()

    yield
    for name in ("test.hear", "test.batch", "test.fail", "test.broken", "test.slow"):
        del handlers.HANDLERS[name]


def _enqueue(org: Org, function: str, args: dict[str, Any], **more: Any) -> None:
    with org.app.app_context(), tenancy.organization(org.id), db.transaction():
        jobs.enqueue(function, args, organization_id=org.id, **more)


def _rows(org: Org) -> list[Any]:
    with org.app.app_context(), tenancy.organization(org.id):
        columns = "id, status, attempts, error, lease_token, due_at"
        sql = f"SELECT {columns} FROM jobs WHERE organization_id = :o"
        return list(db.session().execute(text(sql), {"o": org.id}))


def test_an_event_reaches_its_listener_once(org: Org, work: Callable[[], None]) -> None:
    with org.app.app_context(), tenancy.organization(org.id), db.transaction():
        events.set_request_id("r-1")
        event_id = events.emit("test.happened", {"n": 1})
    work()
    work()
    assert SEEN[org.id]["heard"] == [
        {"event_id": str(event_id), "name": "test.happened", "data": {"n": 1}}
    ]
    assert [r.status for r in _rows(org)] == ["completed"]


def test_a_databases_error_is_kept_without_the_values(org: Org, work: Callable[[], None]) -> None:
    """They may be hashes, addresses, tokens; some features show why their jobs failed."""
    _enqueue(org, "test.broken", {"hash": "[1, 2, $argon2id-and-so-on]"})
    work()
    (row,) = _rows(org)
    assert row.error.startswith("DataError")
    assert "[parameters:" not in row.error


def test_an_event_of_a_rolled_back_transaction_never_happened(
    org: Org, work: Callable[[], None]
) -> None:
    with org.app.app_context(), tenancy.organization(org.id):
        events.emit("test.happened", {})
        db.session().rollback()
    work()
    assert SEEN[org.id]["heard"] == []


def test_batches_hold_one_organization(org: Org, other_org: Org, work: Callable[[], None]) -> None:
    for n in range(3):
        _enqueue(org, "test.batch", {"n": n})
        _enqueue(other_org, "test.batch", {"n": 10 + n})
    work()
    assert [sorted(found) for found in SEEN[org.id]["batch"]] == [[0, 1, 2]]
    assert [sorted(found) for found in SEEN[other_org.id]["batch"]] == [[10, 11, 12]]


def test_a_failing_job_is_tried_again_and_then_given_up(
    org: Org, work: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_BACKOFF_SECONDS", (3600,))
    _enqueue(org, "test.fail", {"n": 1})
    work()
    (row,) = _rows(org)
    assert (row.status, row.attempts, row.error) == ("queued", 1, "RuntimeError: no luck")
    _make_due(org)
    work()
    (row,) = _rows(org)
    assert (row.status, row.attempts, row.due_at) == ("failed", 2, None)
    assert SEEN[org.id]["failed"] == [({"n": 1}, "RuntimeError: no luck")]


def _make_due(org: Org) -> None:
    with org.app.app_context(), tenancy.organization(org.id), db.transaction() as session:
        session.execute(
            text(
                "UPDATE jobs SET due_at = now() - interval '1 second',"
                " leased_until = now() - interval '1 second' WHERE organization_id = :o"
            ),
            {"o": org.id},
        )


def test_work_survives_a_redis_that_forgot(org: Org, work: Callable[[], None]) -> None:
    work()  # A round takes so many jobs: of other tests there may be more.
    _enqueue(org, "test.hear", {"n": 1})
    connection = container.current().redis(timeout=5)
    # More than this one job when periodic ones are due.
    assert relay.Relay(org.app, lambda: connection).round() >= 1
    connection.flushall()
    work()
    assert SEEN[org.id]["heard"] == []  # leased to a message that is gone
    _make_due(org)
    work()
    assert SEEN[org.id]["heard"] == [{"n": 1}]


def test_a_message_delivered_twice_runs_once(org: Org) -> None:
    _enqueue(org, "test.hear", {"n": 1})
    claim = _claim(org)
    with org.app.app_context():
        worker.run([claim])
        worker.run([claim])
    assert SEEN[org.id]["heard"] == [{"n": 1}]


def _claim(org: Org) -> list[str]:
    (row,) = _rows(org)
    token = UUID(int=row.id.int ^ 1)
    with org.app.app_context(), tenancy.organization(org.id), db.transaction() as session:
        sql = "UPDATE jobs SET lease_token = :t, leased_until = now() + interval '1 min'"
        session.execute(text(f"{sql} WHERE id = :i"), {"t": token, "i": row.id})
    return [str(row.id), str(token)]


def test_a_run_that_lost_its_lease_commits_nothing(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    _enqueue(org, "test.hear", {"n": 1})
    claim = _claim(org)

    def steal(job: Job) -> None:
        db.session().execute(text("SELECT 1"))
        thread = threading.Thread(target=_claim, args=(org,))
        thread.start()
        thread.join()
        events.emit("test.never", {})

    stolen = handlers.Handler("test.hear", "default", steal, False, 60, 5, None)
    monkeypatch.setitem(handlers.HANDLERS, "test.hear", stolen)
    with org.app.app_context():
        worker.run([claim])
    with org.app.app_context(), tenancy.organization(org.id):
        sql = (
            "SELECT count(*) FROM outbox_events WHERE name = 'test.never' AND organization_id = :o"
        )
        assert db.session().scalar(text(sql), {"o": org.id}) == 0


def test_a_job_whose_worker_always_dies_is_given_up(org: Org) -> None:
    _enqueue(org, "test.fail", {"n": 1})
    with org.app.app_context(), tenancy.organization(org.id), db.transaction() as session:
        sql = "UPDATE jobs SET attempts = 2 WHERE organization_id = :o"
        session.execute(text(sql), {"o": org.id})
    with org.app.app_context():
        worker.run([_claim(org)])
    assert [r.status for r in _rows(org)] == ["failed"]
    assert SEEN[org.id]["failed"][0][0] == {"n": 1}


def test_a_unique_key_is_taken_once_until_it_is_done(org: Org, work: Callable[[], None]) -> None:
    key = f"k-{org.id}"
    _enqueue(org, "test.hear", {"n": 1}, unique_key=key)
    _enqueue(org, "test.hear", {"n": 2}, unique_key=key)
    work()
    _enqueue(org, "test.hear", {"n": 3}, unique_key=key)
    work()
    assert [args["n"] for args in SEEN[org.id]["heard"]] == [1, 3]


def test_two_relays_claim_a_job_once(org: Org, app: Flask, work: Callable[[], None]) -> None:
    work()
    for n in range(30):
        _enqueue(org, "test.hear", {"n": n})
    connection = container.current().redis(timeout=5)
    connection.flushall()
    moved: list[int] = []
    start = threading.Barrier(4)

    def claim() -> None:
        start.wait()
        moved.append(relay.Relay(app, lambda: connection).round())

    threads = [threading.Thread(target=claim) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(moved) >= 30
    rows = _rows(org)
    assert len({r.lease_token for r in rows}) == 30
    # Periodic jobs may have come due too, and theirs are messages of other queues and functions.
    queue = Queue("default", connection=connection, serializer=JSONSerializer)
    claimed = Counter(identifier for job in queue.jobs for identifier, _ in job.args[0])
    assert [claimed[str(r.id)] for r in rows] == [1] * 30


def test_every_queue_has_a_worker_limit() -> None:
    assert set(relay.IN_FLIGHT) == set(handlers.QUEUES)
    assert {h.queue for h in handlers.HANDLERS.values()} <= set(handlers.QUEUES)


def test_a_worn_out_job_does_not_take_its_batch_along(org: Org) -> None:
    for n in range(3):
        _enqueue(org, "test.batch", {"n": n})
    with org.app.app_context(), tenancy.organization(org.id), db.transaction() as session:
        sql = "UPDATE jobs SET attempts = 5 WHERE organization_id = :o AND args ->> 'n' = '1'"
        session.execute(text(sql), {"o": org.id})
        claim = (
            "UPDATE jobs SET lease_token = gen_random_uuid(),"
            " leased_until = now() + interval '1 min'"
            " WHERE organization_id = :o RETURNING id, lease_token"
        )
        rows = session.execute(text(claim), {"o": org.id}).all()
    with org.app.app_context():
        worker.run([[str(row.id), str(row.lease_token)] for row in rows])
    assert sorted(r.status for r in _rows(org)) == ["completed", "completed", "failed"]
    assert sorted(SEEN[org.id]["batch"][0]) == [0, 2]
