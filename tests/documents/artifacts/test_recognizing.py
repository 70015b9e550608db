"""A separate job recognizes the text of documents whose pages are images."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from app.documents.artifacts.service import parsing, recognizing
from app.engines import ocr
from app.engines.documents import ParseFailed
from app.engines.ocr import RecognizedPage, RecognizedWord
from app.kit import container, db, tenancy
from app.kit.jobs import handlers, runs
from tests.documents.artifacts.conftest import (
    count_events,
    make_pdf,
    make_png,
    read_document,
    upload_document,
)
from tests.engines.documents import samples
from tests.engines.ocr.scans import (
    LINES,
    draw_scan,
    encode_png,
    make_mixed_pdf,
    make_stamped_pdf,
)
from tests.factories import Org, claim_jobs_of, run_jobs_of

FOUND = RecognizedPage(
    "Net 12.50",
    [
        RecognizedWord("Net", (0.1, 0.1, 0.2, 0.2), 0, 3, 0.98),
        RecognizedWord("12.50", (0.3, 0.1, 0.5, 0.2), 4, 9, 0.75),
    ],
)


def _set_ocr(monkeypatch: pytest.MonkeyPatch, *, on: bool) -> None:
    monkeypatch.setattr(container.current(), "settings", replace(container.settings(), ocr=on))


@pytest.fixture(autouse=True)
def _enable_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    _set_ocr(monkeypatch, on=True)


@pytest.fixture
def recognized(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Recognize "Net 12.50" on every page, and return the numbers of the recognized pages."""
    numbers: list[int] = []

    def recognize(_path: object, _type: str, number: int, **_size: float) -> RecognizedPage:
        numbers.append(number)
        return FOUND

    monkeypatch.setattr(recognizing.ocr, "recognize_page", recognize)
    return numbers


@pytest.fixture
def _server() -> Iterator[None]:
    yield
    ocr.stop_server()


def _upload(org: Org, data: bytes, name: str) -> str:
    return str(upload_document(org.api("labeler"), data, name)["id"])


def _read(org: Org, artifact_id: str) -> tuple[str, list[dict[str, Any]]]:
    """Return the text and the pages, and check that the offsets of all words are correct."""
    read = org.api("viewer").get(f"/artifacts/{artifact_id}/text").json["data"]["text"]
    pages = org.api("viewer").get(f"/artifacts/{artifact_id}/pages").json["data"]
    for page in pages:
        for word in page["words"]:
            assert read[word["start"] : word["end"]] == word["text"]
            assert page["start"] <= word["start"] < word["end"] <= page["end"]
    return read, pages


def _list(org: Org, **filters: str) -> tuple[int, int]:
    """Return the number of listed documents and the total."""
    answer = org.api("viewer").get("/artifacts", query_string=filters).json
    return len(answer["data"]), answer["meta"]["total"]


@pytest.mark.usefixtures("_server")
def test_a_scan_has_words_when_it_is_ready(org: Org) -> None:
    artifact_id = _upload(org, encode_png(draw_scan()), "scan.png")
    run_jobs_of(org, "documents")
    waiting = read_document(org, artifact_id)
    assert (waiting["status"], waiting["ocr"]) == ("processing", "pending")
    assert (waiting["has_text_layer"], waiting["page_count"]) == (False, 1)
    assert count_events(org, "artifact.ingested") == 0
    run_jobs_of(org, "ocr")
    document = read_document(org, artifact_id)
    assert (document["status"], document["ocr"]) == ("ready", "done")
    assert (document["has_text_layer"], document["language"]) == (False, "en")
    assert count_events(org, "artifact.ingested") == 1
    read, (page,) = _read(org, artifact_id)
    assert read == "\n".join(LINES)
    assert document["text_length"] == len(read)
    assert {word["origin"] for word in page["words"]} == {"ocr"}
    assert all(0.5 < word["confidence"] <= 1 for word in page["words"])
    assert _list(org, q="payable") == (1, 1)


