"""Extraction from all documents that an ingestion job created: progress, items, refusals."""

import json
from typing import Any
from uuid import UUID

import pytest

from app.intake.extraction_jobs.service import run_extraction
from app.kit.ids import uuid7
from tests.factories import Org, run_jobs_of
from tests.factories.labels import make_field
from tests.factories.workspace import Workspace
from tests.intake.conftest import Imports

FIELDS = [make_field("number", "text"), make_field("total", "money")]


@pytest.fixture
def ai_workspace(org: Org) -> Workspace:
    """Return a workspace; `schema_id` is a schema with AI assistance."""
    workspace = Workspace(org)
    workspace.schema_id = workspace.schema(fields=FIELDS)  # type: ignore[attr-defined]
    workspace.sql("UPDATE schemas SET ai_assist_enabled = true")
    return workspace


def _import(workspace: Workspace, count: int, schema_id: UUID | None) -> Any:
    """Import texts, wait for the job, and return it."""
    lines = [json.dumps({"text": f"Invoice A-{n}\nTotal EUR {n}.00"}) for n in range(count)]
    body = {"name": "texts.jsonl", "content": "\n".join(lines), "format": "jsonl"}
    if schema_id is not None:
        body["schema_id"] = str(schema_id)
    answer = workspace.org.api("admin").post("/artifacts/bulk-import", body)
    assert answer.status_code == 202, answer.json
    run_jobs_of(workspace.org, "imports", "default", "routing")
    return _get_job(workspace, answer.json["data"]["id"])


def _get_job(workspace: Workspace, job_id: str) -> Any:
    return workspace.org.api("viewer").get(f"/ingestion-jobs/{job_id}").json["data"]


def _request_extraction(workspace: Workspace, job_id: str, *, by: str = "labeler") -> Any:
    return workspace.org.api(by).post(f"/ingestion-jobs/{job_id}/extract")


def _run(workspace: Workspace) -> None:
    """Run the jobs that are due. None is due soon after: nothing polls but the safety net."""
    run_jobs_of(workspace.org, "imports", "default", "predictions", "default")
    sql = "SELECT function FROM jobs WHERE queue = 'default' AND organization_id = :org"
    soon = workspace.sql(f"{sql} AND due_at < now() + interval '9 minutes'", org=workspace.org.id)
    assert soon == []


def test_all_documents_are_predicted_with_progress(ai_workspace: Workspace) -> None:
    source = _import(ai_workspace, 3, ai_workspace.schema_id)  # type: ignore[attr-defined]
    answer = _request_extraction(ai_workspace, source["id"])
    assert answer.status_code == 202, answer.json
    queued = answer.json["data"]
    assert (queued["kind"], queued["status"], queued["name"]) == (
        "extract",
        "queued",
        "texts.jsonl",
    )
    assert queued["progress"]["total"] == 3
    assert _request_extraction(ai_workspace, source["id"]).json["data"]["id"] == queued["id"]
    run_jobs_of(ai_workspace.org, "imports")
    running = _get_job(ai_workspace, queued["id"])
    assert (running["status"], running["progress"]["done"]) == ("running", 3)
    _run(ai_workspace)
    ended = _get_job(ai_workspace, queued["id"])
    assert (ended["status"], ended["counts"]["found"], ended["counts"]["created"]) == (
        "completed",
        3,
        3,
    )
    items = ai_workspace.org.api("viewer").get(f"/ingestion-jobs/{queued['id']}/items").json["data"]
    assert [item["status"] for item in items] == ["created"] * 3
    for item in items:
        shown = ai_workspace.org.api("viewer").get(f"/artifacts/{item['artifact_id']}").json["data"]
        assert shown["prediction"]["status"] == "completed"
        assert shown["ingestion_job_id"] == source["id"]
    kinds = ai_workspace.org.api("viewer").get("/ingestion-jobs?kind=extract").json["data"]
    assert [listed_job["id"] for listed_job in kinds] == [queued["id"]]
    assert _request_extraction(ai_workspace, source["id"]).json["data"]["id"] != queued["id"]


def test_documents_that_cannot_be_predicted_are_failed_items(ai_workspace: Workspace) -> None:
    source = _import(ai_workspace, 2, None)
    job = _request_extraction(ai_workspace, source["id"]).json["data"]
    _run(ai_workspace)
    ended = _get_job(ai_workspace, job["id"])
    assert (ended["status"], ended["counts"]["failed"]) == ("completed_with_errors", 2)
    items = ai_workspace.org.api("viewer").get(f"/ingestion-jobs/{job['id']}/items").json["data"]
    assert {item["error"]["code"] for item in items} == {"conflict"}
    ai_workspace.sql("UPDATE artifacts SET schema_id = :id", id=ai_workspace.schema_id)  # type: ignore[attr-defined]
    retried = ai_workspace.org.api("admin").post(f"/ingestion-jobs/{job['id']}/retry")
    assert retried.status_code == 202, retried.json
    _run(ai_workspace)
    ended = _get_job(ai_workspace, job["id"])
    assert (ended["status"], ended["counts"]["created"], ended["counts"]["failed"]) == (
        "completed",
        2,
        0,
    )


