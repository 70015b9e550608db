"""Crawl a local folder: what is new, what has changed, and what fails."""

import os
from collections.abc import Callable
from itertools import count
from typing import Any
from uuid import UUID, uuid4

import pytest

from app.documents.artifacts.service import creating
from app.intake.connectors.service import crawling, fetching
from app.kit import container
from tests.factories import run_jobs_of
from tests.factories.usage import set_plan
from tests.intake.conftest import counts
from tests.intake.connectors.conftest import Folder


def test_a_crawl_creates_a_document_of_each_file(folder: Folder) -> None:
    folder.write("a.txt", "first words")
    folder.write("2026/b.txt", "second words")
    connector = folder.connect()
    job = folder.crawl(connector)
    assert (job["kind"], job["status"]) == ("crawl", "completed")
    assert job["counts"] == counts(found=2, created=2)
    assert (job["progress"]["done"], job["progress"]["total"]) == (2, 2)
    items = folder.items(job["id"])
    assert [item["uri"] for item in items] == ["2026/b.txt", "a.txt"]
    assert {item["status"] for item in items} == {"created"}
    artifact = folder.artifact(items[0]["artifact_id"])
    assert (artifact["name"], artifact["status"]) == ("b.txt", "ready")
    assert artifact["connector_id"] == connector["id"]
    assert artifact["ingestion_job_id"] == job["id"]
    last_crawl = folder.read(connector)["last_crawl"]
    assert (last_crawl["job_id"], last_crawl["status"]) == (job["id"], "completed")
    assert len(folder.events("artifact.ingested")) == 2


def test_a_second_crawl_of_an_unchanged_source_creates_nothing(folder: Folder) -> None:
    folder.write_numbered(*range(40))
    connector = folder.connect()
    folder.crawl(connector)
    before = folder.count("ingestion_items")
    job = folder.crawl(connector)
    assert (job["status"], job["counts"]) == ("completed", counts(found=40, skipped=40))
    assert folder.items(job["id"]) == []
    assert folder.count("ingestion_items") == before
    assert folder.count() == 40


def test_changed_files_are_read_again(folder: Folder) -> None:
    folder.write("a.txt", "old")
    touched = folder.write("b.txt", "same")
    connector = folder.connect()
    folder.crawl(connector)
    folder.write("a.txt", "new words")
    os.utime(touched, (1, 1))
    job = folder.crawl(connector)
    assert job["counts"] == counts(found=2, created=1, duplicate=1)
    assert folder.crawl(connector)["counts"] == counts(found=2, skipped=2)


def test_duplicates_are_linked(folder: Folder) -> None:
    folder.write("a.txt", "same words")
    folder.write("b.txt", "same words")
    job = folder.crawl(folder.connect())
    first, second = folder.items(job["id"])
    assert job["counts"] == counts(found=2, created=1, duplicate=1)
    assert first["artifact_id"] == second["artifact_id"]


def test_patterns_choose_the_files(folder: Folder) -> None:
    for path in ("a.txt", "b.md", "old/c.txt", "old/deep/d.txt", "new/e.txt"):
        folder.write(path, f"words of {path}")
    connector = folder.connect(include=["*.txt"], exclude=["old/**"])
    job = folder.crawl(connector)
    assert [item["uri"] for item in folder.items(job["id"])] == ["a.txt", "new/e.txt"]


def test_what_cannot_be_read_fails_alone_and_is_not_read_again(folder: Folder) -> None:
    folder.write("a.bin", b"\x00\x01\x02\x03" * 100)
    folder.write("b.txt", "good words")
    folder.write("empty.txt", "")
    folder.write("large.txt", b"x" * (container.settings().max_upload_bytes + 1))
    connector = folder.connect()
    job = folder.crawl(connector)
    assert job["status"] == "completed_with_errors"
    assert job["counts"] == counts(found=4, created=1, failed=3)
    items = folder.items(job["id"])
    assert {item["uri"]: item["error"] and item["error"]["code"] for item in items} == {
        "a.bin": "unsupported_media_type",
        "b.txt": None,
        "empty.txt": "validation_error",
        "large.txt": "payload_too_large",
    }
    assert folder.crawl(connector)["counts"] == counts(found=4, skipped=4)
    assert len(folder.files()) == 1


def _delete_contents_at_once(patch: pytest.MonkeyPatch) -> str:
    patch.setattr(creating.queries, "create", lambda *_, **__: False)
    return "conflict"


def _delete_the_schema_at_once(patch: pytest.MonkeyPatch) -> str:
    read = crawling._read_settings
    settings = lambda connector: read(connector)._replace(schema_id=uuid4())  # noqa: E731
    patch.setattr(crawling, "_read_settings", settings)
    return "validation_error"


@pytest.mark.parametrize("break_it", [_delete_contents_at_once, _delete_the_schema_at_once])
def test_what_fails_for_a_reason_outside_the_file_is_read_again(
    folder: Folder, break_it: Callable[[pytest.MonkeyPatch], str]
) -> None:
    folder.write("a.txt", "first words")
    folder.write("b.txt", "second words")
    connector = folder.connect()
    with pytest.MonkeyPatch.context() as patch:
        code = break_it(patch)
        job = folder.crawl(connector)
    assert job["counts"] == counts(found=2, failed=2)
    assert {item["error"]["code"] for item in folder.items(job["id"])} == {code}
    assert folder.crawl(connector)["counts"] == counts(found=2, created=2)