def test_only_the_pages_that_are_images_are_recognized(org: Org, recognized: list[int]) -> None:
    scan = draw_scan()
    data = make_mixed_pdf("First", scan, "Third page", None, scan)
    artifact_id = _upload(org, data, "mixed.pdf")
    run_jobs_of(org)
    assert recognized == [2, 5]
    document = read_document(org, artifact_id)
    assert (document["ocr"], document["has_text_layer"]) == ("done", True)
    read, pages = _read(org, artifact_id)
    assert read == "First\fNet 12.50\fThird page\f\fNet 12.50"
    origins = [sorted({word["origin"] for word in page["words"]}) for page in pages]
    assert origins == [["text"], ["ocr"], ["text"], [], ["ocr"]]
    assert [word.get("confidence") for word in pages[1]["words"]] == [0.98, 0.75]
    assert "confidence" not in pages[0]["words"][0]
    spans = org.api("viewer").get(f"/artifacts/{artifact_id}/text").json["data"]["pages"]
    assert [read[span["start"] : span["end"]] for span in spans] == read.split("\f")


def test_a_word_document_of_pictures(org: Org, recognized: list[int]) -> None:
    data = samples.word(lambda word: word.add_picture(samples.io.BytesIO(make_png())))
    artifact_id = _upload(org, data, "scan.docx")
    run_jobs_of(org)
    assert recognized == [1]
    read, (page,) = _read(org, artifact_id)
    assert (read, page["words"][0]["origin"]) == ("Net 12.50", "ocr")


def test_documents_with_text_never_wait(org: Org, recognized: list[int]) -> None:
    for data, name in ((make_pdf("Text", ""), "a.pdf"), (b"Plain", "a.txt")):
        artifact_id = _upload(org, data, name)
        run_jobs_of(org, "documents")
        document = read_document(org, artifact_id)
        assert (document["status"], document["ocr"]) == ("ready", "none")
    assert recognized == []


def test_a_scan_with_the_name_of_the_scanner(org: Org, recognized: list[int]) -> None:
    artifact_id = _upload(org, make_stamped_pdf("Scanned with a telephone"), "scan.pdf")
    run_jobs_of(org)
    assert recognized == [1]
    assert _read(org, artifact_id)[0] == "Net 12.50"


def test_pages_with_a_small_picture_or_many_words_are_no_scans(
    org: Org, recognized: list[int]
) -> None:
    many = "\n".join(f"Line {number} of the text below it" for number in range(4))
    for data in (make_stamped_pdf("A chart", height=150), make_stamped_pdf(many)):
        artifact_id = _upload(org, data, "report.pdf")
        run_jobs_of(org)
        assert read_document(org, artifact_id)["ocr"] == "none"
    assert recognized == []


