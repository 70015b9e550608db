"""The parsing job reads files once, page by page, and always ends."""

import io
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select

from app.documents.artifacts.models.content import ArtifactPage
from app.documents.artifacts.service import parsing
from app.engines import documents
from app.engines.documents import ParseFailed
from app.kit import container, db, tenancy
from app.kit.jobs import handlers, runs
from app.kit.storage import build_blob_key
from tests.documents.artifacts.conftest import (
    count_events,
    make_pdf,
    make_png,
    read_document,
    upload_document,
)
from tests.engines.documents import samples, workbooks
from tests.factories import Org, run_jobs_of
from tests.factories.counts import run_sql

Work = Callable[[], None]


def _commit() -> None:
    """Commit, and do nothing else."""
    db.session().commit()


def _upload(org: Org, data: bytes, name: str) -> dict[str, Any]:
    return upload_document(org.api("labeler"), data, name)


def _parse(org: Org, artifact_id: str, checkpoint: Callable[[], None] = _commit) -> None:
    with org.app.app_context(), tenancy.organization(org.id), db.transaction():
        parsing.parse(UUID(artifact_id), checkpoint)


def _list_page_numbers(org: Org, artifact_id: str) -> list[int]:
    statement = "SELECT number FROM artifact_pages WHERE artifact_id = :id ORDER BY number"
    return [row.number for row in run_sql(org, statement, id=artifact_id)]


@pytest.mark.parametrize(
    ("data", "name", "media_type", "words"),
    [
        (make_pdf("Lease of land"), "a.pdf", "application/pdf", ["Lease", "of", "land"]),
        (b"<html><body><p>Hi there</p></body></html>", "a.html", "text/html", ["Hi", "there"]),
        ("Grüße aus Köln".encode("latin-1"), "a.txt", "text/plain", ["Grüße", "aus", "Köln"]),
        (
            b"From: a@b.example\r\nTo: c@d.example\r\nSubject: Hi\r\n\r\nBody\r\n",
            "a.eml", "message/rfc822", None,
        ),
        (b"a;b\n1;2\n", "a.csv", "text/csv", ["a;b", "1;2"]),
        (make_png(), "a.png", "image/png", []),
    ],
)  # fmt: skip
def test_every_type_is_read(
    org: Org, work: Work, data: bytes, name: str, media_type: str, words: list[str] | None
) -> None:
    artifact_id = _upload(org, data, name)["id"]
    work()
    document = read_document(org, artifact_id)
    assert (document["status"], document["media_type"]) == ("ready", media_type)
    assert document["has_text_layer"] is (media_type != "image/png")
    text = org.api("viewer").get(f"/artifacts/{artifact_id}/text").json["data"]
    assert text["has_text_layer"] is document["has_text_layer"]
    pages = org.api("viewer").get(f"/artifacts/{artifact_id}/pages").json["data"]
    page_words = [word["text"] for page in pages for word in page["words"]]
    if words is None:
        assert "Body" in page_words
    else:
        assert page_words == words
    assert org.api("viewer").get(f"/artifacts/{artifact_id}/content").data == data


def test_a_text_layer_is_shown_if_it_is_known(org: Org, work: Work) -> None:
    pages = make_pdf("", "")
    artifact_id = _upload(org, pages, "blank.pdf")["id"]
    assert read_document(org, artifact_id)["has_text_layer"] is None
    work()
    assert read_document(org, artifact_id)["has_text_layer"] is False
    listed = org.api("viewer").get("/artifacts").json["data"]
    assert [document["has_text_layer"] for document in listed] == [False]
    assert _upload(org, make_pdf("", "one word"), "b.pdf")["has_text_layer"] is None
    work()
    listed = org.api("viewer").get("/artifacts").json["data"]
    assert sorted(document["has_text_layer"] for document in listed) == [False, True]


def test_a_word_document_of_pictures_is_ready_without_text(org: Org, work: Work) -> None:
    picture = io.BytesIO(make_png())
    data = samples.word(lambda document: document.add_picture(picture))
    artifact_id = _upload(org, data, "scan.docx")["id"]
    work()
    document = read_document(org, artifact_id)
    assert (document["status"], document["page_count"]) == ("ready", 1)
    assert document["has_text_layer"] is False
    (page,) = org.api("viewer").get(f"/artifacts/{artifact_id}/pages").json["data"]
    assert page["words"] == []
    image = org.api("viewer").get(f"/artifacts/{artifact_id}/pages/1/image?width=300")
    assert (image.status_code, image.mimetype) == (200, "image/png")


@pytest.mark.parametrize("kind", ["GIF", "BMP"])
def test_images_of_older_formats(org: Org, work: Work, kind: str) -> None:
    artifact_id = _upload(org, samples.image(kind), f"scan.{kind.lower()}")["id"]
    work()
    document = read_document(org, artifact_id)
    assert (document["status"], document["page_count"]) == ("ready", 1)
    assert (document["media_type"], document["has_text_layer"]) == (f"image/{kind.lower()}", False)
    image = org.api("viewer").get(f"/artifacts/{artifact_id}/pages/1/image?width=300")
    assert (image.status_code, image.mimetype) == (200, "image/png")


@pytest.mark.parametrize(
    ("data", "name", "word"),
    [
        (workbooks.xlsx(workbooks.fill_invoice), "invoice.xlsx", "Payable"),
        (workbooks.xls(), "rechnung.xls", "Rechnung"),
    ],
)
def test_the_words_of_a_workbook(org: Org, work: Work, data: bytes, name: str, word: str) -> None:
    artifact_id = _upload(org, data, name)["id"]
    work()
    document = read_document(org, artifact_id)
    assert (document["status"], document["page_count"]) == ("ready", 2)
    pages = org.api("viewer").get(f"/artifacts/{artifact_id}/pages").json["data"]
    assert word in [page_word["text"] for page in pages for page_word in page["words"]]