def test_the_schema_of_the_connector_is_that_of_its_documents(folder: Folder) -> None:
    folder.write("a.txt", "words")
    schema = folder.admin.post("/schemas", json={"name": "Letters", "fields": []})
    schema_id = schema.json["data"]["id"]
    job = folder.crawl(folder.connect(schema_id=schema_id))
    (item,) = folder.items(job["id"])
    assert folder.artifact(item["artifact_id"])["schema_id"] == schema_id


def test_a_crawl_continues_where_another_run_stopped(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawling, "FETCH_BATCH_SIZE", 2)
    folder.write_numbered(*range(7))
    connector = folder.connect()
    job = folder.request(connector)
    stopped = False

    def create(*args: object, **options: object) -> object:
        nonlocal stopped
        if not stopped and folder.count() == 4:
            stopped = True
            raise RuntimeError("killed")
        return original(*args, **options)

    original = crawling.documents.create_document
    monkeypatch.setattr(crawling.documents, "create_document", create)
    run_jobs_of(folder.org, "crawls")
    running = folder.get(job["id"])
    assert (running["status"], running["progress"]["done"]) == ("running", 4)
    assert folder.read(connector)["cursor"] == "3.txt"
    folder.sql("UPDATE jobs SET due_at = now() WHERE due_at IS NOT NULL")
    folder.work()
    ended = folder.get(job["id"])
    assert (ended["status"], ended["counts"]) == ("completed", counts(found=7, created=7))
    assert folder.count() == 7
    assert len(folder.events("artifact.ingested")) == 7
    assert folder.read(connector)["cursor"] is None