def test_scans_show_that_recognition_is_off(
    org: Org, recognized: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    _set_ocr(monkeypatch, on=False)
    artifact_id = _upload(org, make_png(), "scan.png")
    run_jobs_of(org)
    document = read_document(org, artifact_id)
    assert (document["status"], document["ocr"]) == ("ready", "off")
    _set_ocr(monkeypatch, on=True)
    assert org.api("admin").post(f"/artifacts/{artifact_id}/reprocess").status_code == 202
    run_jobs_of(org)
    assert (read_document(org, artifact_id)["ocr"], recognized) == ("done", [1])


def test_turning_recognition_off_releases_pending_documents(
    org: Org, recognized: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact_id = _upload(org, make_mixed_pdf("Text", draw_scan()), "mixed.pdf")
    run_jobs_of(org, "documents")
    _set_ocr(monkeypatch, on=False)
    run_jobs_of(org, "ocr")
    document = read_document(org, artifact_id)
    assert (document["status"], document["ocr"]) == ("ready", "off")
    assert _read(org, artifact_id)[0] == "Text\f"
    assert recognized == []


def test_a_page_that_cannot_be_recognized_does_not_block_other_pages(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    def recognize(_path: object, _type: str, number: int, **_size: float) -> RecognizedPage:
        if number == 1:
            raise ParseFailed("timed_out", "Reading the document took over 240 seconds.")
        return FOUND

    monkeypatch.setattr(recognizing.ocr, "recognize_page", recognize)
    artifact_id = _upload(org, make_mixed_pdf(draw_scan(), draw_scan()), "scan.pdf")
    run_jobs_of(org)
    document = read_document(org, artifact_id)
    assert (document["status"], document["ocr"]) == ("ready", "failed")
    assert _read(org, artifact_id)[0] == "\fNet 12.50"


def test_an_interrupted_run_continues_with_the_next_page(org: Org, recognized: list[int]) -> None:
    artifact_id = _upload(org, make_mixed_pdf(*[draw_scan()] * 3), "scan.pdf")
    run_jobs_of(org, "documents")

    def stop_after_the_first_page() -> None:
        db.session().commit()
        if recognized == [1]:
            raise RuntimeError("killed")

    with (
        org.app.app_context(),
        tenancy.organization(org.id),
        pytest.raises(RuntimeError, match="killed"),
    ):
        recognizing.recognize(UUID(artifact_id), stop_after_the_first_page)
    assert read_document(org, artifact_id)["status"] == "processing"
    run_jobs_of(org, "ocr")
    assert recognized == [1, 2, 3]
    assert _read(org, artifact_id)[0] == "\f".join(["Net 12.50"] * 3)
    assert count_events(org, "artifact.ingested") == 1


def test_internal_errors_leave_a_document_without_words(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> RecognizedPage:
        raise RuntimeError("no luck")

    monkeypatch.setattr(recognizing.ocr, "recognize_page", fail)
    declared = handlers.HANDLERS[parsing.RECOGNIZE_JOB]
    monkeypatch.setitem(handlers.HANDLERS, parsing.RECOGNIZE_JOB, replace(declared, max_attempts=1))
    artifact_id = _upload(org, make_png(), "scan.png")
    run_jobs_of(org)
    document = read_document(org, artifact_id)
    assert (document["status"], document["ocr"]) == ("ready", "failed")


def test_a_document_that_is_deleted_meanwhile(org: Org, recognized: list[int]) -> None:
    artifact_id = _upload(org, make_png(), "scan.png")
    run_jobs_of(org, "documents")
    jobs = claim_jobs_of(org, "ocr")
    assert org.api("admin").delete(f"/artifacts/{artifact_id}").status_code == 204
    with org.app.app_context():
        runs.run(org.app, "ocr", jobs)
    assert (recognized, run_jobs_of(org, "ocr")) == ([], 0)


def test_the_list_is_filtered_by_the_state(
    org: Org, other_org: Org, recognized: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    _upload(org, make_pdf("Text"), "text.pdf")
    _upload(org, make_png(), "scan.png")
    run_jobs_of(org)
    _set_ocr(monkeypatch, on=False)
    for width in (50, 60):
        _upload(org, make_png(width), "scan.png")
    _upload(other_org, make_png(), "scan.png")
    run_jobs_of(org)
    run_jobs_of(other_org)
    assert recognized == [1]
    assert {state: _list(org, ocr=state) for state in ("none", "done", "off", "failed")} == {
        "none": (1, 1), "done": (1, 1), "off": (2, 2), "failed": (0, 0),
    }  # fmt: skip
    assert _list(org, ocr="off", status="ready") == (2, 2)
    assert _list(org, ocr="off", media_type="image/png") == (2, 2)
    assert _list(org, ocr="off", archived="true") == (0, 0)
    refused = org.api("viewer").get("/artifacts", query_string={"ocr": "perhaps"})
    assert (refused.status_code, refused.json["error"]["field"]) == (422, "ocr")
