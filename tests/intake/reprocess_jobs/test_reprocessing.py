"""Reprocessing shows as an ingestion job: progress, items, failures, retries, refusals."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any

import pytest

from app.documents.artifacts.service import recognizing
from app.documents.artifacts.service.reprocessing import FailedSelection
from app.engines.ocr import RecognizedPage
from app.intake.ingestion_jobs.service import running as ingestion_jobs
from app.intake.reprocess_jobs import service
from app.kit import container, db, tenancy
from app.kit.ids import uuid7
from tests.documents.artifacts.conftest import make_pdf, make_png, upload_document
from tests.factories import Org, run_jobs_of
from tests.factories.routing import Router
from tests.intake.conftest import Imports, counts, lines

BREAK = "UPDATE artifacts SET media_type = 'image/png' WHERE id = :id"
REPAIR = "UPDATE artifacts SET media_type = 'application/pdf' WHERE id = :id"


def _create_document(imports: Imports, text: str = "Warehouse") -> str:
    """Upload a PDF, parse it, and return its id."""
    document = upload_document(imports.admin, make_pdf(text), f"{text}.pdf")
    run_jobs_of(imports.org)
    return str(document["id"])


def _fail(imports: Imports, *artifact_ids: str) -> None:
    """Let documents have failed, although they can be parsed."""
    failed = (
        "UPDATE artifacts SET status = 'failed',"
        ' failure = \'{"code": "crashed", "message": "It crashed."}\' WHERE id = :id'
    )
    for artifact_id in artifact_ids:
        imports.sql(failed, id=artifact_id)


def _list_jobs(imports: Imports) -> list[dict[str, Any]]:
    """Return the jobs that reprocess, newest first."""
    answer = imports.api.get("/ingestion-jobs?kind=reprocess")
    assert answer.status_code == 200, answer.json
    assert answer.json["meta"]["total"] == len(answer.json["data"])
    return list(answer.json["data"])


def _reprocess(imports: Imports, artifact_id: str) -> dict[str, Any]:
    """Reprocess a document, and return the new job."""
    answer = imports.admin.post(f"/artifacts/{artifact_id}/reprocess")
    assert answer.status_code == 202, answer.json
    assert (answer.json["data"]["id"], answer.json["data"]["status"]) == (artifact_id, "processing")
    # The first check comes before the document has been parsed.
    run_jobs_of(imports.org, "default")
    return _list_jobs(imports)[0]


def _run_due_jobs(imports: Imports) -> None:
    imports.run_due_jobs("imports", "documents", "ocr", "default")


def _create(imports: Imports, selection: FailedSelection = FailedSelection()) -> str:  # noqa: B008
    """Create the job that the command creates, and return its id."""
    with imports.org.app.app_context(), tenancy.organization(imports.org.id), db.transaction():
        return str(service.create_for_failed_documents(selection).id)


def test_a_request_is_a_job_with_one_item(imports: Imports) -> None:
    artifact_id = _create_document(imports)
    job = _reprocess(imports, artifact_id)
    assert (job["kind"], job["name"], job["status"]) == ("reprocess", "Warehouse.pdf", "running")
    assert job["created_by"] == str(imports.org.users["admin"])
    assert job["progress"]["total"] == job["counts"]["found"] == 1
    (item,) = imports.items(job["id"])
    assert (item["uri"], item["status"]) == ("Warehouse.pdf", "processing")
    assert item["artifact_id"] == artifact_id
    _run_due_jobs(imports)
    ended = imports.get(job["id"])
    assert (ended["status"], ended["counts"]) == ("completed", counts(found=1, created=1))
    assert ended["finished_at"] is not None
    (item,) = imports.items(job["id"], status="created")
    assert item["seconds"] > 0
    events = imports.events("ingestion_job.ended")
    assert [(e["job_id"], e["kind"], e["status"]) for e in events] == [
        (job["id"], "reprocess", "completed")
    ]
    stats = imports.api.get("/ingestion-jobs/stats").json["data"]
    (kind,) = (group for group in stats["by_kind"] if group["kind"] == "reprocess")
    assert (kind["jobs"], kind["counts"]) == (1, counts(found=1, created=1))
    assert imports.artifact(artifact_id)["ingestion_job_id"] is None


def test_a_document_that_cannot_be_read_is_a_failed_item_until_a_retry_reads_it(
    imports: Imports,
) -> None:
    artifact_id = _create_document(imports)
    imports.sql(BREAK, id=artifact_id)
    job_id = _reprocess(imports, artifact_id)["id"]
    retry = f"/ingestion-jobs/{job_id}/retry"
    assert imports.admin.post(retry).json["error"]["details"] == {"state": "running"}
    for repaired in (False, True):
        _run_due_jobs(imports)
        job = imports.get(job_id)
        assert job["status"] == "completed_with_errors"
        assert job["counts"] == counts(found=1, failed=1)
        (item,) = imports.items(job_id, status="failed")
        assert item["error"] == imports.artifact(artifact_id)["failure"]
        if repaired:
            imports.sql(REPAIR, id=artifact_id)
        answer = imports.admin.post(retry)
        assert (answer.status_code, answer.json["data"]["status"]) == (202, "queued")
        run_jobs_of(imports.org, "imports")
        assert imports.items(job_id)[0]["status"] == "processing"
    _run_due_jobs(imports)
    job = imports.get(job_id)
    assert (job["status"], job["counts"]) == ("completed", counts(found=1, created=1))
    assert imports.artifact(artifact_id)["status"] == "ready"
    assert imports.items(job_id)[0]["error"] is None
    assert len(imports.events("artifact.reprocessed")) == 3
    assert [job["id"] for job in _list_jobs(imports)] == [job_id]


def test_an_item_waits_for_text_recognition(
    imports: Imports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recognizing.ocr, "recognize_page", lambda *_, **__: RecognizedPage("A", []))
    settings = replace(container.settings(), ocr=True)
    monkeypatch.setattr(container.current(), "settings", settings)
    artifact_id = upload_document(imports.admin, make_png(), "scan.png")["id"]
    run_jobs_of(imports.org)
    job = _reprocess(imports, artifact_id)
    run_jobs_of(imports.org, "documents", "default")
    assert imports.artifact(artifact_id)["ocr"] == "pending"
    assert imports.get(job["id"])["status"] == "running"
    _run_due_jobs(imports)
    assert imports.artifact(artifact_id)["ocr"] == "done"
    assert imports.get(job["id"])["status"] == "completed"


def test_an_item_does_not_wait_for_the_routing_rules(imports: Imports) -> None:
    router = Router(imports.workspace)
    artifact_id = _create_document(imports)
    router.rule(user_id=str(imports.org.users["reviewer"]))
    job = _reprocess(imports, artifact_id)
    run_jobs_of(imports.org, "documents", "default")
    assert imports.artifact(artifact_id)["status"] == "processing"
    assert imports.get(job["id"])["status"] == "completed"


def test_a_document_that_is_deleted_meanwhile_fails(imports: Imports) -> None:
    artifact_id = _create_document(imports)
    job = _reprocess(imports, artifact_id)
    assert imports.admin.delete(f"/artifacts/{artifact_id}").status_code == 204
    for _ in range(2):
        _run_due_jobs(imports)
        ended = imports.get(job["id"])
        assert (ended["status"], ended["counts"]["failed"]) == ("completed_with_errors", 1)
        assert imports.items(job["id"])[0]["error"]["code"] == "not_found"
        imports.retry(job["id"])


def test_a_retry_of_documents_that_changed_since(imports: Imports) -> None:
    archived, repaired = _create_document(imports, "One"), _create_document(imports, "Two")
    job_ids = []
    for artifact_id in (archived, repaired):
        imports.sql(BREAK, id=artifact_id)
        job_ids.append(_reprocess(imports, artifact_id)["id"])
    _run_due_jobs(imports)
    assert imports.admin.patch(f"/artifacts/{archived}", {"archived": True}).status_code == 200
    imports.sql(REPAIR, id=repaired)
    _reprocess(imports, repaired)
    _run_due_jobs(imports)
    reprocessed_count = len(imports.events("artifact.reprocessed"))
    for job_id in job_ids:
        imports.retry(job_id)
    _run_due_jobs(imports)
    statuses = [imports.get(job_id)["status"] for job_id in job_ids]
    assert statuses == ["completed_with_errors", "completed"]
    assert imports.items(job_ids[0])[0]["error"]["code"] == "conflict"
    assert len(imports.events("artifact.reprocessed")) == reprocessed_count


def test_cancelling_ends_the_job_and_the_document_is_still_parsed(imports: Imports) -> None:
    artifact_id = _create_document(imports)
    job = _reprocess(imports, artifact_id)
    cancelled = imports.admin.post(f"/ingestion-jobs/{job['id']}/cancel")
    assert (cancelled.status_code, cancelled.json["data"]["status"]) == (200, "cancelled")
    _run_due_jobs(imports)
    assert imports.artifact(artifact_id)["status"] == "ready"
    ended = imports.get(job["id"])
    assert (ended["status"], ended["counts"]) == ("cancelled", counts(found=1, created=1))
    assert len(imports.events("ingestion_job.ended")) == 1


def test_of_two_requests_at_once_one_creates_a_job(imports: Imports) -> None:
    artifact_id = _create_document(imports)
    barrier = Barrier(2)

    def send(_: int) -> int:
        api = imports.org.api("admin")
        barrier.wait()
        return int(api.post(f"/artifacts/{artifact_id}/reprocess").status_code)

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(send, range(2))) == [202, 409]
    (job,) = _list_jobs(imports)
    _run_due_jobs(imports)
    assert imports.get(job["id"])["status"] == "completed"


def test_refused_requests_create_no_job(imports: Imports, other_org: Org) -> None:
    artifact_id = _create_document(imports)
    path = f"/artifacts/{artifact_id}/reprocess"
    foreign = other_org.api("admin").post(path)
    missing = other_org.api("admin").post(f"/artifacts/{uuid7()}/reprocess")
    assert (foreign.status_code, foreign.data) == (404, missing.data)
    assert imports.api.post(path).status_code == 403
    assert imports.admin.patch(f"/artifacts/{artifact_id}", {"archived": True}).status_code == 200
    assert imports.admin.post(path).json["error"]["details"] == {"state": "archived"}
    assert _list_jobs(imports) == _list_jobs(Imports(other_org)) == []


def test_failed_documents_become_items_of_one_job_batch_by_batch(
    imports: Imports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "BATCH_SIZE", 2)
    ids = [_create_document(imports, f"Text {n}") for n in range(6)]
    _fail(imports, *ids[:5])
    imports.sql(BREAK, id=ids[1])
    job_id = _create(imports)
    # The first two commits are the start and the number of documents.
    for checkpoints, done in ((3, 2), (2, 4)):
        imports.run(service.run_reprocess, job_id, checkpoints=checkpoints)
        job = imports.get(job_id)
        assert job["status"] == "running"
        assert (job["progress"]["done"], job["progress"]["total"]) == (done, 5)
        run_jobs_of(imports.org, "documents", "default")
        assert imports.get(job_id)["status"] == "running"
    _run_due_jobs(imports)
    job = imports.get(job_id)
    assert job["status"] == "completed_with_errors"
    assert job["counts"] == counts(found=5, created=4, failed=1)
    items = imports.items(job_id)
    assert [(item["number"], item["artifact_id"]) for item in items] == list(
        enumerate(ids[:5], start=1)
    )
    assert len(imports.events("artifact.reprocessed")) == 5
    imports.sql(REPAIR, id=ids[1])
    imports.retry(job_id)
    _run_due_jobs(imports)
    job = imports.get(job_id)
    assert (job["status"], job["counts"]) == ("completed", counts(found=5, created=5))
    assert len(imports.events("artifact.reprocessed")) == 6


def test_a_document_that_another_request_reprocessed_is_not_reprocessed_twice(
    imports: Imports, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [_create_document(imports, text) for text in ("One", "Two")]
    _fail(imports, *ids)
    first, second = _create(imports), _create(imports)
    begin_batch = ingestion_jobs.begin_batch

    def begin_batch_late(*arguments: Any) -> Any:
        monkeypatch.setattr(service.ingestion_jobs, "begin_batch", begin_batch)
        db.session().commit()
        with ThreadPoolExecutor(1) as pool:
            pool.submit(imports.run, service.run_reprocess, second).result()
        return begin_batch(*arguments)

    monkeypatch.setattr(service.ingestion_jobs, "begin_batch", begin_batch_late)
    imports.run(service.run_reprocess, first)
    _run_due_jobs(imports)
    found_counts = [imports.get(job_id)["counts"]["found"] for job_id in (first, second)]
    assert found_counts == [0, 2]
    assert [imports.get(job_id)["status"] for job_id in (first, second)] == ["completed"] * 2
    assert len(imports.events("artifact.reprocessed")) == 2


def test_a_cancelled_job_leaves_the_remaining_documents(
    imports: Imports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "BATCH_SIZE", 1)
    ids = [_create_document(imports, text) for text in ("One", "Two")]
    _fail(imports, *ids)
    job_id = _create(imports)
    imports.run(service.run_reprocess, job_id, checkpoints=3)
    assert imports.admin.post(f"/ingestion-jobs/{job_id}/cancel").status_code == 200
    _run_due_jobs(imports)
    assert [imports.artifact(artifact_id)["status"] for artifact_id in ids] == ["ready", "failed"]
    assert imports.get(job_id)["counts"] == counts(found=1, created=1)


def test_jobs_of_other_kinds_are_not_touched(imports: Imports) -> None:
    job_id = imports.start(lines({"text": "Once"}))
    artifact_id = _create_document(imports)
    _reprocess(imports, artifact_id)
    _run_due_jobs(imports)
    assert imports.get(job_id)["status"] == "completed"
    (event,) = (e for e in imports.events("ingestion_job.ended") if e["kind"] == "reprocess")
    extracted = imports.api.post(f"/ingestion-jobs/{event['job_id']}/extract")
    assert (extracted.status_code, extracted.json["data"]["progress"]["total"]) == (202, 1)
