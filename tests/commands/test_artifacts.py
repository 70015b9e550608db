"""`flask artifacts reprocess`: documents that failed are read again."""

import json
from io import BytesIO
from typing import Any

import pytest

from tests.factories import Org, run_jobs_of
from tests.kit.jobs.workshop import rows, sql

pytestmark = pytest.mark.usefixtures("import_workers")


def _upload(org: Org, name: str) -> str:
    text = f"{org.slug} {name}"
    body = {"name": name, "text": text}
    identifier: str = org.api("labeler").post("/artifacts", body).json["data"]["id"]
    run_jobs_of(org)
    return identifier


def _fail(org: Org, artifact_id: str, code: str) -> None:
    sql(
        org,
        "UPDATE artifacts SET status = 'failed', failure = jsonb_build_object('code', :code,"
        " 'message', 'It went wrong.') WHERE organization_id = :org AND id = :id",
        id=artifact_id,
        code=code,
    )


def _get_status(org: Org, artifact_id: str) -> str:
    return str(org.api("viewer").get(f"/artifacts/{artifact_id}").json["data"]["status"])


def test_failed_documents_are_read_again(flask: Any, org: Org) -> None:
    failed, other, fine = (_upload(org, name) for name in ("a.txt", "b.txt", "c.txt"))
    _fail(org, failed, "crashed")
    _fail(org, other, "encrypted")
    command = ("artifacts", "reprocess", org.slug, "--failure-code", "crashed")
    queued = flask.json(*command, "--no-wait")
    assert (queued["status"], queued["found"]) == ("queued", 0)
    run_jobs_of(org, "imports", "documents", "default")
    assert [_get_status(org, document_id) for document_id in (failed, other, fine)] == [
        "ready",
        "failed",
        "ready",
    ]
    job = org.api("viewer").get(f"/ingestion-jobs/{queued['id']}").json["data"]
    assert (job["kind"], job["status"], job["counts"]["created"]) == ("reprocess", "completed", 1)
    items = org.api("viewer").get(f"/ingestion-jobs/{queued['id']}/items").json["data"]
    assert [(item["uri"], item["artifact_id"]) for item in items] == [("a.txt", failed)]


def test_a_document_that_fails_again_is_a_finding(flask: Any, org: Org) -> None:
    fine, broken = _upload(org, "a.txt"), _upload(org, "b.txt")
    for document_id in (fine, broken):
        _fail(org, document_id, "crashed")
    sql(
        org,
        "UPDATE artifacts SET media_type = 'image/png' WHERE organization_id = :org AND id = :id",
        id=broken,
    )
    result = flask.run("artifacts", "reprocess", org.slug, "--json")
    assert result.exit_code == 3, result.output
    record = json.loads(result.stdout)
    assert (record["status"], record["created"], record["failed"]) == (
        "completed_with_errors",
        1,
        1,
    )
    assert [_get_status(org, document_id) for document_id in (fine, broken)] == ["ready", "failed"]


def test_documents_are_selected_by_when_they_came(flask: Any, org: Org) -> None:
    old, new = _upload(org, "a.txt"), _upload(org, "b.txt")
    for document_id in (old, new):
        _fail(org, document_id, "crashed")
    sql(
        org,
        "UPDATE artifacts SET created_at = '2026-01-01' WHERE organization_id = :org AND id = :id",
        id=old,
    )
    command = ("artifacts", "reprocess", org.slug)
    before = ("--created-before", "2026-01-01")
    assert flask.json(*command, *before)["found"] == 0
    assert flask.json(*command, "--created-before", "2026-01-01T00:00:01Z")["created"] == 1
    assert flask.json(*command, "--created-after", "2026-01-01")["created"] == 1


def test_what_has_labels_or_is_archived_stays_as_it_is(flask: Any, org: Org) -> None:
    archived = _upload(org, "a.txt")
    _fail(org, archived, "crashed")
    sql(
        org,
        "UPDATE artifacts SET archived = true WHERE organization_id = :org AND id = :id",
        id=archived,
    )
    record = flask.json("artifacts", "reprocess", org.slug)
    assert (record["status"], record["found"]) == ("completed", 0)


def test_an_organization_that_is_not_there(flask: Any) -> None:
    assert "no such organization" in flask.get_refusal("artifacts", "reprocess", "nobody-here")


def test_a_document_whose_job_was_given_up_is_read_by_the_same_job(flask: Any, org: Org) -> None:
    body = {"file": (BytesIO(b"one two three"), "a.txt")}
    artifact_id = org.api("labeler").post("/artifacts", data=body).json["data"]["id"]
    sql(org, "UPDATE jobs SET interruptions = 10 WHERE function = 'artifacts.parse'")
    run_jobs_of(org)
    assert _get_status(org, artifact_id) == "failed"
    (job,) = [row for row in rows(org) if row.status == "failed"]
    assert flask.json("jobs", "retry", str(job.id)) == {"queued": 1}
    run_jobs_of(org)
    assert _get_status(org, artifact_id) == "ready"
