"""Workbooks: sheets in order, rows as lines, and no more cells than fit into memory."""

import io
import zipfile
from pathlib import Path

import pytest

from app.engines.documents import UnsupportedMediaType, parse, render
from app.engines.documents.detection import detect_media_type
from app.engines.documents.media import XLS, XLSX
from tests.engines.documents import samples, workbooks
from tests.engines.documents.parsing import get_parse_failure, get_text_or_failure, parse_data

INVOICE = (
    "Invoice\nItem\tQuantity\tPrice\nGröße XL blue\t3\t12.5\n\nDue\t\t2024-03-01\n"
    "TRUE\t30:05:00\t2024-03-01 10:05:00"
)


@pytest.fixture(scope="module")
def invoice() -> bytes:
    return workbooks.xlsx(workbooks.fill_invoice)


def test_each_visible_sheet_is_a_page(tmp_path: Path, invoice: bytes) -> None:
    path = samples.stored(tmp_path, invoice)
    document = parse(path, XLSX)
    assert document.text == INVOICE + "\fNotes\nPayable within thirty days."
    assert len(document.pages) == 2
    assert [page.has_text_layer for page in document.pages] == [True, True]
    assert [word.text for word in document.pages[1].words][:2] == ["Notes", "Payable"]
    assert render(path, XLSX, 2, width_px=300).startswith(b"\x89PNG")


def test_rounding_errors_are_not_shown(tmp_path: Path, invoice: bytes) -> None:
    value = "<v>12.500000000000002</v>"
    inexact = workbooks.replace_in_entry(invoice, workbooks.SHEET, "<v>12.5</v>", value)
    assert parse_data(tmp_path, inexact, XLSX).text.startswith(INVOICE)


def test_the_older_format(tmp_path: Path) -> None:
    document = parse_data(tmp_path, workbooks.xls(), XLS)
    assert document.text == "Rechnung\nGröße\n\t7\fSpäter\nEnde"


def test_media_types_of_workbooks(invoice: bytes) -> None:
    old = workbooks.xls()
    assert detect_media_type(invoice, "upload", None) == XLSX
    assert detect_media_type(invoice, "book.xlsx", XLSX) == XLSX
    assert detect_media_type(invoice, "book.xls", None) == XLSX
    assert detect_media_type(old, "book.xls", XLS) == XLS
    for data, name in ((invoice, "book.doc"), (old, "book.doc"), (old, "upload")):
        with pytest.raises(UnsupportedMediaType):
            detect_media_type(data, name, None)
    for name in ("book.xlsm", "book.xlsb"):
        with pytest.raises(UnsupportedMediaType):
            detect_media_type(invoice, name, None)


def test_a_workbook_with_a_password(tmp_path: Path) -> None:
    for media_type, name in ((XLSX, "secret.xlsx"), (XLS, "secret.xls")):
        assert detect_media_type(samples.LOCKED, name, None) == media_type
        assert get_parse_failure(tmp_path, samples.LOCKED, media_type).code == "password_protected"


def test_an_older_workbook_under_the_newer_name(tmp_path: Path) -> None:
    error = get_parse_failure(tmp_path, workbooks.xls(), XLSX)
    assert error.code == "unreadable"
    assert ".xls" in error.message


def test_a_workbook_without_cells(tmp_path: Path) -> None:
    data = workbooks.xlsx(lambda book: None)
    assert get_parse_failure(tmp_path, data, XLSX).code == "empty_document"


def test_truncated_workbooks(tmp_path: Path, invoice: bytes) -> None:
    old = workbooks.xls()
    for data, media_type in ((invoice, XLSX), (old, XLS)):
        for length in (8, 600, len(data) // 2):
            assert get_parse_failure(tmp_path, data[:length], media_type).code == "unreadable"


def test_other_files_are_no_workbooks(tmp_path: Path) -> None:
    word = samples.word(lambda document: document.add_paragraph("Hello"))
    for data in (word, samples.pdf(), b"words"):
        assert get_parse_failure(tmp_path, data, XLSX).code == "unreadable"
        assert get_parse_failure(tmp_path, data, XLS).code == "unreadable"


def test_distant_cells(tmp_path: Path) -> None:
    def fill(book: "workbooks.openpyxl.Workbook") -> None:
        book.active["A1"], book.active["XFD1048576"] = "near", "far"

    error = get_parse_failure(tmp_path, workbooks.xlsx(fill), XLSX)
    assert error.code == "too_large_unpacked"
    assert "cells" in error.message


def test_two_distant_cells_in_one_column_are_two_rows(tmp_path: Path) -> None:
    def fill(book: "workbooks.openpyxl.Workbook") -> None:
        book.active["B5"], book.active["B1048576"] = "near", "far"

    document = parse_data(tmp_path, workbooks.xlsx(fill), XLSX)
    assert document.text == "Sheet\nnear\n\nfar"


def test_more_text_than_allowed(tmp_path: Path, invoice: bytes) -> None:
    for limits, code in (
        ({"max_text_chars": 60}, "too_large_unpacked"),
        ({"max_unpacked_bytes": 1000}, "too_large_unpacked"),
        ({"max_pages": 1}, "too_many_pages"),
    ):
        assert get_parse_failure(tmp_path, invoice, XLSX, **limits).code == code


def test_a_shared_text_in_many_cells(tmp_path: Path) -> None:
    """The file and its parts are small; only the text of the cells is large."""
    few = parse_data(tmp_path, workbooks.with_shared_text("lol", 2), XLSX)
    line = "\t".join(["lol"] * 10)
    assert few.text == f"Sheet\n{line}\n{line}"
    many = workbooks.with_shared_text("x" * 30_000, 100)
    assert get_parse_failure(tmp_path, many, XLSX).code == "too_large_unpacked"
    most = workbooks.with_shared_text("x" * 30_000, 10_000)
    assert get_parse_failure(tmp_path, most, XLSX).code == "out_of_memory"


def test_entities_are_not_expanded(tmp_path: Path, invoice: bytes) -> None:
    text = get_text_or_failure(tmp_path, workbooks.with_entities(invoice), XLSX)
    assert "lol" not in text
    assert text == "unreadable" or text.startswith("Invoice")


def test_entries_with_absolute_paths_are_not_written(tmp_path: Path, invoice: bytes) -> None:
    target = tmp_path / "outside"
    out = io.BytesIO(invoice)
    with zipfile.ZipFile(out, "a") as archive:
        archive.writestr(str(target), "x")
        archive.writestr("../../outside", "x")
    assert parse_data(tmp_path, out.getvalue(), XLSX).text.startswith(INVOICE)
    assert not target.exists()
