"""Word documents, and archives that pretend to be Word documents."""

import io
import zipfile
from pathlib import Path

import pytest
from docx.document import Document
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from app.engines.documents.media import COMPOUND_FILE_SIGNATURE, DOCX
from tests.engines.documents import samples
from tests.engines.documents.parsing import get_failure, get_text_or_failure, parse_data
from tests.engines.documents.workbooks import replace_in_entry, rewritten


def text_of(folder: Path, data: bytes) -> str:
    return parse_data(folder, data, DOCX).text


def failure(folder: Path, data: bytes, **limits: int) -> str:
    return get_failure(parse_data, folder, data, DOCX, **limits).code


def contract(document: Document) -> None:
    document.sections[0].header.paragraphs[0].text = "ACME header"
    document.sections[0].footer.paragraphs[0].text = "Page footer"
    document.add_heading("Contract", 1)
    document.add_paragraph("Between the parties:")
    table = document.add_table(rows=2, cols=2)
    for row, (left, right) in zip(table.rows, [("Seller", "ACME"), ("Buyer", "Zoë")], strict=True):
        row.cells[0].text, row.cells[1].text = left, right
    table.rows[1].cells[1].add_paragraph("Köln")
    document.add_paragraph("Signed\ttoday")


def test_everything_in_document_order(tmp_path: Path) -> None:
    document = parse_data(tmp_path, samples.word(contract), DOCX)
    assert document.text == (
        "ACME header\nContract\nBetween the parties:\n"
        "Seller\tACME\nBuyer\tZoë Köln\nSigned\ttoday\nPage footer"
    )
    (page,) = document.pages
    assert page.text == document.text
    assert [word.text for word in page.words] == document.text.split()


@pytest.mark.parametrize("is_on", [True, False])
def test_headers_and_footers_that_are_turned_off_are_left_out(tmp_path: Path, is_on: bool) -> None:
    def fill(document: Document) -> None:
        (section,) = document.sections
        for kind in ("first_page", "even_page"):
            getattr(section, f"{kind}_header").paragraphs[0].text = f"{kind} header"
            getattr(section, f"{kind}_footer").paragraphs[0].text = f"{kind} footer"
        section.header.paragraphs[0].text = "every header"
        document.add_paragraph("body")
        section.different_first_page_header_footer = is_on
        document.settings.odd_and_even_pages_header_footer = is_on

    kinds = ("first_page", "even_page") if is_on else ()
    parts = [f"{kind} {part}" for kind in kinds for part in ("header", "footer")]
    lines = text_of(tmp_path, samples.word(fill)).split("\n")
    assert sorted(lines) == sorted([*parts, "every header", "body"])


def test_inserted_text_is_included_and_deleted_text_is_left_out(tmp_path: Path) -> None:
    content = (
        "<w:ins><w:r><w:t>kept </w:t></w:r></w:ins>"
        "<w:del><w:r><w:delText>gone</w:delText><w:t>gone</w:t></w:r></w:del>"
        "<w:sdt><w:sdtContent><w:r><w:t>control</w:t></w:r></w:sdtContent></w:sdt>"
        "<w:r><w:instrText>PAGE</w:instrText></w:r>"
        "<w:hyperlink><w:r><w:t> link</w:t></w:r></w:hyperlink>"
        "<w:r><w:pict><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p>"
        "</w:txbxContent></w:pict></w:r>"
    )
    text = text_of(tmp_path, samples.word_from_xml(content))
    assert text.split() == ["kept", "control", "link", "boxed"]


def test_a_row_deleted_by_tracked_changes_is_left_out(tmp_path: Path) -> None:
    def fill(document: Document) -> None:
        table = document.add_table(rows=2, cols=2)
        table.rows[1].cells[0].text = "kept"
        properties = parse_xml(f"<w:trPr {nsdecls('w')}><w:del w:id='1' w:author='a'/></w:trPr>")
        table.rows[0]._tr.insert(0, properties)

    assert text_of(tmp_path, samples.word(fill)) == "kept\t"


