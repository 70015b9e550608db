"""Runs of an import: interrupted, repeated, cancelled and retried."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from app.intake.bulk_import.service import running
from app.intake.ingestion_jobs.statuses import TRANSITIONS, JobStatus
from app.kit import container, db
from app.kit.ids import uuid7
from app.kit.jobs import LostLease
from app.kit.storage import StorageUnavailable
from tests.factories import run_jobs_of
from tests.factories.errors import check_error
from tests.factories.orgs import get_data
from tests.intake.conftest import Imports, Killed, counts, lines


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "BATCH_RECORDS", 3)


def _start(imports: Imports, number: int) -> str:
    """Start the import of a number of texts, and return the id of the job."""
    return imports.start(lines(*({"text": f"Text {n}"} for n in range(number))))


def _make_due(imports: Imports) -> None:
    """Make the jobs that wait for their next attempt due."""
    imports.sql(
        "UPDATE jobs SET due_at = now() WHERE due_at IS NOT NULL AND organization_id = :org",
        org=imports.org.id,
    )


def test_a_killed_run_continues_after_its_last_batch(imports: Imports) -> None:
    job_id = _start(imports, 10)
    done = []
    for _ in range(3):
        # The first two commits are the start and the number of documents.
        first = not done
        imports.run(running.run_import, job_id, checkpoints=3 if first else 2)
        job = imports.get(job_id)
        assert job["status"] == "running"
        assert job["progress"]["total"] == 10
        done.append(job["progress"]["done"])
    assert done == [3, 6, 9]
    assert imports.count() == 9
    imports.run(running.run_import, job_id)
    job = imports.get(job_id)
    assert (job["status"], job["counts"]) == ("completed", counts(found=10, created=10))
    assert imports.count() == 10
    assert len(imports.events("artifact.ingested")) == 10
    assert [item["number"] for item in imports.items(job_id)] == list(range(1, 11))
    assert len(imports.events("ingestion_job.ended")) == 1


def test_a_run_that_dies_within_a_batch_leaves_nothing_of_it(
    imports: Imports, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = _start(imports, 5)
    record = running.ingestion_jobs.record_batch
    calls = []

    def record_and_die(*args: Any, **members: Any) -> None:
        record(*args, **members)
        calls.append(args)
        if len(calls) == 2:
            raise Killed

    monkeypatch.setattr(running.ingestion_jobs, "record_batch", record_and_die)
    imports.run(running.run_import, job_id)
    assert (imports.count(), imports.get(job_id)["counts"]["created"]) == (3, 3)
    monkeypatch.setattr(running.ingestion_jobs, "record_batch", record)
    imports.run(running.run_import, job_id)
    assert imports.get(job_id)["counts"] == counts(found=5, created=5)
    assert len(imports.events("artifact.ingested")) == 5


def test_a_second_run_of_a_job_that_ended_does_nothing(imports: Imports) -> None:
    job = imports.make(lines({"text": "Once"}))
    imports.run(running.run_import, job["id"])
    assert imports.get(job["id"]) == job
    assert imports.count() == 1


def test_of_two_runs_at_once_each_batch_is_handled_by_one(
    imports: Imports, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = _start(imports, 9)
    imports.run(running.run_import, job_id, checkpoints=3)
    begin = running.ingestion_jobs.begin_batch
    calls = []

    def overtake(*args: Any) -> Any:
        calls.append(args)
        if len(calls) == 2:
            db.session().commit()
            monkeypatch.setattr(running.ingestion_jobs, "begin_batch", begin)
            with ThreadPoolExecutor(1) as pool:
                pool.submit(imports.run, running.run_import, job_id).result()
        return begin(*args)

    monkeypatch.setattr(running.ingestion_jobs, "begin_batch", overtake)
    imports.run(running.run_import, job_id)
    job = imports.get(job_id)
    assert (job["status"], job["counts"]) == ("completed", counts(found=9, created=9))
    assert imports.count() == 9


def test_a_run_without_its_lease_commits_nothing(
    imports: Imports, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = imports.start(lines({"text": "One"}))
    record = running.ingestion_jobs.record_batch

    def record_and_lose_lease(*args: Any, **members: Any) -> None:
        record(*args, **members)
        raise LostLease

    monkeypatch.setattr(running.ingestion_jobs, "record_batch", record_and_lose_lease)
    imports.work()
    assert (imports.get(job_id)["status"], imports.count()) == ("running", 0)


def test_a_cancelled_job_stops_and_keeps_what_it_created(imports: Imports) -> None:
    job_id = _start(imports, 9)
    imports.run(running.run_import, job_id, checkpoints=4)
    assert get_data(imports.admin.post(f"/ingestion-jobs/{job_id}/cancel"))["status"] == "cancelled"
    imports.run(running.run_import, job_id)
    imports.work()
    job = imports.get(job_id)
    assert (job["status"], job["counts"]) == ("cancelled", counts(found=6, created=6))
    assert job["finished_at"] is not None
    assert imports.count() == 6
    for action in ("cancel", "retry"):
        refused = imports.admin.post(f"/ingestion-jobs/{job_id}/{action}")
        assert refused.status_code == 409
        assert refused.json["error"]["details"] == {"state": "cancelled"}
    (ended,) = imports.events("ingestion_job.ended")
    assert ended["status"] == "cancelled"


def test_a_job_that_is_cancelled_during_its_run_stops_at_the_next_batch(
    imports: Imports, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = _start(imports, 9)
    begin = running.ingestion_jobs.begin_batch
    calls = []

    def interrupt(*args: Any) -> Any:
        calls.append(args)
        if len(calls) == 2:
            imports.sql("UPDATE ingestion_jobs SET status = 'cancelled' WHERE id = :id", id=job_id)
        return begin(*args)

    monkeypatch.setattr(running.ingestion_jobs, "begin_batch", interrupt)
    imports.work()
    assert (imports.get(job_id)["status"], imports.count()) == ("cancelled", 3)


def test_a_retry_handles_only_what_failed(imports: Imports) -> None:
    records = [{"text": f"Text {n}"} for n in range(8)]
    schema_id = uuid7()
    for number in (1, 6):
        records[number]["schema_id"] = str(schema_id)
    records[4]["text"] = 7  # type: ignore[assignment]
    job = imports.make(lines(*records))
    assert job["status"] == "completed_with_errors"
    assert job["counts"] == counts(found=8, created=5, failed=3)
    made = {item["artifact_id"] for item in imports.items(job["id"], status="created")}
    body = {"name": "Late", "fields": [{"key": "number", "type": "text"}]}
    assert imports.admin.post("/schemas", body).status_code == 201
    imports.sql("UPDATE schemas SET id = :id", id=schema_id)
    answer = imports.admin.post(f"/ingestion-jobs/{job['id']}/retry")
    assert get_data(answer, 202)["status"] == "queued"
    assert answer.json["data"]["finished_at"] is None
    imports.work()
    again = imports.get(job["id"])
    assert again["status"] == "completed_with_errors"
    assert again["counts"] == counts(found=8, created=7, failed=1)
    items = imports.items(job["id"])
    assert [item["number"] for item in items if item["status"] == "failed"] == [5]
    assert made < {item["artifact_id"] for item in items}
    assert imports.count() == 7


def test_a_completed_job_cannot_be_retried(imports: Imports) -> None:
    job = imports.make(lines({"text": "One"}))
    answer = imports.admin.post(f"/ingestion-jobs/{job['id']}/retry")
    check_error(answer, 409, "conflict", details={"state": "completed"})


@pytest.mark.parametrize("action", ["cancel", "retry"])
def test_only_admins_cancel_and_retry(imports: Imports, action: str) -> None:
    job_id = imports.start(lines({"text": "One"}))
    answer = imports.org.api("reviewer").post(f"/ingestion-jobs/{job_id}/{action}")
    assert (answer.status_code, answer.json["error"]["code"]) == (403, "insufficient_role")


def test_a_job_whose_file_is_missing_fails_and_can_be_retried(imports: Imports) -> None:
    job_id = _start(imports, 9)
    imports.run(running.run_import, job_id, checkpoints=4)
    (key,) = [key for key in imports.files() if "/imports/" in key]
    storage = container.current().storage
    data = b"".join(storage.stream(key))
    storage.delete(key)
    while imports.get(job_id)["status"] == "running":
        _make_due(imports)
        run_jobs_of(imports.org, "imports")
    job = imports.get(job_id)
    assert (job["status"], job["error"]["code"]) == ("failed", "content_missing")
    assert job["counts"] == counts(found=6, created=6)
    storage.write(key, [data])
    imports.retry(job_id)
    imports.work()
    job = imports.get(job_id)
    assert (job["status"], job["error"]) == ("completed", None)
    assert job["counts"] == counts(found=9, created=9)


def test_an_outage_of_the_storage_costs_no_attempt(
    imports: Imports, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = imports.start(lines({"text": "One"}))
    storage = container.current().storage

    def fail(_self: object, _contents: Any) -> None:
        raise StorageUnavailable("down")

    with monkeypatch.context() as patch:
        patch.setattr(type(storage), "write_many", fail)
        imports.work()
    assert (imports.get(job_id)["status"], imports.count()) == ("running", 0)
    (row,) = imports.sql(
        "SELECT attempts, faults FROM jobs WHERE function = 'bulk_import.run'"
        " AND organization_id = :org",
        org=imports.org.id,
    )
    assert (row.attempts, row.faults) == (0, 1)
    _make_due(imports)
    imports.work()
    assert imports.get(job_id)["counts"] == counts(found=1, created=1)


def test_the_guide_shows_each_status_and_what_it_may_become() -> None:
    guide = (Path(__file__).parents[3] / "docs/guides/ingestion.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| .+ \|(?: (.+?))? \|$", guide, re.MULTILINE)
    shown = {
        status: frozenset(re.findall(r"`(\w+)`", following))
        for status, following in rows
        if status in tuple(JobStatus)
    }
    # An interrupted run goes on in the same status.
    assert shown == {status: after - {status} for status, after in TRANSITIONS.items()}
