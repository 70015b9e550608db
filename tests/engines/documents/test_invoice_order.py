"""Invoice text in reading order, regardless of the order in which the file draws it."""

import random
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from app.engines.documents.media import PDF
from tests.engines.documents import invoices
from tests.engines.documents.invoices import InvoicePage
from tests.engines.documents.parsing import parse_data

AGREEMENT = 0.98


def terms_last(
    gutter: float,
    *,
    size: float = 9,
    face: str = "Helvetica",
    right: float = 350,
    rows: int = 6,
    wrapped: bool = False,
    has_footer: bool = True,
    **terms: Any,
) -> InvoicePage:
    """Lay out an invoice with the terms below the totals. `terms` are options of `add_terms`."""
    page = InvoicePage(size=size, face=face)
    invoices.add_header(page, right=right)
    end = invoices.add_totals(page, invoices.add_table(page, 210, rows, wrapped=wrapped) + 10)
    invoices.add_terms(page, end + 40, gutter=gutter, **terms)
    if has_footer:
        invoices.add_footer(page)
    return page


def small_print(gutter: float) -> InvoicePage:
    page = InvoicePage(size=9)
    invoices.add_header(page)
    end = invoices.add_totals(page, invoices.add_table(page, 210, 12) + 10)
    page.size = 7
    page.add_line(50, end + 30, "General terms of sale, as of 1 January 2026")
    invoices.add_terms(page, end + 50, gutter=gutter, leading=8.2)
    invoices.add_footer(page)
    return page


def terms_first(gutter: float) -> InvoicePage:
    page = InvoicePage(face="Times-Roman", size=10)
    invoices.add_header(page)
    invoices.add_terms(page, 200, gutter=gutter, leading=11.5)
    page.add_line(50, 460, "We delivered the following items to your warehouse in London")
    invoices.add_totals(page, invoices.add_table(page, 490, 7) + 10)
    invoices.add_footer(page)
    return page


INVOICES: dict[str, invoices.InvoiceLayout] = {
    "plain": terms_last,
    "large_print": partial(
        terms_last, size=10, right=320, rows=4, wrapped=True, has_footer=False, leading=12
    ),
    "small_print": small_print,
    "terms_first": terms_first,
    "three_columns": partial(terms_last, size=8, rows=5, count=3, leading=9.5),
    "ragged": partial(
        terms_last,
        face="Times-Roman",
        right=330,
        rows=8,
        wrapped=True,
        has_footer=False,
        justified=False,
    ),
    "short_terms": partial(terms_last, rows=9, words=120),
}


@pytest.mark.parametrize("gutter", [6, 7, 8, 14])
@pytest.mark.parametrize("name", INVOICES)
def test_the_words_of_an_invoice_come_in_reading_order(
    tmp_path: Path, name: str, gutter: float
) -> None:
    page = INVOICES[name](gutter)
    words = parse_data(tmp_path, page.build_pdf(seed=int(gutter)), PDF).text.split()
    expected = [word.text for word in page.words]
    assert sorted(words) == sorted(expected)
    assert SequenceMatcher(None, expected, words, autojunk=False).ratio() >= AGREEMENT


@pytest.mark.parametrize("face", ["Helvetica", "Courier", "Times-Roman"])
@pytest.mark.parametrize("seed", range(8))
def test_text_in_one_column_stays_whole(tmp_path: Path, face: str, seed: int) -> None:
    """Wide spaces in justified text, and aligned words in a monospaced font, are not gutters."""
    words = random.Random(seed).choices(invoices.TERMS, k=460)
    page = InvoicePage(face=face, size=9)
    justified = face != "Courier"
    page.add_columns(80, [50], 495, [words], leading=11, justified=justified)
    assert parse_data(tmp_path, page.build_pdf(seed), PDF).text.split() == words


def test_the_order_in_the_file_is_not_the_reading_order() -> None:
    """The similarity that the test above measures is far lower without sorting."""
    page = INVOICES["plain"](8)
    drawn = [word.text for word in page.shuffle_words(seed=8)]
    expected = [word.text for word in page.words]
    assert SequenceMatcher(None, expected, drawn, autojunk=False).ratio() < 0.5
