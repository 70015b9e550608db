"""EPUB, ODS and Outlook emails: the displayed text in order, and damaged files."""

from pathlib import Path

import pytest

from app.engines.documents.detection import detect_media_type
from app.engines.documents.media import EPUB, MSG, ODS
from tests.engines.documents import office_files, workbooks
from tests.engines.documents.parsing import expect_rejection, get_parse_failure, parse_data


def test_the_chapters_of_a_book_are_in_reading_order(tmp_path: Path) -> None:
    document = parse_data(tmp_path, office_files.book(), EPUB)
    assert document.text == "First\n\nIt begins in Köln.\fSecond\n\nIt ends."
    assert len(document.pages) == 2


def test_a_book_with_encrypted_chapters(tmp_path: Path) -> None:
    data = office_files.book(encrypted="OEBPS/text/one.xhtml")
    assert get_parse_failure(tmp_path, data, EPUB).code == "password_protected"


@pytest.mark.parametrize("entry", ["META-INF/container.xml", "OEBPS/book.opf"])
def test_a_damaged_book(tmp_path: Path, entry: str) -> None:
    data = workbooks.rewritten(office_files.book(), entry, lambda _: "<x")
    assert get_parse_failure(tmp_path, data, EPUB).code == "unreadable"


def test_a_book_loads_nothing(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("SECRET")
    entity = f"<!DOCTYPE c [<!ENTITY x SYSTEM 'file://{secret}'>]>"
    data = workbooks.rewritten(
        office_files.book(), "OEBPS/text/one.xhtml",
        lambda page: entity + page.replace("It begins", "It begins &x;"),
    )  # fmt: skip
    assert "SECRET" not in parse_data(tmp_path, data, EPUB).text


def test_the_visible_sheets_of_an_open_document(tmp_path: Path) -> None:
    document = parse_data(tmp_path, office_files.spreadsheet(), ODS)
    assert document.text == (
        "Prices\nItem\tPrice\nBolts M8\t7\n\t12.5\n\nTRUE\t2024-03-01\n30:05:00"
    )


def end_first_table(end: str) -> bytes:
    """Return a spreadsheet whose first table ends with this XML."""
    data = office_files.spreadsheet()
    return workbooks.replace_in_entry(data, "content.xml", "</table:table>", end, count=1)


def test_repeated_cells_and_rows(tmp_path: Path) -> None:
    repeated = (
        '<table:table-row table:number-rows-repeated="2"><table:table-cell'
        ' table:number-columns-repeated="3" office:value-type="float" office:value="5"/>'
        '<table:table-cell table:number-columns-repeated="999999999"/></table:table-row>'
        '<table:table-row table:number-rows-repeated="999999999"><table:table-cell/>'
        '</table:table-row><table:table-row><table:table-cell office:value-type="string"><text:p>a'
        "<text:tab/>b<text:line-break/><text:span>c</text:span><text:s/>d</text:p>"
        "</table:table-cell></table:table-row></table:table>"
    )
    text = parse_data(tmp_path, end_first_table(repeated), ODS).text
    assert text.endswith("30:05:00\n5\t5\t5\n5\t5\t5\n\na b c d")


def test_a_bomb_of_repeated_cells(tmp_path: Path) -> None:
    bomb = (
        '<table:table-row table:number-rows-repeated="1048576"><table:table-cell'
        ' table:number-columns-repeated="16384" office:value-type="string"><text:p>bomb</text:p>'
        "</table:table-cell></table:table-row></table:table>"
    )
    assert get_parse_failure(tmp_path, end_first_table(bomb), ODS).code == "too_large_unpacked"


def test_an_open_spreadsheet_without_cells(tmp_path: Path) -> None:
    data = workbooks.rewritten(office_files.spreadsheet(), "content.xml", lambda _: "<x/>")
    assert get_parse_failure(tmp_path, data, ODS).code == "unreadable"


def test_a_workbook_is_no_email(tmp_path: Path) -> None:
    assert get_parse_failure(tmp_path, workbooks.xls(), MSG).code == "unreadable"


@pytest.mark.parametrize(
    ("data", "name", "media_type"),
    [
        (office_files.book(), "a.epub", EPUB),
        (office_files.spreadsheet(), "a.ods", ODS),
        (workbooks.xls(), "a.msg", MSG),
    ],
)
def test_the_types_are_detected(data: bytes, name: str, media_type: str) -> None:
    assert detect_media_type(data, name, None) == media_type
    expect_rejection(data, "a.pdf")
