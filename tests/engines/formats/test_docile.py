"""Data sets in the layout of DocILE, read by the library of the benchmark."""

import json
from typing import Any

import pytest

from app.engines.formats import FORMATS
from tests.engines.formats.documents import (
    Documents,
    frame,
    make_pages,
    make_row,
    mark,
    parse_file,
    unpack,
    write,
)

BOX = [0.1, 0.2, 0.3, 0.4]
TAGS = [
    frame("number", 1, BOX, value="A-1", confidence=0.5),
    frame("total", 2, BOX, value={"amount": "5.00", "currency": "EUR"}),
    frame("items.name", 1, BOX, value="Paper", row=7),
    frame("items.price", 1, BOX, value=3, row=7),
    frame("items.name", 2, BOX, value="Toner", row=2),
    frame("fees.name", 2, BOX, value="Post", row=2),
    {"field": "note", "value": "no place"},
]
PAGES = {"doc-1": make_pages("Invoice A-1 of May", "second page")}
CONTENTS = {"sha-1": b"%PDF-1.7 content"}
LABELS = {"number": "A-1", "note": "no place"}


def export(row: dict[str, Any], **options: Any) -> dict[str, bytes]:
    return unpack(write("docile", [row], Documents(PAGES, CONTENTS), **options))


def annotate(tags: list[Any], **members: Any) -> dict[str, Any]:
    return dict(parse_file(export(make_row(tags, **members)), "annotations/set-1.json"))


def test_the_layout() -> None:
    files = export(make_row(TAGS))
    assert set(files) == {"annotations/set-1.json", "pdfs/set-1.pdf", "train.json"}
    assert files["pdfs/set-1.pdf"] == CONTENTS["sha-1"]
    assert parse_file(files, "train.json") == ["set-1"]
    assert "val_2.json" in export(make_row(TAGS), split="val_2")


def test_fields_and_line_items() -> None:
    annotation = annotate(TAGS)
    assert annotation["field_extractions"] == [
        {"bbox": BOX, "page": 0, "score": 0.5, "text": "A-1", "fieldtype": "number"},
        {
            "bbox": BOX,
            "page": 1,
            "score": None,
            "text": '{"amount":"5.00","currency":"EUR"}',
            "fieldtype": "total",
        },
    ]
    found = [
        (one["fieldtype"], one["line_item_id"], one["page"], one["text"])
        for one in annotation["line_item_extractions"]
    ]
    assert found == [
        ("items.name", 3, 0, "Paper"),
        ("items.price", 3, 0, "3"),
        ("items.name", 2, 1, "Toner"),
        ("fees.name", 1, 1, "Post"),
    ]


def test_metadata() -> None:
    metadata = annotate(TAGS, labels=LABELS)["metadata"]
    assert metadata["page_count"] == 2
    assert metadata["page_sizes_at_200dpi"] == [[1653, 2339]] * 2
    assert metadata["language"] == "en"
    assert metadata["document_type"] == "Invoices"
    assert metadata["original_filename"] == "invoice 1.PDF"
    assert metadata["tag_set_id"] == "set-1"
    assert metadata["labels"] == LABELS
    assert (metadata["file"], metadata["file_missing"]) == ("pdfs/set-1.pdf", False)


def test_offsets_without_a_box_are_at_their_words() -> None:
    (found,) = annotate([mark("number", 8, 11)])["field_extractions"]
    assert found["bbox"] == pytest.approx([8 / 18, 0.1, 11 / 18, 0.2])
    first, second = annotate([mark("number", 15, 25)])["field_extractions"]
    assert (first["page"], second["page"]) == (0, 1)


def test_the_text_is_that_of_the_document() -> None:
    tag = frame("total", 1, BOX, value={"amount": "5.00", "currency": "EUR"})
    tag["evidence"][0]["text"] = "5 €"
    assert annotate([tag])["field_extractions"][0]["text"] == "5 €"


def test_evidence_outside_the_document_is_left_out() -> None:
    annotation = annotate([frame("number", 5, BOX), mark("number", 900, 901)])
    assert annotation["field_extractions"] == []


def test_a_file_that_is_gone_or_declined() -> None:
    row = make_row(TAGS)
    gone = unpack(write("docile", [row], Documents(PAGES)))
    assert set(gone) == {"annotations/set-1.json", "train.json"}
    metadata = parse_file(gone, "annotations/set-1.json")["metadata"]
    assert (metadata["file"], metadata["file_missing"]) == (None, True)
    declined = export(row, files=False)
    assert set(declined) == set(gone)
    assert parse_file(declined, "annotations/set-1.json")["metadata"]["file_missing"] is False


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("scan.TIFF", "files/set-1.tiff"),
        ("no extension", "files/set-1.bin"),
        ("../x.a/../b", "files/set-1.b"),
        ("x." + "y" * 300, "files/set-1." + "y" * 16),
        ("x.", "files/set-1.bin"),
        (None, "files/set-1.bin"),
    ],
)
def test_a_file_that_is_no_pdf(name: str | None, path: str) -> None:
    row = make_row([])
    row["artifact"] |= {"name": name, "media_type": "image/tiff"}
    files = export(row)
    assert files[path] == CONTENTS["sha-1"]
    assert parse_file(files, "annotations/set-1.json")["metadata"]["file"] == path


def test_documents_without_pages_and_no_documents() -> None:
    files = unpack(write("docile", [make_row(TAGS, 2)]))
    annotation = parse_file(files, "annotations/set-2.json")
    assert annotation["field_extractions"] == annotation["line_item_extractions"] == []
    assert annotation["metadata"]["page_count"] == 0
    assert unpack(write("docile", [])) == {"train.json": b"[\n\n]\n"}


def test_odd_values() -> None:
    value = "\ud800\n\u2028عربي" + "x" * 1_000_000
    (found,) = annotate([frame("number", 1, BOX, value=value)])["field_extractions"]
    assert found["text"] == value.replace("\ud800", "?")


def test_the_same_rows_give_the_same_bytes() -> None:
    rows = [make_row(TAGS, number) for number in range(120)]
    one, two = (write("docile", rows, Documents(PAGES, CONTENTS)) for _ in range(2))
    assert one == two


def test_words_are_read_only_for_offsets_without_a_box() -> None:
    for tags, expected in ((TAGS, False), ([mark("number", 0, 5)], True)):
        source = Documents(PAGES)
        write("docile", [make_row(tags)], source)
        assert source.batches == [(1, expected)]


def test_the_sample_is_what_is_written() -> None:
    name, line, *_ = FORMATS["docile"].sample.splitlines()
    assert name.startswith("annotations/")
    sample, written = json.loads(line), annotate(TAGS[:1])
    assert written.keys() == sample.keys()
    assert written["metadata"].keys() == sample["metadata"].keys()
    assert written["field_extractions"][0].keys() == sample["field_extractions"][0].keys()