def test_the_seconds_of_a_retried_document_count_from_the_retry(
    ai_workspace: Workspace,
) -> None:
    source = _import(ai_workspace, 1, ai_workspace.schema_id)  # type: ignore[attr-defined]
    ai_workspace.sql("UPDATE artifacts SET schema_id = NULL")
    job = _request_extraction(ai_workspace, source["id"]).json["data"]
    _run(ai_workspace)
    ai_workspace.sql("UPDATE ingestion_items SET created_at = created_at - interval '1 day'")
    ai_workspace.sql("UPDATE artifacts SET schema_id = :id", id=ai_workspace.schema_id)  # type: ignore[attr-defined]
    assert (
        ai_workspace.org.api("admin").post(f"/ingestion-jobs/{job['id']}/retry").status_code == 202
    )
    _run(ai_workspace)
    items = ai_workspace.org.api("viewer").get(f"/ingestion-jobs/{job['id']}/items").json["data"]
    assert [item["status"] for item in items] == ["created"]
    assert items[0]["seconds"] < 43_200


def test_a_retry_is_of_what_failed_though_the_source_has_new_documents(
    ai_workspace: Workspace,
) -> None:
    source = _import(ai_workspace, 4, ai_workspace.schema_id)  # type: ignore[attr-defined]
    late = "UPDATE ingestion_items SET status = :status WHERE job_id = :job AND number = 2"
    ai_workspace.sql(late, status="failed", job=source["id"])
    items = "SELECT artifact_id FROM ingestion_items WHERE job_id = :job AND status = 'created'"
    expected = ai_workspace.sql(f"{items} ORDER BY number", job=source["id"])
    schema = "UPDATE artifacts SET schema_id = :schema WHERE id = :id"
    ai_workspace.sql(schema, schema=None, id=expected[1].artifact_id)
    job = _request_extraction(ai_workspace, source["id"]).json["data"]
    _run(ai_workspace)
    assert _get_job(ai_workspace, job["id"])["counts"]["failed"] == 1
    ai_workspace.sql(late, status="created", job=source["id"])
    ai_workspace.sql(schema, schema=ai_workspace.schema_id, id=expected[1].artifact_id)  # type: ignore[attr-defined]
    assert (
        ai_workspace.org.api("admin").post(f"/ingestion-jobs/{job['id']}/retry").status_code == 202
    )
    _run(ai_workspace)
    predicted = ai_workspace.sql("SELECT artifact_id FROM predictions")
    assert sorted(predicted) == sorted(expected)
    handled = ai_workspace.sql(f"{items} ORDER BY number", job=job["id"])
    assert handled[: len(expected)] == expected


def test_a_retry_that_is_killed_before_the_new_documents_goes_on(
    ai_workspace: Workspace, imports: Imports
) -> None:
    source = _import(ai_workspace, 3, ai_workspace.schema_id)  # type: ignore[attr-defined]
    late = "UPDATE ingestion_items SET status = :status WHERE job_id = :job AND number = 3"
    ai_workspace.sql(late, status="failed", job=source["id"])
    ai_workspace.sql("UPDATE artifacts SET schema_id = NULL")
    job = _request_extraction(ai_workspace, source["id"]).json["data"]
    _run(ai_workspace)
    ai_workspace.sql(late, status="created", job=source["id"])
    ai_workspace.sql("UPDATE artifacts SET schema_id = :id", id=ai_workspace.schema_id)  # type: ignore[attr-defined]
    assert (
        ai_workspace.org.api("admin").post(f"/ingestion-jobs/{job['id']}/retry").status_code == 202
    )
    imports.run(run_extraction, job["id"], checkpoints=2)
    run_jobs_of(ai_workspace.org, "default", "predictions", "default")
    assert _get_job(ai_workspace, job["id"])["status"] == "running"
    _run(ai_workspace)
    ended = _get_job(ai_workspace, job["id"])
    assert (ended["status"], ended["counts"]["created"]) == ("completed", 3)


def test_a_document_that_is_deleted_meanwhile_fails(ai_workspace: Workspace) -> None:
    source = _import(ai_workspace, 2, ai_workspace.schema_id)  # type: ignore[attr-defined]
    job = _request_extraction(ai_workspace, source["id"]).json["data"]
    run_jobs_of(ai_workspace.org, "imports")
    items = f"/ingestion-jobs/{job['id']}/items"
    first = ai_workspace.org.api("viewer").get(items).json["data"][0]
    ai_workspace.org.api("admin").delete(f"/artifacts/{first['artifact_id']}")
    _run(ai_workspace)
    assert _get_job(ai_workspace, job["id"])["counts"]["failed"] == 1
    (failed,) = ai_workspace.org.api("viewer").get(f"{items}?status=failed").json["data"]
    assert failed["error"]["code"] == "not_found"


