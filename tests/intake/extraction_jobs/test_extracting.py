"""Extraction from all documents that an ingestion job created: progress, items, refusals."""

from typing import Any

import pytest

from app.intake.extraction_jobs.service import run_extraction
from app.kit.ids import uuid7
from tests.factories import Org, run_jobs_of
from tests.factories.labels import make_field
from tests.factories.orgs import get_data
from tests.intake.conftest import Imports, lines

FIELDS = [make_field("number", "text"), make_field("total", "money")]


class Extractions(Imports):
    """Extractions from the imports of one organization; `schema_id` has AI assistance."""

    def __init__(self, org: Org) -> None:
        super().__init__(org)
        self.api = org.api("viewer")
        self.schema_id = self.workspace.schema(fields=FIELDS)
        self.sql("UPDATE schemas SET ai_assist_enabled = true")

    def import_texts(self, count: int, *, with_schema: bool = True) -> str:
        """Import texts, wait for the job, and return its id."""
        texts = lines(*({"text": f"Invoice A-{n}\nTotal EUR {n}.00"} for n in range(count)))
        body = {"name": "texts.jsonl", "content": texts.decode(), "format": "jsonl"}
        if with_schema:
            body["schema_id"] = str(self.schema_id)
        answer = self.admin.post("/artifacts/bulk-import", body)
        assert answer.status_code == 202, answer.json
        run_jobs_of(self.org, "imports", "default", "routing")
        return str(answer.json["data"]["id"])

    def request(self, source_id: str, *, by: str = "labeler") -> Any:
        """Request an extraction from the documents of a job, and return the response."""
        return self.org.api(by).post(f"/ingestion-jobs/{source_id}/extract")

    def extract(self, source_id: str) -> str:
        """Request an extraction from the documents of a job, and return the id of its own job."""
        return str(get_data(self.request(source_id), 202)["id"])

    def work(self) -> None:
        """Run the jobs that are due."""
        self.run_due_jobs("imports", "default", "predictions", "default")


@pytest.fixture
def extractions(org: Org) -> Extractions:
    """Return the extractions of `org`."""
    return Extractions(org)


def test_all_documents_are_predicted_with_progress(extractions: Extractions) -> None:
    source_id = extractions.import_texts(3)
    queued = get_data(extractions.request(source_id), 202)
    names = (queued["kind"], queued["status"], queued["name"])
    assert names == ("extract", "queued", "texts.jsonl")
    assert queued["progress"]["total"] == 3
    assert extractions.request(source_id).json["data"]["id"] == queued["id"]
    run_jobs_of(extractions.org, "imports")
    running = extractions.get(queued["id"])
    assert (running["status"], running["progress"]["done"]) == ("running", 3)
    extractions.work()
    ended = extractions.get(queued["id"])
    assert ended["status"] == "completed"
    assert (ended["counts"]["found"], ended["counts"]["created"]) == (3, 3)
    items = extractions.items(queued["id"])
    assert [item["status"] for item in items] == ["created"] * 3
    for item in items:
        shown = extractions.artifact(item["artifact_id"])
        assert shown["prediction"]["status"] == "completed"
        assert shown["ingestion_job_id"] == source_id
    kinds = extractions.api.get("/ingestion-jobs?kind=extract").json["data"]
    assert [listed_job["id"] for listed_job in kinds] == [queued["id"]]
    assert extractions.request(source_id).json["data"]["id"] != queued["id"]


def test_documents_that_cannot_be_predicted_are_failed_items(extractions: Extractions) -> None:
    source_id = extractions.import_texts(2, with_schema=False)
    job_id = extractions.extract(source_id)
    extractions.work()
    ended = extractions.get(job_id)
    assert (ended["status"], ended["counts"]["failed"]) == ("completed_with_errors", 2)
    items = extractions.items(job_id)
    assert {item["error"]["code"] for item in items} == {"conflict"}
    extractions.sql("UPDATE artifacts SET schema_id = :id", id=extractions.schema_id)
    extractions.retry(job_id)
    extractions.work()
    ended = extractions.get(job_id)
    assert ended["status"] == "completed"
    assert (ended["counts"]["created"], ended["counts"]["failed"]) == (2, 0)


def test_the_seconds_of_a_retried_document_count_from_the_retry(
    extractions: Extractions,
) -> None:
    source_id = extractions.import_texts(1)
    extractions.sql("UPDATE artifacts SET schema_id = NULL")
    job_id = extractions.extract(source_id)
    extractions.work()
    extractions.sql("UPDATE ingestion_items SET created_at = created_at - interval '1 day'")
    extractions.sql("UPDATE artifacts SET schema_id = :id", id=extractions.schema_id)
    extractions.retry(job_id)
    extractions.work()
    items = extractions.items(job_id)
    assert [item["status"] for item in items] == ["created"]
    assert items[0]["seconds"] < 43_200


def test_a_retry_is_of_what_failed_though_the_source_has_new_documents(
    extractions: Extractions,
) -> None:
    source_id = extractions.import_texts(4)
    late = "UPDATE ingestion_items SET status = :status WHERE job_id = :job AND number = 2"
    extractions.sql(late, status="failed", job=source_id)
    items = "SELECT artifact_id FROM ingestion_items WHERE job_id = :job AND status = 'created'"
    expected = extractions.sql(f"{items} ORDER BY number", job=source_id)
    schema = "UPDATE artifacts SET schema_id = :schema WHERE id = :id"
    extractions.sql(schema, schema=None, id=expected[1].artifact_id)
    job_id = extractions.extract(source_id)
    extractions.work()
    assert extractions.get(job_id)["counts"]["failed"] == 1
    extractions.sql(late, status="created", job=source_id)
    extractions.sql(schema, schema=extractions.schema_id, id=expected[1].artifact_id)
    extractions.retry(job_id)
    extractions.work()
    predicted = extractions.sql("SELECT artifact_id FROM predictions")
    assert sorted(predicted) == sorted(expected)
    handled = extractions.sql(f"{items} ORDER BY number", job=job_id)
    assert handled[: len(expected)] == expected


