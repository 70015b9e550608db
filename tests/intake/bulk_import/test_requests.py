"""Requests that are refused, formats that are recognized, and files that are kept and deleted."""

import os
from typing import Any

import pytest

from app.intake.ingestion_jobs.service import cleaning
from app.kit import container, db, tenancy
from app.kit.ids import uuid7
from tests.documents.artifacts.conftest import get_storage_path
from tests.factories import Org, make_due
from tests.factories.errors import check_error
from tests.factories.orgs import get_data
from tests.intake.conftest import Imports, lines


@pytest.mark.parametrize(
    ("data", "name", "format_id"),
    [
        (b'{"text": "x"}', "anything", "jsonl"),
        (b'\xef\xbb\xbf\n {"text": "x"}', "list.csv", "jsonl"),
        (b"text\nx\n", "list.txt", "csv"),
        (b'lot;"text"\n1;x\n', "list.txt", "csv"),
        (b"words\nx\n", "list.csv", "csv"),
    ],
)
def test_the_format_is_recognized(imports: Imports, data: bytes, name: str, format_id: str) -> None:
    assert get_data(imports.send(data, name), 202)["format"] == format_id


def test_what_is_refused_leaves_nothing(imports: Imports, other_org: Any) -> None:
    foreign = str(Imports(other_org).workspace.schema())
    good = b'{"text": "x"}'
    for answer, field in (
        (imports.send(b""), "file"),
        (imports.send(b"\x89PNG\r\n\x1a\n", "a.png"), "format"),
        (imports.send(good, schema_id=foreign), "schema_id"),
        (imports.send(good, schema_id=uuid7()), "schema_id"),
        (imports.api.post("/artifacts/bulk-import", {"content": ""}), "content"),
    ):
        check_error(answer, 400, "validation_error", field=field)
    for answer, field in (
        (imports.send(good, format="xml"), "format"),
        (imports.send(good, "a\u202eb.jsonl"), "name"),
        (imports.send(good, name="a/b"), "name"),
        (imports.send(good, other="x"), "other"),
        (imports.api.post("/artifacts/bulk-import", {}), "content"),
    ):
        check_error(answer, 422, "unprocessable", field=field)
    assert imports.files() == []
    assert imports.count("ingestion_jobs") == 0


def test_a_viewer_is_refused(imports: Imports) -> None:
    answer = imports.org.api("viewer").post("/artifacts/bulk-import", {"content": "x"})
    assert (answer.status_code, answer.json["error"]["code"]) == (403, "insufficient_role")


def test_a_file_over_the_limit_is_refused(imports: Imports) -> None:
    answer = imports.send(b'{"text": "' + b"x" * (8 * 1024 * 1024) + b'"}')
    assert answer.status_code == 413
    assert imports.count("ingestion_jobs") == 0


def test_the_same_key_and_body_start_one_job(imports: Imports) -> None:
    data = lines({"text": "Once"})
    headers = {"Idempotency-Key": "import-1"}
    body = {"content": data.decode()}
    first_answer = imports.api.post("/artifacts/bulk-import", body, headers=headers)
    second_answer = imports.api.post("/artifacts/bulk-import", body, headers=headers)
    assert first_answer.json["data"]["id"] == second_answer.json["data"]["id"]
    assert second_answer.headers["Idempotency-Replayed"] == "true"
    other = imports.api.post("/artifacts/bulk-import", {"content": "text\nx"}, headers=headers)
    assert (other.status_code, other.json["error"]["code"]) == (409, "conflict")
    assert imports.count("ingestion_jobs") == 1


def test_the_file_is_deleted_a_week_after_the_end(imports: Imports, work: Any) -> None:
    job = imports.make(b'{"text": "x"}\n{"text": 7}')
    (key,) = [key for key in imports.files() if "/imports/" in key]
    assert key.endswith(job["id"])

    def expire() -> None:
        make_due(imports.org.app, "ingestion_jobs.expire")
        work()

    expire()
    assert key in imports.files()
    imports.sql("UPDATE ingestion_jobs SET finished_at = now() - interval '8 days'")
    expire()
    assert key not in imports.files()
    answer = imports.admin.post(f"/ingestion-jobs/{job['id']}/retry")
    check_error(answer, 409, "conflict", details={"missing": "file"})


def test_a_file_without_a_job_is_swept(imports: Imports, work: Any) -> None:
    job = imports.make(b'{"text": "x"}')
    folder = f"organizations/{imports.org.id}/imports"
    (kept,) = [key for key in imports.files() if key.startswith(folder)]
    storage = container.current().storage
    young, stray = f"{folder}/{uuid7()}", f"{folder}/{uuid7()}"
    for key in (young, stray):
        storage.write(key, [b"x"])
    for key in (kept, stray):
        os.utime(get_storage_path(key), (0, 0))
    make_due(imports.org.app, "ingestion_jobs.sweep")
    work()
    assert {key for key in imports.files() if key.startswith(folder)} == {kept, young}
    assert imports.get(job["id"])["status"] == "completed"


def test_the_sweep_continues_after_the_organization_of_its_last_checkpoint(
    imports: Imports, other_org: Org
) -> None:
    first, second = sorted((imports.org.id, other_org.id))
    storage = container.current().storage
    keys = [f"organizations/{id_}/imports/{uuid7()}" for id_ in (first, second)]
    for key in keys:
        storage.write(key, [b"x"])
        os.utime(get_storage_path(key), (0, 0))
    positions: list[str] = []
    with imports.org.app.app_context(), tenancy.across_organizations(reason="as the job"):
        cleaning.delete_unused_files(positions.append, str(first))
        assert [storage.exists(key) for key in keys] == [True, False]
        assert str(first) not in positions
        assert str(second) in positions
        cleaning.delete_unused_files(positions.append)
        db.session().rollback()
    assert [storage.exists(key) for key in keys] == [False, False]
