"""Execution of jobs: arguments of handlers, errors, leases and commits."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import text

from app.kit import db, events, tenancy
from app.kit.jobs import claims, handlers, runs
from app.kit.jobs.handlers import Job, Retry
from tests.factories import Org, claim_jobs_of, run_jobs_of
from tests.factories.queueing import call_in_thread
from tests.kit.jobs.workshop import SEEN, declare_handler, enqueue, make_due, rows, sql


@pytest.fixture(scope="module", autouse=True)
def _handlers() -> Iterator[None]:
    def record(job: Job) -> None:
        SEEN[job.organization_id]["recorded"].append(job.args)

    def batch(jobs: list[Job]) -> None:
        for organization_id in {job.organization_id for job in jobs}:
            SEEN[organization_id]["batch"].append([job.args["n"] for job in jobs])

    def on_failure(job: Job, error: str) -> None:
        SEEN[job.organization_id]["failed"].append((job.args, error))

    def fail(job: Job) -> None:
        raise RuntimeError("no luck")

    def ask_again(job: Job) -> None:
        raise Retry("not yet")

    def broken(job: Job) -> None:
        db.session().execute(text("SELECT CAST(:v AS jsonb)"), {"v": job.args["hash"]})

    def fail_to_handle(job: Job, error: str) -> None:
        raise KeyError("the feature's own mistake")

    with (
        declare_handler("test.record", record, events=("test.happened",)),
        declare_handler("test.batch", batch, batch=True),
        declare_handler("test.fail", fail, max_attempts=2, on_failure=on_failure),
        declare_handler("test.ask_again", ask_again, max_attempts=2),
        declare_handler("test.broken", broken),
        declare_handler("test.unhandled", fail, max_attempts=1, on_failure=fail_to_handle),
    ):
        yield


def test_an_event_reaches_its_listener_once(org: Org, work: Callable[[], None]) -> None:
    with org.transaction():
        events.set_request_id("r-1")
        event_id = events.emit("test.happened", {"n": 1})
    work()
    work()
    assert SEEN[org.id]["recorded"] == [
        {"event_id": str(event_id), "name": "test.happened", "data": {"n": 1}}
    ]
    assert [row.status for row in rows(org)] == ["completed"]


def test_an_event_of_a_rolled_back_transaction_never_happened(org: Org) -> None:
    with org.app.app_context(), tenancy.organization(org.id):
        events.emit("test.happened", {})
        db.session().rollback()
    assert run_jobs_of(org) == 0


def test_a_databases_error_is_kept_without_the_values(org: Org) -> None:
    """The values may be hashes, addresses or tokens, and users may see the error of a job."""
    enqueue(org, "test.broken", {"hash": "[1, 2, $argon2id-and-so-on]"})
    run_jobs_of(org)
    (row,) = rows(org)
    assert row.error.startswith("DataError")
    assert "[parameters:" not in row.error


def test_batches_hold_one_organization(org: Org, other_org: Org, work: Callable[[], None]) -> None:
    for n in range(3):
        enqueue(org, "test.batch", {"n": n})
        enqueue(other_org, "test.batch", {"n": 10 + n})
    work()
    assert [sorted(numbers) for numbers in SEEN[org.id]["batch"]] == [[0, 1, 2]]
    assert [sorted(numbers) for numbers in SEEN[other_org.id]["batch"]] == [[10, 11, 12]]


def test_a_failing_job_is_tried_again_and_then_given_up(org: Org) -> None:
    enqueue(org, "test.fail", {"n": 1})
    run_jobs_of(org)
    (row,) = rows(org)
    assert (row.status, row.attempts, row.error) == ("queued", 1, "RuntimeError: no luck")
    make_due(org)
    run_jobs_of(org)
    (row,) = rows(org)
    assert (row.status, row.due_at, row.lease_token) == ("failed", None, None)
    assert SEEN[org.id]["failed"] == [({"n": 1}, "RuntimeError: no luck")]


def test_a_job_that_asks_for_another_run_counts_an_attempt(org: Org) -> None:
    enqueue(org, "test.ask_again", {})
    run_jobs_of(org)
    make_due(org)
    run_jobs_of(org)
    assert [row.status for row in rows(org)] == ["failed"]


def test_a_job_is_given_up_although_its_feature_fails_to_handle_that(org: Org) -> None:
    enqueue(org, "test.unhandled", {})
    run_jobs_of(org)
    assert [row.status for row in rows(org)] == ["failed"]


def test_a_function_that_nobody_declared_waits_for_a_release_that_knows_it(org: Org) -> None:
    enqueue(org, "test.record", {"n": 1})
    sql(org, "UPDATE jobs SET function = 'test.of_tomorrow' WHERE organization_id = :org")
    run_jobs_of(org)
    (row,) = rows(org)
    assert (row.status, row.attempts, row.lease_token) == ("queued", 0, None)
    sql(org, "UPDATE jobs SET function = 'test.record' WHERE organization_id = :org")
    make_due(org)
    run_jobs_of(org)
    assert SEEN[org.id]["recorded"] == [{"n": 1}]


def test_a_run_that_lost_its_lease_commits_nothing(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(job: Job) -> None:
        call_in_thread(_steal_lease, org)
        events.emit("test.never", {})

    with declare_handler("test.lose", lose):
        enqueue(org, "test.lose", {})
        (job,) = claim_jobs_of(org, "default")
        with org.app.app_context():
            runs.run(org.app, "default", [job])
    counted = sql(
        org,
        "SELECT count(*) FROM outbox_events WHERE organization_id = :org AND name = 'test.never'",
    )
    assert counted == [(0,)]
    assert [row.status for row in rows(org)] == ["running"]


def _steal_lease(org: Org) -> None:
    sql(org, "UPDATE jobs SET lease_token = gen_random_uuid() WHERE organization_id = :org")


def test_a_lease_lasts_as_long_as_its_run(org: Org, monkeypatch: pytest.MonkeyPatch) -> None:
    """The handler takes ten times as long as a lease."""
    monkeypatch.setattr(claims.JOB_LEASES, "lease_seconds", 1)
    monkeypatch.setattr(claims.JOB_LEASES, "renew_seconds", 0.1)
    taken_over: list[int] = []
    pause = threading.Event()

    def linger(job: Job) -> None:
        def look() -> None:
            until = sql(org, "SELECT clock_timestamp() + interval '10 seconds' AS at")[0].at
            while sql(org, "SELECT clock_timestamp() AS at")[0].at < until:
                taken_over.append(len(claim_jobs_of(org, "default")))
                pause.wait(0.2)

        call_in_thread(look)

    with declare_handler("test.linger", linger):
        enqueue(org, "test.linger", {})
        run_jobs_of(org, "default")
    assert len(taken_over) > 10
    assert sum(taken_over) == 0
    (row,) = rows(org)
    assert (row.status, row.interruptions) == ("completed", 0)


def test_a_job_whose_worker_dies_runs_again_and_counts_no_attempt(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    enqueue(org, "test.record", {"n": 1})
    with monkeypatch.context() as patched:
        patched.setattr(claims.JOB_LEASES, "lease_seconds", 0)
        claimed = [claim_jobs_of(org, "default")[0] for _ in range(3)]
        run_jobs_of(org)
    assert [job.interruptions for job in claimed] == [0, 1, 2]
    assert len({job.lease_token for job in claimed}) == 3
    (row,) = rows(org)
    assert (row.status, row.attempts, row.interruptions) == ("completed", 0, 3)
    assert SEEN[org.id]["recorded"] == [{"n": 1}]


def test_a_job_whose_worker_always_dies_is_given_up(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    enqueue(org, "test.fail", {"n": 1})
    with monkeypatch.context() as patched:
        patched.setattr(claims.JOB_LEASES, "lease_seconds", 0)
        for _ in range(runs.MAX_INTERRUPTIONS):
            assert claim_jobs_of(org, "default")
        run_jobs_of(org)
    assert [row.status for row in rows(org)] == ["failed"]
    assert SEEN[org.id]["failed"][0][0] == {"n": 1}


def test_a_restart_of_the_database_is_no_death_of_the_worker(org: Org) -> None:
    enqueue(org, "test.record", {"n": 1})
    assert claim_jobs_of(org, "default")
    before = "pg_postmaster_start_time() - interval '1 second'"
    sql(org, f"UPDATE jobs SET leased_until = {before} WHERE organization_id = :org")
    run_jobs_of(org)
    (row,) = rows(org)
    assert (row.status, row.interruptions) == ("completed", 0)


def test_a_worn_out_job_does_not_take_its_batch_along(org: Org) -> None:
    for n in range(3):
        enqueue(org, "test.batch", {"n": n})
    sql(
        org,
        "UPDATE jobs SET interruptions = 10 WHERE organization_id = :org AND args ->> 'n' = '1'",
    )
    run_jobs_of(org)
    assert sorted(row.status for row in rows(org)) == ["completed", "completed", "failed"]
    assert sorted(SEEN[org.id]["batch"][0]) == [0, 2]


def test_a_unique_key_is_taken_once_until_it_is_done(org: Org) -> None:
    key = f"k-{org.id}"
    enqueue(org, "test.record", {"n": 1}, unique_key=key)
    enqueue(org, "test.record", {"n": 2}, unique_key=key)
    run_jobs_of(org)
    enqueue(org, "test.record", {"n": 3}, unique_key=key)
    run_jobs_of(org)
    assert [args["n"] for args in SEEN[org.id]["recorded"]] == [1, 3]


@pytest.mark.parametrize("resumable", [True, False])
def test_only_a_resumable_job_stops_with_its_process(
    org: Org, monkeypatch: pytest.MonkeyPatch, resumable: Any
) -> None:
    stopping = threading.Event()
    monkeypatch.setattr(handlers, "stopping", stopping)
    runs_of_job = 0

    def run(job: Job) -> None:
        nonlocal runs_of_job
        runs_of_job += 1
        job.checkpoint()
        stopping.set()
        job.checkpoint()
        stopping.clear()

    with declare_handler("test.long", run, resumable=resumable):
        enqueue(org, "test.long", {})
        sql(org, "UPDATE jobs SET interruptions = 9 WHERE organization_id = :org")
        (first,) = claim_jobs_of(org, "default")
        with org.app.app_context():
            runs.run(org.app, "default", [first])
        (row,) = rows(org)
    assert runs_of_job == 1
    assert row.status == ("queued" if resumable else "completed")
    # A crash that comes after progress does not count with the crashes before it.
    assert row.interruptions == (0 if resumable else 9)


@pytest.mark.parametrize("resumable", [True, False])
def test_only_a_resumable_job_yields_to_others(
    org: Org, monkeypatch: pytest.MonkeyPatch, resumable: Any
) -> None:
    monkeypatch.setattr("app.kit.jobs.handlers.YIELD_AFTER_SECONDS", -1)
    order: list[str] = []

    def run(job: Job) -> None:
        for _ in range(2):
            order.append(job.args["name"])
            job.checkpoint()

    with declare_handler("test.long", run, resumable=resumable):
        enqueue(org, "test.long", {"name": "a"})
        enqueue(org, "test.long", {"name": "b"})
        (first,) = claim_jobs_of(org, "default")
        with org.app.app_context():
            runs.run(org.app, "default", [first])
        statuses = [(row.status, row.attempts) for row in rows(org)]
    if resumable:
        assert order == ["a"]
        assert statuses == [("queued", 0), ("queued", 0)]
    else:
        assert order == ["a", "a"]
        assert statuses == [("completed", 0), ("queued", 0)]


def test_a_job_continues_at_the_position_that_it_stored(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.kit.jobs.handlers.YIELD_AFTER_SECONDS", -1)
    order: list[tuple[str, str | None]] = []

    def run(job: Job) -> None:
        order.append((job.args["name"], job.position))
        if job.position is None:
            job.checkpoint_at("the end")

    with declare_handler("test.long", run, resumable=True):
        for name in "ab":
            enqueue(org, "test.long", {"name": name})
        run_jobs_of(org, "default")
        statuses = [row.status for row in rows(org)]
    assert order == [("a", None), ("b", None), ("a", "the end"), ("b", "the end")]
    assert statuses == ["completed", "completed"]


def test_a_run_that_lost_its_lease_stores_no_position(org: Org) -> None:
    def run(job: Job) -> None:
        _steal_lease(org)
        job.checkpoint_at("x")
        raise AssertionError("the run continued without its lease")

    with declare_handler("test.long", run, resumable=True):
        enqueue(org, "test.long", {})
        run_jobs_of(org, "default")
        (row,) = rows(org)
    assert (row.status, row.args) == ("running", {})
