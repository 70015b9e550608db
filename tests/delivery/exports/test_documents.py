"""Formats with the words, pages and files of real documents, which the service has read."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import spacy
from PIL import Image
from pycocotools.coco import COCO
from spacy.tokens import DocBin

from app.delivery.exports.queries import pages as queries
from app.kit import container
from app.kit.storage import StorageUnavailable, build_blob_key
from tests.delivery.exports.test_rows import tag
from tests.documents.artifacts.conftest import create_text, make_pdf, make_png, upload
from tests.engines.formats.documents import parse_file, unpack
from tests.engines.formats.test_conll import parse
from tests.factories.labels import make_field, make_schema
from tests.factories.progress import OnProgress
from tests.factories.workspace import Workspace

FIELDS = [
    make_field("number", "text"),
    make_field("stamp", "region"),
    make_field("items", "table", columns=[make_field("name", "text")]),
]
BOX = [0.25, 0.5, 0.5, 0.75]
PDF = make_pdf("Invoice A-1\nPaper 3", "Second page")


def build_evidence(**members: Any) -> list[dict[str, Any]]:
    return [{"page": None, "box": None, "start": None, "end": None, "text": None, **members}]


class DocumentExports:
    """The documents of an organization, and tag sets for them."""

    def __init__(self, exports: Any, work: Callable[[], None]) -> None:
        self.exports = exports
        self.work = work
        self.api = exports.org.api("reviewer")
        self.schema_id, _ = make_schema(exports.org, FIELDS)

    def upload(self, data: bytes, name: str) -> dict[str, Any]:
        answer = upload(self.api, data, name)
        assert answer.status_code in (201, 202), answer.json
        return self.finish(answer.json["data"]["id"])

    def finish(self, artifact_id: str) -> dict[str, Any]:
        self.work()
        artifact = self.api.get(f"/artifacts/{artifact_id}").json["data"]
        assert artifact["status"] == "ready", artifact
        return dict(artifact)

    def get_text(self, artifact: dict[str, Any]) -> str:
        return str(self.api.get(f"/artifacts/{artifact['id']}/text").json["data"]["text"])

    def list_words(self, artifact: dict[str, Any]) -> list[dict[str, Any]]:
        pages = self.api.get(f"/artifacts/{artifact['id']}/pages").json["data"]
        return [word for page in pages for word in page["words"]]

    def label(self, artifact: dict[str, Any], *tags: Any) -> str:
        return str(self.exports.label(self.schema_id, list(tags), artifact_id=UUID(artifact["id"])))

    def label_region(self, artifact: dict[str, Any], *, page: int = 1) -> str:
        """Insert a tag set with a tag at the box `BOX` of a page."""
        return self.label(artifact, tag("stamp", None, evidence=build_evidence(page=page, box=BOX)))

    def mark(
        self, artifact: dict[str, Any], text: str, field: str = "number", **members: Any
    ) -> Any:
        """Return a tag at the first place of `text` in the document."""
        start = self.get_text(artifact).index(text)
        evidence = build_evidence(start=start, end=start + len(text), text=text)
        return tag(field, text, evidence=evidence, **members)

    def export(self, format_id: str, **body: Any) -> bytes:
        return bytes(self.exports.export_file(format_id, **body))

    def delete_file(self, artifact: dict[str, Any]) -> None:
        container.current().storage.delete(build_blob_key(self.exports.org.id, artifact["sha256"]))


@pytest.fixture
def document_exports(exports: Any, work: Callable[[], None]) -> DocumentExports:
    return DocumentExports(exports, work)


def test_conll_has_the_words_of_pdf_and_text(document_exports: DocumentExports) -> None:
    pdf = document_exports.upload(PDF, "invoice.pdf")
    note = document_exports.finish(
        create_text(document_exports.api, "Order 7\n\nرقم B-2 for Ann\fnext page")["id"]
    )
    document_exports.label(
        pdf,
        document_exports.mark(pdf, "A-1"),
        document_exports.mark(pdf, "Second page", "items.name", row=0),
    )
    document_exports.label(note, document_exports.mark(note, "B-2"))
    first, second = parse(document_exports.export("conll", options={"columns": "boxes"}), "boxes")
    tags = {line[0]: line[-1] for sequence in first for line in sequence}
    assert len(first) == 2
    assert tags == {
        "Invoice": "O", "A-1": "B-number", "Paper": "O", "3": "O",
        "Second": "B-items.name", "page": "I-items.name",
    }  # fmt: skip
    for document, block in ((pdf, first), (note, second)):
        written = [
            (line[0], [float(side) for side in line[1:5]]) for page in block for line in page
        ]
        words = document_exports.list_words(document)
        assert written == [(word["text"], pytest.approx(word["box"], abs=1e-5)) for word in words]
    assert [line[-1] for line in second[0]] == ["O", "O", "O", "B-number", "O", "O"]


def test_spacy_has_the_text(document_exports: DocumentExports) -> None:
    pdf = document_exports.upload(PDF, "invoice.pdf")
    tag_set_id = document_exports.label(
        pdf, document_exports.mark(pdf, "A-1"), tag("number", "no place", evidence=[])
    )
    (part,) = unpack(document_exports.export("spacy")).values()
    (doc,) = DocBin().from_bytes(part).get_docs(spacy.blank("xx").vocab)
    assert doc.text == document_exports.get_text(pdf)
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("A-1", "number")]
    assert doc.user_data["tag_set_id"] == tag_set_id


def test_coco_has_images_of_the_pages(document_exports: DocumentExports, tmp_path: Path) -> None:
    pdf = document_exports.upload(PDF, "invoice.pdf")
    note = document_exports.finish(create_text(document_exports.api, "a plain text")["id"])
    document_exports.label_region(pdf, page=2)
    document_exports.label_region(note)
    files = unpack(document_exports.export("coco", options={"width": 400}))
    path = tmp_path / "annotations.json"
    path.write_bytes(files["annotations.json"])
    coco = COCO(path)
    images = coco.loadImgs(coco.getImgIds())
    assert [(image["page"], image["missing"]) for image in images] == [
        (1, False),
        (2, False),
        (1, False),
    ]
    for image in images:
        with Image.open(io.BytesIO(files[f"images/{image['file_name']}"])) as opened:
            assert opened.size == (image["width"], image["height"])
    first, second = coco.loadAnns(coco.getAnnIds())
    assert (first["image_id"], second["image_id"]) == (2, 3)
    height = images[1]["height"]
    assert first["bbox"] == pytest.approx([100, height / 2, 100, height / 4], abs=0.02)


def test_coco_images_show_the_stored_text(document_exports: DocumentExports) -> None:
    note = document_exports.finish(create_text(document_exports.api, "read as of now")["id"])
    earlier = document_exports.finish(create_text(document_exports.api, "as of now read")["id"])
    Workspace(document_exports.exports.org).sql(
        "UPDATE artifact_texts SET text = 'as of now read' WHERE artifact_id = :id", id=note["id"]
    )
    document_exports.label_region(note)
    files = unpack(document_exports.export("coco", options={"width": 400}))
    (name,) = (name for name in files if name.startswith("images/"))
    image_format = "jpeg" if name.endswith("jpg") else "png"
    path = f"/artifacts/{earlier['id']}/pages/1/image?width=400&format={image_format}"
    assert files[name] == document_exports.api.get(path).data


def test_the_file_of_a_document_is_fetched_once_for_all_its_pages(
    document_exports: DocumentExports, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = (
        document_exports.upload(PDF, "invoice.pdf"),
        document_exports.upload(make_pdf("a", "b"), "other.pdf"),
    )
    for document in documents:
        document_exports.label_region(document, page=2)
    storage, fetched = type(container.current().storage), []
    use_local_path = storage.use_local_path

    def fetch(self: Any, key: str) -> Any:
        fetched.append(key)
        return use_local_path(self, key)

    monkeypatch.setattr(storage, "use_local_path", fetch)
    files = unpack(document_exports.export("coco"))
    assert len([name for name in files if name.startswith("images/")]) == 4
    assert fetched == [
        build_blob_key(document_exports.exports.org.id, document["sha256"])
        for document in documents
    ]


def test_docile_has_the_files(document_exports: DocumentExports) -> None:
    png = make_png()
    pdf = document_exports.upload(PDF, "invoice.pdf")
    picture = document_exports.upload(png, "scan.png")
    first = document_exports.label(
        pdf,
        document_exports.mark(pdf, "A-1"),
        tag("items.name", "Paper", 5, evidence=build_evidence(page=1, box=BOX, text="Paper")),
    )
    second = document_exports.label_region(picture)
    files = unpack(document_exports.export("docile"))
    assert parse_file(files, "train.json") == [first, second]
    assert files[f"pdfs/{first}.pdf"] == PDF
    assert files[f"files/{second}.png"] == png
    annotation = parse_file(files, f"annotations/{first}.json")
    (word,) = [word for word in document_exports.list_words(pdf) if word["text"] == "A-1"]
    (number,) = annotation["field_extractions"]
    assert number["bbox"] == pytest.approx(word["box"])
    assert number["page"] == 0
    (cell,) = annotation["line_item_extractions"]
    assert (cell["bbox"], cell["line_item_id"], cell["text"]) == (BOX, 1, "Paper")
    assert annotation["metadata"]["page_count"] == 2
    assert annotation["metadata"]["labels"]["items"] == [{"name": "Paper"}]


def test_a_document_whose_file_is_gone_stays_without_it(document_exports: DocumentExports) -> None:
    gone = document_exports.upload(PDF, "gone.pdf")
    kept = document_exports.upload(make_pdf("other"), "kept.pdf")
    ids = [document_exports.label_region(document) for document in (gone, kept)]
    document_exports.delete_file(gone)
    files = unpack(document_exports.export("docile"))
    assert f"pdfs/{ids[0]}.pdf" not in files
    annotations = [parse_file(files, f"annotations/{id_}.json") for id_ in ids]
    assert [document["metadata"]["file_missing"] for document in annotations] == [True, False]
    assert [len(document["field_extractions"]) for document in annotations] == [1, 1]
    parsed = parse_file(unpack(document_exports.export("coco")), "annotations.json")
    assert [image["missing"] for image in parsed["images"]] == [True, True, False]
    assert len(parsed["annotations"]) == 2


def test_storage_that_does_not_answer_fails_the_run_and_not_the_document(
    document_exports: DocumentExports, monkeypatch: pytest.MonkeyPatch
) -> None:
    pdf = document_exports.upload(PDF, "invoice.pdf")
    document_exports.label(pdf, document_exports.mark(pdf, "A-1"))
    storage = type(container.current().storage)

    def fail(*_: Any, **__: Any) -> None:
        raise StorageUnavailable("no answer")

    export_id = document_exports.exports.start("docile")
    with monkeypatch.context() as patch:
        patch.setattr(storage, "stream", fail)
        document_exports.work()
    assert document_exports.exports.get(export_id)["status"] != "completed"
    document_exports.exports.rerun()
    export = document_exports.exports.get(export_id)
    assert export["status"] == "completed", export
    assert b"%PDF" in document_exports.exports.download_file(export_id)


def test_pages_are_those_of_the_snapshot(
    document_exports: DocumentExports, on_progress: OnProgress
) -> None:
    pdf = document_exports.upload(PDF, "invoice.pdf")
    document_exports.label(pdf, document_exports.mark(pdf, "A-1"))

    def change(_: int) -> None:
        document_exports.exports.sql(
            "DELETE FROM artifact_pages WHERE artifact_id = :id", id=pdf["id"]
        )

    on_progress(change)
    ((first, second),) = parse(document_exports.export("conll"))
    assert [line[0] for line in first] == ["Invoice", "A-1", "Paper", "3"]
    assert len(second) == 2


def test_few_statements_for_many_documents(
    document_exports: DocumentExports, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, batches = queries.PageReader.iterate_pages, []

    def count(self: Any, artifact_ids: Any, **options: Any) -> Any:
        batches.append(len(artifact_ids))
        return read(self, artifact_ids, **options)

    monkeypatch.setattr(queries.PageReader, "iterate_pages", count)
    for number in range(120):
        document_exports.exports.label(document_exports.schema_id, [], text=f"text {number}")
    blocks = parse(document_exports.export("conll"))
    assert batches == [100, 20]
    assert [block[0][1][0] for block in blocks] == [str(number) for number in range(120)]


def test_documents_of_others_are_not_read(
    document_exports: DocumentExports, other_exports: Any
) -> None:
    pdf = document_exports.upload(PDF, "invoice.pdf")
    schema_id, _ = make_schema(other_exports.org, FIELDS)
    # The same bytes: the other organization has its own pages and file, or none.
    other_exports.label(schema_id, [], artifact={"sha256": pdf["sha256"]}, text="mine")
    files = unpack(other_exports.export_file("docile"))
    (name,) = [name for name in files if name.startswith("annotations/")]
    metadata = json.loads(files[name])["metadata"]
    assert (metadata["page_count"], metadata["file_missing"]) == (0, True)


@pytest.mark.parametrize("format_id", ["conll", "spacy", "coco", "docile"])
def test_the_same_documents_give_the_same_bytes(
    document_exports: DocumentExports, format_id: str
) -> None:
    pdf = document_exports.upload(PDF, "invoice.pdf")
    document_exports.label(
        pdf,
        document_exports.mark(pdf, "A-1"),
        tag("stamp", None, evidence=build_evidence(page=1, box=BOX)),
    )
    assert document_exports.export(format_id) == document_exports.export(format_id)


@pytest.mark.parametrize("format_id", ["conll", "coco", "docile"])
def test_an_export_that_was_ended_meanwhile_stops(
    document_exports: DocumentExports, on_progress: OnProgress, format_id: str
) -> None:
    pdf = document_exports.upload(PDF, "invoice.pdf")
    document_exports.label(pdf, document_exports.mark(pdf, "A-1"))
    steps = []

    def end(done: int) -> None:
        steps.append(done)
        if len(steps) == 3:  # the start, the row, and the first page of its document
            document_exports.exports.sql(
                "UPDATE exports SET status = 'cancelled' WHERE organization_id = :org",
                org=document_exports.exports.org.id,
            )

    on_progress(end)
    export_id = document_exports.exports.start(format_id)
    document_exports.work()
    assert document_exports.exports.get(export_id)["status"] == "cancelled"
    assert len(steps) == 3
    assert document_exports.exports.list_staged_files() == []
