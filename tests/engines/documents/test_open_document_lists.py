"""Numbers of lists and headings in OpenDocument texts."""

from pathlib import Path

import pytest

from app.engines.documents.media import ODT
from tests.engines.documents import office_files, workbooks
from tests.engines.documents.parsing import parse_data

_NAMESPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "style", "table")
)


def level(number: int, number_format: str = "1", suffix: str = ".", extra: str = "") -> str:
    return (
        f'<text:list-level-style-number text:level="{number}" style:num-format="{number_format}"'
        f' style:num-suffix="{suffix}" {extra}/>'
    )


CLAUSES = (
    '<text:list-style style:name="L">'
    + level(1)
    + level(2, suffix="", extra='text:display-levels="2"')
    + level(3, "a", ")", extra='style:num-prefix="("')
    + "</text:list-style>"
)


def item(*content: str, start: str = "") -> str:
    paragraphs = (part if part.startswith("<") else f"<text:p>{part}</text:p>" for part in content)
    return f"<text:list-item {start}>{''.join(paragraphs)}</text:list-item>"


def make_list(*items: str, attributes: str = 'text:style-name="L"') -> str:
    return f"<text:list {attributes}>{''.join(items)}</text:list>"


def read(folder: Path, styles: str, body: str) -> list[str]:
    """Return the lines of a document with these automatic styles and this body."""
    content = (
        f"<office:document-content {_NAMESPACES}>"
        f"<office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    data = workbooks.rewritten(office_files.open_document(), "content.xml", lambda _: content)
    return parse_data(folder, data, ODT).text.split("\n")


def test_clauses_are_numbered_by_level(tmp_path: Path) -> None:
    clauses = make_list(
        item("Term", make_list(item("Start", make_list(item("a"), item("b"))), item("End"))),
        item("Fees", "more text", make_list(item("Amount"))),
        "<text:list-header><text:p>Not an item</text:p></text:list-header>",
        item("Signature", start='text:start-value="9"'),
    )
    assert read(tmp_path, CLAUSES, clauses) == [
        *("1. Term", "1.1 Start", "(a) a", "(b) b", "1.2 End"),
        *("2. Fees", "more text", "2.1 Amount", "Not an item", "9. Signature"),
    ]


def test_lists_continue_only_if_they_say_so(tmp_path: Path) -> None:
    body = (
        make_list(item("a"), attributes='text:style-name="L" xml:id="first"')
        + "<text:p>between</text:p>"
        + make_list(item("b"), attributes='text:style-name="L" text:continue-numbering="true"')
        + make_list(item(make_list(item("c"))), attributes='text:continue-list="first"')
        + make_list(item("d"))
    )
    assert read(tmp_path, CLAUSES, body) == ["1. a", "between", "2. b", "2.1 c", "1. d"]


def test_an_item_without_a_paragraph_is_not_counted(tmp_path: Path) -> None:
    nested = make_list(
        item(make_list(item("sub"))),
        attributes=('text:style-name="L" text:continue-numbering="true"'),
    )
    body = make_list(item("main")) + nested + nested
    assert read(tmp_path, CLAUSES, body) == ["1. main", "1.1 sub", "1.2 sub"]


@pytest.mark.parametrize(
    ("number_format", "extra", "expected"),
    [
        ("A", "", "AB"),
        ("A", 'style:num-letter-sync="true"', "BB"),
        ("i", "", "xxviii"),
        ("I", "", "XXVIII"),
        ("1", "", "28"),
        ("一", "", "28"),
    ],
)
def test_number_formats(tmp_path: Path, number_format: str, extra: str, expected: str) -> None:
    first = level(1, number_format, extra=f'text:start-value="28" {extra}')
    style = f'<text:list-style style:name="L">{first}</text:list-style>'
    assert read(tmp_path, style, make_list(item("a"))) == [f"{expected}. a"]


def test_bullets_and_unknown_styles_have_no_number(tmp_path: Path) -> None:
    bullet = '<text:list-level-style-bullet text:level="1" text:bullet-char="•"/>'
    style = f'<text:list-style style:name="L">{bullet}</text:list-style>'
    other = make_list(item("b"), attributes='text:style-name="Absent"')
    assert read(tmp_path, style, make_list(item("a")) + other) == ["a", "b"]


def test_headings_are_numbered_by_the_outline(tmp_path: Path) -> None:
    outline = "".join(
        f'<text:outline-level-style text:level="{number}" style:num-format="1"'
        f' text:display-levels="{number}"/>'
        for number in (1, 2)
    )
    headings = "".join(
        f'<text:h text:outline-level="{number}" {extra}>{name}</text:h>'
        for number, name, extra in (
            (1, "Scope", ""),
            (2, "Parties", ""),
            (1, "Unnumbered", 'text:is-list-header="true"'),
            (1, "Price", ""),
            (2, "Tax", 'text:start-value="99999999999"'),
            (3, "Deep", ""),
        )
    )
    styles = f"<text:outline-style>{outline}</text:outline-style>"
    assert read(tmp_path, styles, headings) == [
        *("1 Scope", "1.1 Parties", "Unnumbered", "2 Price", "2.1 Tax", "Deep"),
    ]