def test_a_batch_of_a_slow_host_is_recorded_in_parts(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write_numbered(4)
    connector = folder.connect()
    folder.crawl(connector)
    folder.write_numbered(0, 1, 2, 3, 5)
    monkeypatch.setattr(fetching, "START_SECONDS", 0.0)
    job = folder.request(connector)
    folder.run(crawling.run_crawl, job["id"], checkpoints=5)
    assert folder.read(connector)["cursor"] == "2.txt"
    assert folder.get(job["id"])["counts"] == counts(found=3)
    folder.work()
    ended = folder.get(job["id"])
    assert (ended["status"], ended["progress"]["done"]) == ("completed", 6)
    assert ended["counts"] == counts(found=6, created=5, skipped=1)
    assert folder.crawl(connector)["counts"] == counts(found=6, skipped=6)


def test_a_crawl_of_a_slow_host_is_cancelled_within_a_batch(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "START_SECONDS", 0.0)
    folder.write_numbered(*range(6))
    job = folder.request(folder.connect())
    checkpoints = count(1)

    def run(job_id: UUID, checkpoint: Callable[[], None]) -> None:
        def cancel() -> None:
            checkpoint()
            if next(checkpoints) == 4:
                folder.cancel(job)

        crawling.run_crawl(job_id, cancel)

    folder.run(run, job["id"])
    assert folder.get(job["id"])["status"] == "cancelled"
    assert folder.count() == 2


def test_failed_documents_of_a_slow_host_are_tried_again_in_parts(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        folder.write(f"{number}.txt", f"words {number}" if number % 2 else "")
    job = folder.crawl(folder.connect())
    assert job["counts"] == counts(found=6, created=3, failed=3)
    for number in (0, 4):
        folder.write(f"{number}.txt", f"late words {number}")
    monkeypatch.setattr(fetching, "START_SECONDS", 0.0)
    folder.retry(job["id"])
    folder.work()
    ended = folder.get(job["id"])
    assert ended["counts"] == counts(found=6, created=5, failed=1)
    assert ended["progress"]["done"] == 6


def test_failed_documents_are_tried_again_by_a_retry(folder: Folder) -> None:
    folder.write("a.txt", "words")
    gone = folder.write("b.txt", "")
    job = folder.crawl(folder.connect())
    assert job["counts"] == counts(found=2, created=1, failed=1)
    gone.write_text("late words")
    folder.retry(job["id"])
    folder.work()
    ended = folder.get(job["id"])
    assert (ended["status"], ended["counts"]) == ("completed", counts(found=2, created=2))


def test_one_crawl_at_a_time(folder: Folder) -> None:
    folder.write("a.txt", "")
    connector = folder.connect()
    failed = folder.crawl(connector)
    job = folder.request(connector)
    error = folder.request(connector, 409)
    assert (error["code"], error["details"]["job_id"]) == ("conflict", job["id"])
    # The file of the failed item is empty still, so a retry would be possible.
    assert failed["status"] == "completed_with_errors"
    retried = folder.admin.post(f"/ingestion-jobs/{failed['id']}/retry")
    assert retried.json["error"]["details"]["job_id"] == job["id"]


def test_a_cancelled_crawl_stops(folder: Folder) -> None:
    folder.write("a.txt", "words")
    connector = folder.connect()
    job = folder.request(connector)
    folder.cancel(job)
    folder.work()
    assert folder.get(job["id"])["status"] == "cancelled"
    assert folder.count() == 0
    assert folder.crawl(connector)["counts"] == counts(found=1, created=1)


def test_the_crawls_of_a_closed_organization_stop(folder: Folder) -> None:
    folder.write("a.txt", "words")
    jobs = [folder.request(folder.connect(name=name)) for name in ("Inbox", "Archive")]
    slug = folder.org.slug
    closed = folder.org.api("owner").post(f"/organizations/{slug}/close", json={"slug": slug})
    assert closed.status_code == 202, closed.json
    run_jobs_of(folder.org, "default", "crawls")
    assert folder.count() == 0
    rows = folder.sql("SELECT id, status FROM ingestion_jobs WHERE organization_id = :org",
                      org=folder.org.id)  # fmt: skip
    assert {(str(row.id), row.status) for row in rows} == {(job["id"], "cancelled") for job in jobs}


def test_a_disabled_connector_is_not_crawled(folder: Folder) -> None:
    connector = folder.connect(enabled=False)
    error = folder.request(connector, 409)
    assert (error["code"], error["details"]["state"]) == ("conflict", "disabled")


def test_deleting_a_connector_cancels_its_crawl_and_keeps_its_documents(folder: Folder) -> None:
    folder.write("a.txt", "words")
    connector = folder.connect()
    folder.crawl(connector)
    job = folder.request(connector)
    assert folder.admin.delete(f"/connectors/{connector['id']}").status_code == 204
    folder.work()
    assert folder.get(job["id"])["status"] == "cancelled"
    assert (folder.count(), folder.count("connector_objects")) == (1, 1)
    run_jobs_of(folder.org, "maintenance")
    assert (folder.count("connectors"), folder.count("connector_objects")) == (0, 0)


def test_a_retry_after_a_change_of_the_source_lists_all_of_it(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawling, "FETCH_BATCH_SIZE", 1)
    for name in ("b", "c", "d"):
        folder.write(f"old/{name}.txt", f"old words {name}")
    folder.write("new/a.txt", "new words")
    connector = folder.connect(settings={"path": "old"})
    set_plan(folder.org, "free", {"documents_per_month": 2})
    job = folder.crawl(connector)
    assert (job["status"], job["counts"]["created"]) == ("failed", 2)
    set_plan(folder.org, "free", {"documents_per_month": 100})
    folder.update(connector, settings={"path": "new"})
    folder.retry(job["id"])
    folder.work()
    uris = [item["uri"] for item in folder.items(job["id"], status="created")]
    assert sorted(uris) == ["a.txt", "b.txt", "c.txt"]


def _change_during_the_crawl(
    folder: Folder, connector: dict[str, Any], changes: dict[str, Any], patch: pytest.MonkeyPatch
) -> None:
    """Update the connector while the first documents of its next crawl are fetched."""
    fetch = crawling.Fetcher.fetch
    pending = [changes]

    def fetch_after_change(*args: Any) -> Any:
        if pending:
            folder.update(connector, **pending.pop())
        return fetch(*args)

    patch.setattr(crawling.Fetcher, "fetch", fetch_after_change)


def test_a_change_of_the_source_during_a_crawl_lists_all_of_the_new_source(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawling, "FETCH_BATCH_SIZE", 1)
    for name in ("b", "c", "d"):
        folder.write(f"old/{name}.txt", f"old words {name}")
    for name in ("a", "z"):
        folder.write(f"new/{name}.txt", f"new words {name}")
    connector = folder.connect(settings={"path": "old"})
    changes = {"settings": {"path": "new"}}
    _change_during_the_crawl(folder, connector, changes, monkeypatch)
    job = folder.crawl(connector)
    assert (job["status"], job["counts"]) == ("completed", counts(found=2, created=2))
    assert [item["uri"] for item in folder.items(job["id"])] == ["a.txt", "z.txt"]


def test_other_changes_during_a_crawl_keep_its_position(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawling, "FETCH_BATCH_SIZE", 1)
    for name in ("a", "b"):
        folder.write(f"in/{name}.txt", f"words {name}")
    connector = folder.connect(settings={"path": "in"})
    changes = {"name": "Renamed", "settings": {"path": "in"}}
    _change_during_the_crawl(folder, connector, changes, monkeypatch)
    job = folder.crawl(connector)
    assert (job["status"], job["counts"]) == ("completed", counts(found=2, created=2))


def test_a_crawl_of_an_earlier_release_keeps_its_position(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawling, "FETCH_BATCH_SIZE", 1)
    for name in ("a", "b", "c"):
        folder.write(f"{name}.txt", f"words {name}")
    job = folder.request(folder.connect())
    folder.run(crawling.run_crawl, job["id"], checkpoints=3)
    folder.sql("UPDATE ingestion_jobs SET options = '{}' WHERE cursor = 'a.txt'")
    folder.run(crawling.run_crawl, job["id"])
    folder.work()
    assert folder.get(job["id"])["counts"] == counts(found=3, created=3)