def test_a_tab_inside_a_cell_starts_no_cell(tmp_path: Path) -> None:
    def fill(document: Document) -> None:
        cells = document.add_table(rows=1, cols=2).rows[0].cells
        cells[0].text, cells[1].text = "Total\tdue", "7"

    assert text_of(tmp_path, samples.word(fill)) == "Total due\t7"


def test_a_table_inside_a_table(tmp_path: Path) -> None:
    def fill(document: Document) -> None:
        outer = document.add_table(rows=1, cols=2)
        inner = outer.rows[0].cells[0].add_table(rows=2, cols=2)
        for index, cell in enumerate(cell for row in inner.rows for cell in row.cells):
            cell.text = str(index)
        outer.rows[0].cells[1].text = "right"

    (line,) = text_of(tmp_path, samples.word(fill)).splitlines()
    assert line.split() == ["0", "1", "2", "3", "right"]
    assert line.endswith("\tright")


def test_a_document_without_text(tmp_path: Path) -> None:
    assert failure(tmp_path, samples.word(lambda document: None)) == "empty_document"


def test_a_bomb_is_measured_while_it_inflates(tmp_path: Path) -> None:
    data = samples.swollen_docx(100 << 20)
    assert len(data) < 1 << 20
    assert failure(tmp_path, data, max_unpacked_bytes=50 << 20) == "too_large_unpacked"


def test_a_bomb_with_a_wrong_declared_size(tmp_path: Path) -> None:
    data = samples.swollen_docx(100 << 20, declared=1000)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.getinfo("word/document.xml").file_size == 1000
    assert failure(tmp_path, data, max_unpacked_bytes=50 << 20) == "unreadable"


def test_too_many_entries(tmp_path: Path) -> None:
    data = samples.build_zip({f"word/{number}.xml": b"" for number in range(10_001)})
    assert failure(tmp_path, data) == "too_large_unpacked"


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    bomb = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    for last, this in zip("abcdefgh", "bcdefghi", strict=True):
        bomb += f'<!ENTITY {this} "{f"&{last};" * 10}">'
    bomb += f"]><w:document {nsdecls('w')}><w:body><w:p><w:r><w:t>x&i;</w:t></w:r></w:p></w:body>"
    bomb += "</w:document>"
    data = rewritten(samples.word(contract), "word/document.xml", lambda _: bomb)
    assert "aaaaa" not in get_text_or_failure(tmp_path, data, DOCX)


def test_an_external_entity_is_not_read(tmp_path: Path) -> None:
    secret = samples.stored(tmp_path, b"the secret", "secret")
    xml = (
        f'<!DOCTYPE x [<!ENTITY s SYSTEM "{secret.as_uri()}">]><w:document {nsdecls("w")}>'
        "<w:body><w:p><w:r><w:t>before &s; after</w:t></w:r></w:p></w:body></w:document>"
    )
    data = rewritten(samples.word(contract), "word/document.xml", lambda _: xml)
    assert "secret" not in text_of(tmp_path, data)


def test_password(tmp_path: Path) -> None:
    assert failure(tmp_path, samples.LOCKED) == "password_protected"


@pytest.mark.parametrize("kind", ["truncated", "zip", "old Word", "image", "no body", "macros"])
def test_damaged_or_mislabeled(tmp_path: Path, kind: str) -> None:
    good = samples.word(contract)
    data = {
        "truncated": good[: len(good) // 2],
        "zip": samples.build_zip({"readme.txt": "hello"}),
        "old Word": COMPOUND_FILE_SIGNATURE + bytes(4096),
        "image": samples.image("PNG"),
        "no body": rewritten(good, "word/document.xml", lambda _: "<broken"),
        "macros": replace_in_entry(
            good,
            "[Content_Types].xml",
            "vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
            "vnd.ms-word.document.macroEnabled.main+xml",
        ),
    }[kind]
    assert failure(tmp_path, data) == "unreadable"