def test_a_retry_that_is_killed_before_the_new_documents_goes_on(extractions: Extractions) -> None:
    source_id = extractions.import_texts(3)
    late = "UPDATE ingestion_items SET status = :status WHERE job_id = :job AND number = 3"
    extractions.sql(late, status="failed", job=source_id)
    extractions.sql("UPDATE artifacts SET schema_id = NULL")
    job_id = extractions.extract(source_id)
    extractions.work()
    extractions.sql(late, status="created", job=source_id)
    extractions.sql("UPDATE artifacts SET schema_id = :id", id=extractions.schema_id)
    extractions.retry(job_id)
    extractions.run(run_extraction, job_id, checkpoints=2)
    run_jobs_of(extractions.org, "default", "predictions", "default")
    assert extractions.get(job_id)["status"] == "running"
    extractions.work()
    ended = extractions.get(job_id)
    assert (ended["status"], ended["counts"]["created"]) == ("completed", 3)


def test_a_document_that_is_deleted_meanwhile_fails(extractions: Extractions) -> None:
    source_id = extractions.import_texts(2)
    job_id = extractions.extract(source_id)
    run_jobs_of(extractions.org, "imports")
    first = extractions.items(job_id)[0]
    extractions.admin.delete(f"/artifacts/{first['artifact_id']}")
    extractions.work()
    assert extractions.get(job_id)["counts"]["failed"] == 1
    (failed,) = extractions.items(job_id, status="failed")
    assert failed["error"]["code"] == "not_found"


def test_a_prediction_that_somebody_else_requested(extractions: Extractions) -> None:
    source_id = extractions.import_texts(1)
    ((artifact_id,),) = extractions.sql("SELECT id FROM artifacts")
    labeler = extractions.org.api("labeler")
    requested = labeler.post(f"/artifacts/{artifact_id}/predict").json["data"]
    job_id = extractions.extract(source_id)
    extractions.work()
    assert extractions.get(job_id)["status"] == "completed"
    assert extractions.sql("SELECT CAST(id AS text) FROM predictions") == [(requested["id"],)]


def test_events_in_any_order_and_twice(extractions: Extractions) -> None:
    source_id = extractions.import_texts(3)
    job_id = extractions.extract(source_id)
    run_jobs_of(extractions.org, "imports", "predictions")
    extractions.sql(
        "INSERT INTO jobs (id, organization_id, queue, function, args)"
        " SELECT gen_random_uuid(), organization_id, queue, function, args FROM jobs"
        " WHERE function = 'extraction_jobs.settle' ORDER BY id"
    )
    extractions.work()
    ended = extractions.get(job_id)
    assert (ended["status"], ended["counts"]["created"]) == ("completed", 3)
    ended_ids = [event["job_id"] for event in extractions.events("ingestion_job.ended")]
    assert ended_ids.count(job_id) == 1


def test_a_schema_that_is_deleted_meanwhile(extractions: Extractions) -> None:
    source_id = extractions.import_texts(2)
    job_id = extractions.extract(source_id)
    run_jobs_of(extractions.org, "imports", "default")
    path = f"/schemas/{extractions.schema_id}"
    assert extractions.admin.delete(path).status_code == 204
    run_jobs_of(extractions.org, "bulk")
    assert extractions.sql("SELECT prediction FROM artifacts") == [(None,), (None,)]
    extractions.work()
    assert extractions.get(job_id)["status"] == "running"
    late = "UPDATE jobs SET due_at = now() WHERE function = 'ingestion_jobs.settle'"
    extractions.sql(f"{late} AND organization_id = :org", org=extractions.org.id)
    run_jobs_of(extractions.org, "default")
    assert extractions.get(job_id)["status"] == "completed_with_errors"
    items = extractions.items(job_id)
    assert [item["error"]["code"] for item in items] == ["schema_deleted"] * 2


def test_documents_that_are_still_parsed_must_be_waited_for(extractions: Extractions) -> None:
    source_id = extractions.import_texts(2)
    item = "UPDATE ingestion_items SET status = :status WHERE job_id = :job AND number = 2"
    extractions.sql(item, status="processing", job=source_id)
    extractions.sql("UPDATE ingestion_jobs SET status = 'cancelled' WHERE id = :job", job=source_id)
    refused = extractions.request(source_id)
    assert (refused.status_code, refused.json["error"]["details"]) == (409, {"state": "cancelled"})
    extractions.sql(item, status="created", job=source_id)
    assert extractions.request(source_id).status_code == 202


def test_refusals(extractions: Extractions, other_org: Org) -> None:
    source_id = extractions.import_texts(1)
    foreign = other_org.api("admin").post(f"/ingestion-jobs/{source_id}/extract")
    missing = other_org.api("admin").post(f"/ingestion-jobs/{uuid7()}/extract")
    assert (foreign.status_code, foreign.data) == (404, missing.data)
    assert extractions.request(source_id, by="viewer").status_code == 403
    job_id = extractions.extract(source_id)
    again = extractions.request(job_id)
    assert (again.status_code, again.json["error"]["details"]) == (409, {"kind": "extract"})
    extractions.sql("UPDATE ingestion_jobs SET status = 'cancelled' WHERE id = :id", id=job_id)
    extractions.sql("UPDATE ingestion_jobs SET status = 'running' WHERE id = :id", id=source_id)
    running = extractions.request(source_id)
    assert (running.status_code, running.json["error"]["details"]) == (409, {"state": "running"})
