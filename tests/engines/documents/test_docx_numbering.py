"""Numbers of clauses, headings and lists in Word documents."""

from pathlib import Path

import pytest
from docx.document import Document
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from app.engines.documents.media import DOCX
from tests.engines.documents import samples
from tests.engines.documents.parsing import parse_data


def level(index: int, text: str, number_format: str = "decimal", extra: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{index}"><w:start w:val="1"/><w:numFmt w:val="{number_format}"/>'
        f'{extra}<w:lvlText w:val="{text}"/></w:lvl>'
    )


def paragraph(text: str, list_id: int | None = None, index: int = 0, extra: str = "") -> str:
    reference = ""
    if list_id is not None:
        reference = f'<w:numPr><w:ilvl w:val="{index}"/><w:numId w:val="{list_id}"/></w:numPr>'
    return f"<w:p><w:pPr>{extra}{reference}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def read(folder: Path, lists: str, *paragraphs: str, styles: str = "") -> list[str]:
    """Return the lines of a document with these lists, styles and paragraphs, given as XML."""

    def fill(document: Document) -> None:
        numbering = document.part.numbering_part.element
        for child in list(numbering):
            numbering.remove(child)
        numbering.extend(list(parse_xml(f"<w:numbering {nsdecls('w')}>{lists}</w:numbering>")))
        document.styles.element.extend(
            list(parse_xml(f"<w:styles {nsdecls('w')}>{styles}</w:styles>"))
        )
        body = parse_xml(f"<w:body {nsdecls('w')}>{''.join(paragraphs)}</w:body>")
        for number, child in enumerate(list(body)):
            document.element.body.insert(number, child)

    return parse_data(folder, samples.word(fill), DOCX).text.split("\n")


def definition(number: int, *levels: str, extra: str = "") -> str:
    content = extra + "".join(levels)
    return f'<w:abstractNum w:abstractNumId="{number}">{content}</w:abstractNum>'


def use(list_id: int, number: int, overrides: str = "") -> str:
    return f'<w:num w:numId="{list_id}"><w:abstractNumId w:val="{number}"/>{overrides}</w:num>'


CLAUSES = definition(0, level(0, "%1."), level(1, "%1.%2"), level(2, "(%3)", "lowerLetter"))


def test_clauses_are_numbered_by_level_and_restart_below_each_clause(tmp_path: Path) -> None:
    expected = {
        "1. Term": paragraph("Term", 1),
        "1.1 Start": paragraph("Start", 1, 1),
        "(a) signed": paragraph("signed", 1, 2),
        "(b) delivered": paragraph("delivered", 1, 2),
        "1.2 End": paragraph("End", 1, 1),
        "(a) early": paragraph("early", 1, 2),
        "No number": paragraph("No number"),
        "2. Fees": paragraph("Fees", 1),
        "2.1 Amount": paragraph("Amount", 1, 1),
        "No list": paragraph("No list", 0),
    }
    assert read(tmp_path, CLAUSES + use(1, 0), *expected.values()) == list(expected)


@pytest.mark.parametrize(
    ("number_format", "expected"),
    [
        ("upperRoman", "XIV"),
        ("lowerRoman", "xiv"),
        ("upperLetter", "NN"),
        ("lowerLetter", "nn"),
        ("decimalZero", "40"),
        ("ordinal", "14th"),
        ("chineseCounting", "14"),
    ],
)
def test_number_formats(tmp_path: Path, number_format: str, expected: str) -> None:
    start = 40 if expected in ("NN", "nn", "40") else 14
    lists = definition(0, level(0, "§ %1", number_format)).replace(
        'w:start w:val="1"', f'w:start w:val="{start}"'
    )
    assert read(tmp_path, lists + use(1, 0), paragraph("Text", 1)) == [f"§ {expected} Text"]


def test_bullets_and_absent_lists_have_no_number(tmp_path: Path) -> None:
    lists = definition(0, level(0, "\uf0b7", "bullet")) + use(1, 0) + use(2, 7)
    paragraphs = (paragraph("a", 1), paragraph("b", 2), paragraph("c", 9), paragraph("d", 1, 5))
    assert read(tmp_path, lists, *paragraphs) == ["a", "b", "c", "d"]


def test_lists_with_one_definition_continue_unless_one_starts_anew(tmp_path: Path) -> None:
    restart = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
    lists = CLAUSES + use(1, 0) + use(2, 0) + use(3, 0, restart)
    paragraphs = (paragraph("a", 1), paragraph("b", 2), paragraph("c", 3), paragraph("d", 3))
    assert read(tmp_path, lists, *paragraphs) == ["1. a", "2. b", "5. c", "6. d"]


