"""The stored progress of resumable jobs, and their restart by a new request."""

from typing import Any

from app.kit import db, jobs, tenancy
from app.kit.jobs import handlers
from app.kit.jobs.handlers import Job, Yielded
from tests.factories import Org, run_jobs_of
from tests.kit.jobs.workshop import SEEN, declare_handler, rows, sql


def _restart(org: Org, function: str, args: dict[str, Any]) -> None:
    unique_key = f"{function}:{org.id}"
    jobs.enqueue_or_restart(function, args, organization_id=org.id, unique_key=unique_key)


def _request(org: Org, function: str, args: dict[str, Any]) -> None:
    """Enqueue the job or restart it, and commit."""
    with org.transaction():
        _restart(org, function, args)


def test_the_next_run_begins_with_the_stored_progress(org: Org) -> None:
    def count(job: Job) -> None:
        number = job.args.get("progress", {"n": 0})["n"]
        SEEN[org.id]["count"].append(number)
        assert job.store_progress({"n": number + 1})
        if number < 3:
            job.checkpoint()
            if number % 2:
                raise RuntimeError("the progress is kept after an error")
            raise Yielded

    with declare_handler("test.count", count, resumable=True):
        _request(org, "test.count", {"a": 1})
        for _ in range(4):
            run_jobs_of(org)
            sql(org, "UPDATE jobs SET due_at = now() WHERE due_at IS NOT NULL")
    assert SEEN[org.id]["count"] == [0, 1, 2, 3]
    (row,) = rows(org)
    assert (row.status, row.args["a"], row.args["progress"]) == ("completed", 1, {"n": 4})


def test_requests_while_a_job_waits_make_no_second_job(org: Org) -> None:
    with declare_handler("test.once", lambda job: SEEN[org.id]["once"].append(job.args["n"])):
        for number in range(3):
            _request(org, "test.once", {"n": number})
        run_jobs_of(org)
        _request(org, "test.once", {"n": 3})
        run_jobs_of(org)
    assert SEEN[org.id]["once"] == [2, 3]
    assert [row.status for row in rows(org)] == ["completed", "completed"]


def test_a_running_job_learns_that_it_must_start_over(org: Org) -> None:
    def run(job: Job) -> None:
        SEEN[org.id]["stored"].append(job.store_progress({"n": 1}))
        job.checkpoint()
        with tenancy.organization(org.id):
            _restart(org, "test.over", {"new": True})
        db.session().commit()
        SEEN[org.id]["stored"].append(job.store_progress({"n": 2}))
        SEEN[org.id]["args"].append(dict(job.args))
        SEEN[org.id]["stored"].append(job.store_progress({"n": 3}))

    with declare_handler("test.over", run, resumable=True):
        _request(org, "test.over", {})
        run_jobs_of(org)
    assert SEEN[org.id]["stored"] == [True, False, True]
    (args,) = SEEN[org.id]["args"]
    assert args["new"] is True
    assert "progress" not in args
    (row,) = rows(org)
    assert (row.status, row.args["progress"]) == ("completed", {"n": 3})


def test_a_job_without_its_lease_stores_nothing(org: Org) -> None:
    def run(job: Job) -> None:
        sql(org, "UPDATE jobs SET lease_token = gen_random_uuid() WHERE organization_id = :org")
        try:
            job.store_progress({"n": 1})
        except handlers.LostLease:
            SEEN[org.id]["lost"].append(1)
            raise

    with declare_handler("test.lost", run, resumable=True):
        _request(org, "test.lost", {})
        run_jobs_of(org)
    assert SEEN[org.id]["lost"] == [1]
    (row,) = rows(org)
    assert "progress" not in row.args
