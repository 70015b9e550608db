"""Numbers of lists in presentations."""

from pathlib import Path
from typing import Any

import pptx
import pytest
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls
from pptx.util import Inches

from app.engines.documents.media import PPTX
from tests.engines.documents.parsing import parse_data
from tests.engines.documents.samples import save_to_bytes


def paragraph(text: str, mark: str = "", level: int = 0) -> str:
    return f'<a:p><a:pPr lvl="{level}">{mark}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>'


def number(scheme: str = "arabicPeriod", extra: str = "") -> str:
    return f'<a:buAutoNum type="{scheme}" {extra}/>'


def replace_paragraphs(body: Any, *paragraphs: str) -> None:
    for child in body.findall("{*}p"):
        body.remove(child)
    body.extend(parse_xml(f"<a:x {nsdecls('a')}>{''.join(paragraphs)}</a:x>"))


def set_style(parent: Any, level: int, mark: str) -> None:
    """Add a mark to the style of a level; `parent` is a list style or a style of a master."""
    for child in parent.findall(f"{{*}}lvl{level}pPr"):
        parent.remove(child)
    parent.append(parse_xml(f"<a:lvl{level}pPr {nsdecls('a')}>{mark}</a:lvl{level}pPr>"))


def lines_of(folder: Path, deck: Any) -> list[str]:
    return parse_data(folder, save_to_bytes(deck), PPTX).text.split("\n")


def read(folder: Path, *paragraphs: str) -> list[str]:
    """Return the lines of a slide with a text box of these paragraphs."""
    deck: Any = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    box = slide.shapes.add_textbox(0, 0, Inches(3), Inches(1))
    replace_paragraphs(box.element.txBody, *paragraphs)
    return lines_of(folder, deck)


def test_paragraphs_are_numbered_by_level(tmp_path: Path) -> None:
    expected = {
        "1. Rent": paragraph("Rent", number()),
        "a) due monthly": paragraph("due monthly", number("alphaLcParenR"), 1),
        "b) in advance": paragraph("in advance", number("alphaLcParenR"), 1),
        "a bullet": paragraph("a bullet", '<a:buChar char="-"/>', 1),
        "a) anew": paragraph("anew", number("alphaLcParenR"), 1),
        "2. Term": paragraph("", number()) + paragraph("Term", number()),
        "a) early": paragraph("early", number("alphaLcParenR"), 1),
        "No number": paragraph("No number"),
        "1. Fees": paragraph("Fees", number()),
        "7. Costs": paragraph("Costs", number("arabicPeriod", 'startAt="7"')),
        "8. Tax": paragraph("Tax", number("arabicPeriod", 'startAt="7"')),
    }
    assert read(tmp_path, *expected.values()) == list(expected)


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ("arabicPlain", "14"),
        ("arabicParenBoth", "(14)"),
        ("alphaUcPeriod", "N."),
        ("alphaLcParenBoth", "(n)"),
        ("romanUcParenR", "XIV)"),
        ("romanLcPeriod", "xiv."),
        ("hebrew2Minus", "14-"),
        ("ea1JpnChsDbPeriod", "14."),
        ("", "14"),
    ],
)
def test_schemes(tmp_path: Path, scheme: str, expected: str) -> None:
    lines = read(tmp_path, paragraph("Text", number(scheme, 'startAt="14"')))
    assert lines == [f"{expected} Text"]


@pytest.mark.parametrize("source", ["shape", "layout", "master shape", "master"])
def test_placeholders_inherit_numbers(tmp_path: Path, source: str) -> None:
    deck: Any = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    title, content = slide.placeholders
    title.text = "Agenda"
    replace_paragraphs(
        content.element.txBody,
        paragraph("Welcome"),
        paragraph("Rules", level=1),
        paragraph("Guests", "<a:buNone/>"),
    )
    layout = deck.slide_layouts[1]
    style = {
        "shape": content.element.find("{*}txBody/{*}lstStyle"),
        "layout": layout.placeholders[1].element.find("{*}txBody/{*}lstStyle"),
        "master shape": deck.slide_master.placeholders[1].element.find("{*}txBody/{*}lstStyle"),
        "master": deck.slide_master.element.find("{*}txStyles/{*}bodyStyle"),
    }[source]
    set_style(style, 1, number())
    set_style(style, 2, number("romanUcPeriod"))
    assert lines_of(tmp_path, deck) == ["Agenda", "1. Welcome", "I. Rules", "Guests"]


def test_paragraphs_of_cells_are_numbered(tmp_path: Path) -> None:
    deck: Any = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    table = slide.shapes.add_table(1, 2, 0, 0, Inches(2), Inches(2)).table
    for index in (0, 1):
        replace_paragraphs(
            table.cell(0, index)._tc.txBody, paragraph("a", number()), paragraph("b", number())
        )
    assert lines_of(tmp_path, deck) == ["1. a 2. b\t1. a 2. b"]