def test_a_list_may_add_a_level_that_the_definition_lacks(tmp_path: Path) -> None:
    lists = (
        definition(0, level(0, "%1."))
        + use(1, 0, f'<w:lvlOverride w:ilvl="1">{level(1, "%1.%2")}</w:lvlOverride>')
        + use(2, 0)
    )
    paragraphs = (paragraph("a", 1), paragraph("b", 1, 1), paragraph("c", 2), paragraph("d", 1, 1))
    assert read(tmp_path, lists, *paragraphs)[:4] == ["1. a", "1.1 b", "2. c", "2.1 d"]


def test_a_level_may_count_on_and_show_digits_only(tmp_path: Path) -> None:
    lists = definition(
        0,
        level(0, "Article %1", "upperRoman"),
        level(1, "%1.%2", extra="<w:lvlRestart w:val='0'/><w:isLgl/>"),
    )
    paragraphs = (paragraph("a", 1), paragraph("b", 1, 1), paragraph("c", 1), paragraph("d", 1, 1))
    lines = read(tmp_path, lists + use(1, 0), *paragraphs)
    assert lines == ["Article I a", "1.1 b", "Article II c", "2.2 d"]


def test_headings_are_numbered_by_their_styles(tmp_path: Path) -> None:
    def style(name: str, properties: str) -> str:
        return f'<w:style w:type="paragraph" w:styleId="{name}">{properties}</w:style>'

    numbers = '<w:pPr><w:numPr><w:numId w:val="{}"/></w:numPr></w:pPr>'
    styles = (
        style("First", numbers.format(1))
        + style("Second", '<w:basedOn w:val="First"/>')
        + style("Plain", '<w:basedOn w:val="First"/>' + numbers.format(0))
        + style("Loop", '<w:basedOn w:val="Loop"/>')
    )
    lists = definition(
        0,
        level(0, "%1", extra='<w:pStyle w:val="First"/>'),
        level(1, "%1.%2", extra='<w:pStyle w:val="Second"/>'),
    )
    names = ("First", "Second", "Second", "First", "Plain", "Loop")
    paragraphs = (paragraph(name, extra=f'<w:pStyle w:val="{name}"/>') for name in names)
    lines = read(tmp_path, lists + use(1, 0), *paragraphs, styles=styles)
    assert lines == ["1 First", "1.1 Second", "1.2 Second", "2 First", "Plain", "Loop"]


def test_a_list_refers_to_the_definition_of_a_style(tmp_path: Path) -> None:
    styles = (
        '<w:style w:type="numbering" w:styleId="Legal"><w:pPr><w:numPr><w:numId w:val="1"/>'
        "</w:numPr></w:pPr></w:style>"
    )
    lists = (
        definition(0, level(0, "%1)"), extra='<w:styleLink w:val="Legal"/>')
        + definition(1, extra='<w:numStyleLink w:val="Legal"/>')
        + use(1, 0)
        + use(2, 1)
    )
    assert read(tmp_path, lists, paragraph("a", 2), styles=styles) == ["1) a"]


def test_hidden_and_deleted_paragraphs_are_not_counted(tmp_path: Path) -> None:
    hidden = paragraph("x", 1).replace("</w:pPr>", "<w:rPr><w:vanish/></w:rPr></w:pPr>")
    deleted = hidden.replace("<w:vanish/>", "<w:del/>")
    moved = hidden.replace("<w:vanish/>", "<w:moveFrom/>")
    lines = read(
        tmp_path, CLAUSES + use(1, 0), paragraph("a", 1), hidden, deleted, moved, paragraph("b", 1)
    )
    assert lines == ["1. a", "x", "x", "x", "2. b"]


def test_numbers_out_of_range(tmp_path: Path) -> None:
    lists = definition(0, level(0, "%1.", "lowerRoman")).replace('val="1"', 'val="99999999999"')
    lists += definition(1, level(0, "%1.", "lowerLetter")).replace('val="1"', 'val="30000"')
    lines = read(tmp_path, lists + use(1, 0) + use(2, 1), paragraph("a", 1), paragraph("b", 2))
    assert lines == ["0. a", "30000. b"]


def test_headers_and_the_body_count_separately(tmp_path: Path) -> None:
    def fill(document: Document) -> None:
        numbered = "List Number"
        document.sections[0].header.paragraphs[0].style = document.styles[numbered]
        document.sections[0].header.paragraphs[0].text = "header"
        document.add_paragraph("body", numbered)

    text = parse_data(tmp_path, samples.word(fill), DOCX).text
    assert text.split("\n") == ["1. header", "1. body"]
