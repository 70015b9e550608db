"""Invoice text in reading order, regardless of the order in which the file draws it."""

import random
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from app.engines.documents import parse
from tests.engines.documents import invoices
from tests.engines.documents.invoices import Sheet
from tests.engines.documents.samples import stored

AGREEMENT = 0.98


def plain(gutter: float) -> Sheet:
    sheet = Sheet()
    invoices.head(sheet)
    end = invoices.totals(sheet, invoices.table(sheet, 210, 6) + 10)
    invoices.terms(sheet, end + 40, gutter=gutter)
    invoices.footer(sheet)
    return sheet


def large_print(gutter: float) -> Sheet:
    sheet = Sheet(size=10)
    invoices.head(sheet, right=320)
    end = invoices.totals(sheet, invoices.table(sheet, 210, 4, wrapped=True) + 10)
    invoices.terms(sheet, end + 40, gutter=gutter, leading=12)
    return sheet


def small_print(gutter: float) -> Sheet:
    sheet = Sheet(size=9)
    invoices.head(sheet)
    end = invoices.totals(sheet, invoices.table(sheet, 210, 12) + 10)
    sheet.size = 7
    sheet.line(50, end + 30, "General terms of sale, as of 1 January 2026")
    invoices.terms(sheet, end + 50, gutter=gutter, leading=8.2)
    invoices.footer(sheet)
    return sheet


def terms_first(gutter: float) -> Sheet:
    sheet = Sheet(face="Times-Roman", size=10)
    invoices.head(sheet)
    invoices.terms(sheet, 200, gutter=gutter, leading=11.5)
    sheet.line(50, 460, "We delivered the following items to your warehouse in London")
    invoices.totals(sheet, invoices.table(sheet, 490, 7) + 10)
    invoices.footer(sheet)
    return sheet


def three_columns(gutter: float) -> Sheet:
    sheet = Sheet(size=8)
    invoices.head(sheet)
    end = invoices.totals(sheet, invoices.table(sheet, 210, 5) + 10)
    invoices.terms(sheet, end + 40, gutter=gutter, count=3, leading=9.5)
    invoices.footer(sheet)
    return sheet


def ragged(gutter: float) -> Sheet:
    sheet = Sheet(face="Times-Roman", size=9)
    invoices.head(sheet, right=330)
    end = invoices.totals(sheet, invoices.table(sheet, 210, 8, wrapped=True) + 10)
    invoices.terms(sheet, end + 40, gutter=gutter, justified=False)
    return sheet


def short_terms(gutter: float) -> Sheet:
    sheet = Sheet()
    invoices.head(sheet)
    end = invoices.totals(sheet, invoices.table(sheet, 210, 9) + 10)
    invoices.terms(sheet, end + 40, gutter=gutter, words=120)
    invoices.footer(sheet)
    return sheet


INVOICES = [plain, large_print, small_print, terms_first, three_columns, ragged, short_terms]


@pytest.mark.parametrize("gutter", [6, 7, 8, 14])
@pytest.mark.parametrize("invoice", INVOICES, ids=lambda invoice: invoice.__name__)
def test_the_words_of_an_invoice_come_in_reading_order(
    tmp_path: Path, invoice: invoices.Invoice, gutter: float
) -> None:
    sheet = invoice(gutter)
    document = parse(stored(tmp_path, sheet.pdf(seed=int(gutter)), "a.pdf"), "application/pdf")
    expected = [word.text for word in sheet.words]
    found = document.text.split()
    assert sorted(found) == sorted(expected)
    assert SequenceMatcher(None, expected, found, autojunk=False).ratio() >= AGREEMENT


@pytest.mark.parametrize("face", ["Helvetica", "Courier", "Times-Roman"])
@pytest.mark.parametrize("seed", range(8))
def test_text_in_one_column_stays_whole(tmp_path: Path, face: str, seed: int) -> None:
    """Wide spaces in justified text, and aligned words in a monospaced font, are not gutters."""
    words = random.Random(seed).choices(invoices.TERMS, k=460)
    sheet = Sheet(face=face, size=9)
    justified = face != "Courier"
    sheet.columns(80, [50], 495, [words], leading=11, justified=justified)
    document = parse(stored(tmp_path, sheet.pdf(seed), "a.pdf"), "application/pdf")
    assert document.text.split() == words


def test_the_order_of_the_file_does_not_do() -> None:
    """The similarity that the test above measures is far lower without sorting."""
    sheet = plain(8)
    drawn = [word.text for word in sheet.mixed(seed=8)]
    expected = [word.text for word in sheet.words]
    assert SequenceMatcher(None, expected, drawn, autojunk=False).ratio() < 0.5
