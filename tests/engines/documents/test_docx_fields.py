"""What Word displays of fields: results and values of forms, but no codes."""

from pathlib import Path

import pytest

from app.engines.documents.media import DOCX
from tests.engines.documents.parsing import parse_data
from tests.engines.documents.samples import word_from_xml


def text_of(folder: Path, *paragraphs: str) -> str:
    """Return the text of a document with these paragraphs, which are given as XML."""
    return parse_data(folder, word_from_xml(*paragraphs), DOCX).text


def mark(kind: str, data: str = "") -> str:
    return f'<w:r><w:fldChar w:fldCharType="{kind}">{data}</w:fldChar></w:r>'


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def field(code: str, result: str = "") -> str:
    """Return a field; `code` and `result` are XML."""
    return mark("begin") + code + (mark("separate") + result if result else "") + mark("end")


def code(text: str) -> str:
    return f'<w:r><w:instrText xml:space="preserve">{text}</w:instrText></w:r>'


def test_a_field_inside_the_code_of_a_field_is_left_out(tmp_path: Path) -> None:
    inner = field(code(" MERGEFIELD sex "), run("female"))
    condition = code(" IF ") + inner + code(' = "female" "Madam" "Sir" ')
    pages = field(code(" = ") + field(code(" NUMPAGES "), run("7")) + code(" - 1 "), run("6"))
    text = text_of(
        tmp_path, run("Dear ") + field(condition, run("Madam")) + run(", see page ") + pages
    )
    assert text == "Dear Madam, see page 6"


def test_a_field_inside_the_result_of_a_field_is_shown(tmp_path: Path) -> None:
    page = field(code(" PAGEREF a "), run("3"))
    entry = field(code(" TOC "), run("Terms ") + page)
    assert text_of(tmp_path, entry + run(" end")) == "Terms 3 end"


@pytest.mark.parametrize("kind", ["begin", "separate", "end"])
def test_fields_without_start_or_end_hide_nothing(tmp_path: Path, kind: str) -> None:
    complete = field(code(" PAGE "), run("3"))
    assert text_of(tmp_path, mark(kind) + run("text ") + complete) == "text 3"


@pytest.mark.parametrize(
    ("choice", "result", "expected"),
    [
        ('<w:result w:val="1"/>', "", "Rent: net"),
        ('<w:default w:val="1"/>', "", "Rent: net"),
        ("", "", "Rent: gross"),
        ('<w:result w:val="9"/>', "", "Rent: "),
        ('<w:result w:val="1"/>', run("net"), "Rent: net"),
    ],
)
def test_the_selected_entry_of_a_list_is_shown(
    tmp_path: Path, choice: str, result: str, expected: str
) -> None:
    entries = '<w:listEntry w:val="gross"/><w:listEntry w:val="net"/>'
    data = f"<w:ffData><w:ddList>{choice}{entries}</w:ddList></w:ffData>"
    separator = mark("separate") + result if result else ""
    content = mark("begin", data) + code(" FORMDROPDOWN ") + separator + mark("end")
    assert text_of(tmp_path, run("Rent: ") + content) == expected