def test_running_twice_changes_nothing(org: Org) -> None:
    artifact_id = _upload(org, make_pdf("one", "two", "three"), "a.pdf")["id"]
    _parse(org, artifact_id)
    before = read_document(org, artifact_id)
    _parse(org, artifact_id)
    assert read_document(org, artifact_id) == before
    assert _list_page_numbers(org, artifact_id) == [1, 2, 3]
    assert count_events(org, "artifact.ingested") == 1


def test_a_run_after_an_interrupted_run_starts_again(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsing, "_BATCH_PAGES", 2)
    artifact_id = _upload(org, make_pdf("one", "two", "three", "four", "five"), "a.pdf")["id"]
    calls = 0

    def fail_at_the_third() -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise handlers.LostLease
        db.session().commit()

    with pytest.raises(handlers.LostLease):
        _parse(org, artifact_id, fail_at_the_third)
    assert _list_page_numbers(org, artifact_id) == [1, 2]
    assert read_document(org, artifact_id)["status"] == "processing"
    _parse(org, artifact_id)
    assert _list_page_numbers(org, artifact_id) == [1, 2, 3, 4, 5]
    assert read_document(org, artifact_id)["page_count"] == 5
    assert count_events(org, "artifact.ingested") == 1


def test_a_failure_deletes_the_pages_that_were_read(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsing, "_BATCH_PAGES", 1)
    monkeypatch.setattr(parsing, "DEFAULT_LIMITS", documents.Limits(max_text_chars=20))
    artifact_id = _upload(org, make_pdf("some words", "some more", "and more"), "a.pdf")["id"]
    _parse(org, artifact_id)
    document = read_document(org, artifact_id)
    assert (document["status"], document["failure"]["code"]) == ("failed", "too_large_unpacked")
    assert _list_page_numbers(org, artifact_id) == []
    assert count_events(org, "artifact.ingested") == 0


def test_a_document_deleted_meanwhile_ends_the_job(org: Org, work: Work) -> None:
    artifact_id = _upload(org, make_pdf("one"), "a.pdf")["id"]
    assert org.api("admin").delete(f"/artifacts/{artifact_id}").status_code == 204
    work()
    assert count_events(org, "artifact.ingested") == 0
    unfinished = "SELECT 1 FROM jobs WHERE organization_id = :org AND status <> 'completed'"
    assert run_sql(org, unfinished) == []


def test_a_worker_that_crashes_each_time_fails_the_document(org: Org) -> None:
    artifact_id = _upload(org, make_pdf("one"), "a.pdf")["id"]
    _update_parse_job(org, f"interruptions = {runs.MAX_INTERRUPTIONS}")
    run_jobs_of(org, "documents")
    document = read_document(org, artifact_id)
    assert (document["status"], document["failure"]["code"]) == ("failed", "crashed")


def test_a_missing_file_fails_the_document_after_a_day(org: Org) -> None:
    document = _upload(org, make_pdf("one"), "a.pdf")
    container.current().storage.delete(build_blob_key(org.id, document["sha256"]))
    for _ in range(handlers.HANDLERS["artifacts.parse"].max_attempts + 1):
        run_jobs_of(org, "documents")
        _update_parse_job(org, "due_at = now()")
    assert read_document(org, document["id"])["status"] == "processing"
    _update_parse_job(org, "created_at = now() - interval '25 hours'")
    run_jobs_of(org, "documents")
    assert read_document(org, document["id"])["failure"]["code"] == "content_missing"


def _update_parse_job(org: Org, change: str) -> None:
    of_org = "organization_id = :org AND function = 'artifacts.parse'"
    run_sql(org, f"UPDATE jobs SET {change} WHERE {of_org}")


def test_pages_are_written_in_batches(org: Org, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "_BATCH_PAGES", 10)
    artifact_id = _upload(org, make_pdf(*(f"page {n}" for n in range(35))), "a.pdf")["id"]
    commits: list[int] = []

    def checkpoint() -> None:
        db.session().commit()
        commits.append(db.session().execute(
            select(func.count()).where(ArtifactPage.artifact_id == UUID(artifact_id))
        ).scalar_one())  # fmt: skip

    _parse(org, artifact_id, checkpoint)
    assert commits == [0, 10, 20, 30]
    assert _list_page_numbers(org, artifact_id) == list(range(1, 36))


def test_only_documents_being_read_are_marked_as_failed(org: Org) -> None:
    artifact_id = _upload(org, b"some text", "a.txt")["id"]
    _parse(org, artifact_id)
    with org.app.app_context(), tenancy.organization(org.id), db.transaction():
        parsing.mark_failed(UUID(artifact_id), "crashed", "Too late.")
    assert read_document(org, artifact_id)["status"] == "ready"


def test_a_crashing_child_fails_only_its_document(
    org: Org, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: Any) -> None:
        raise ParseFailed("crashed", "The parser stopped unexpectedly (SIGSEGV).")

    first = _upload(org, make_pdf("one"), "a.pdf")["id"]
    with monkeypatch.context() as patch:
        patch.setattr(documents, "parse_stream", crash)
        work()
    second = _upload(org, make_pdf("two"), "b.pdf")["id"]
    work()
    assert read_document(org, first)["failure"]["code"] == "crashed"
    assert read_document(org, second)["status"] == "ready"