def test_a_prediction_that_somebody_else_requested(ai_workspace: Workspace) -> None:
    source = _import(ai_workspace, 1, ai_workspace.schema_id)  # type: ignore[attr-defined]
    ((artifact_id,),) = ai_workspace.sql("SELECT id FROM artifacts")
    requested = (
        ai_workspace.org.api("labeler").post(f"/artifacts/{artifact_id}/predict").json["data"]
    )
    job = _request_extraction(ai_workspace, source["id"]).json["data"]
    _run(ai_workspace)
    assert _get_job(ai_workspace, job["id"])["status"] == "completed"
    assert ai_workspace.sql("SELECT CAST(id AS text) FROM predictions") == [(requested["id"],)]


def test_events_in_any_order_and_twice(ai_workspace: Workspace) -> None:
    source = _import(ai_workspace, 3, ai_workspace.schema_id)  # type: ignore[attr-defined]
    job = _request_extraction(ai_workspace, source["id"]).json["data"]
    run_jobs_of(ai_workspace.org, "imports", "predictions")
    ai_workspace.sql(
        "INSERT INTO jobs (id, organization_id, queue, function, args)"
        " SELECT gen_random_uuid(), organization_id, queue, function, args FROM jobs"
        " WHERE function = 'extraction_jobs.settle' ORDER BY id"
    )
    _run(ai_workspace)
    ended = _get_job(ai_workspace, job["id"])
    assert (ended["status"], ended["counts"]["created"]) == ("completed", 3)
    events = ai_workspace.sql(
        "SELECT data ->> 'job_id' FROM outbox_events WHERE organization_id = :org"
        " AND name = 'ingestion_job.ended'",
        org=ai_workspace.org.id,
    )
    assert [emitted[0] for emitted in events].count(job["id"]) == 1


def test_a_schema_that_is_deleted_meanwhile(ai_workspace: Workspace) -> None:
    source = _import(ai_workspace, 2, ai_workspace.schema_id)  # type: ignore[attr-defined]
    job = _request_extraction(ai_workspace, source["id"]).json["data"]
    run_jobs_of(ai_workspace.org, "imports", "default")
    path = f"/schemas/{ai_workspace.schema_id}"  # type: ignore[attr-defined]
    assert ai_workspace.org.api("admin").delete(path).status_code == 204
    run_jobs_of(ai_workspace.org, "bulk")
    assert ai_workspace.sql("SELECT prediction FROM artifacts") == [(None,), (None,)]
    _run(ai_workspace)
    assert _get_job(ai_workspace, job["id"])["status"] == "running"
    late = "UPDATE jobs SET due_at = now() WHERE function = 'ingestion_jobs.settle'"
    ai_workspace.sql(f"{late} AND organization_id = :org", org=ai_workspace.org.id)
    run_jobs_of(ai_workspace.org, "default")
    assert _get_job(ai_workspace, job["id"])["status"] == "completed_with_errors"
    items = ai_workspace.org.api("viewer").get(f"/ingestion-jobs/{job['id']}/items").json["data"]
    assert [item["error"]["code"] for item in items] == ["schema_deleted"] * 2


def test_documents_that_are_still_parsed_must_be_waited_for(ai_workspace: Workspace) -> None:
    source = _import(ai_workspace, 2, ai_workspace.schema_id)  # type: ignore[attr-defined]
    item = "UPDATE ingestion_items SET status = :status WHERE job_id = :job AND number = 2"
    ai_workspace.sql(item, status="processing", job=source["id"])
    ai_workspace.sql(
        "UPDATE ingestion_jobs SET status = 'cancelled' WHERE id = :job", job=source["id"]
    )
    refused = _request_extraction(ai_workspace, source["id"])
    assert (refused.status_code, refused.json["error"]["details"]) == (409, {"state": "cancelled"})
    ai_workspace.sql(item, status="created", job=source["id"])
    assert _request_extraction(ai_workspace, source["id"]).status_code == 202


def test_refusals(ai_workspace: Workspace, other_org: Org) -> None:
    source = _import(ai_workspace, 1, ai_workspace.schema_id)  # type: ignore[attr-defined]
    foreign = other_org.api("admin").post(f"/ingestion-jobs/{source['id']}/extract")
    missing = other_org.api("admin").post(f"/ingestion-jobs/{uuid7()}/extract")
    assert (foreign.status_code, foreign.data) == (404, missing.data)
    assert _request_extraction(ai_workspace, source["id"], by="viewer").status_code == 403
    job = _request_extraction(ai_workspace, source["id"]).json["data"]
    again = _request_extraction(ai_workspace, job["id"])
    assert (again.status_code, again.json["error"]["details"]) == (409, {"kind": "extract"})
    ai_workspace.sql("UPDATE ingestion_jobs SET status = 'cancelled' WHERE id = :id", id=job["id"])
    ai_workspace.sql("UPDATE ingestion_jobs SET status = 'running' WHERE id = :id", id=source["id"])
    running = _request_extraction(ai_workspace, source["id"])
    assert (running.status_code, running.json["error"]["details"]) == (409, {"state": "running"})
