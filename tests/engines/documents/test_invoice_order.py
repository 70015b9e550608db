"""Invoice text in reading order, regardless of the order in which the file draws it."""

import random
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from app.engines.documents import parse
from tests.engines.documents import invoices
from tests.engines.documents.invoices import InvoicePage
from tests.engines.documents.samples import stored

AGREEMENT = 0.98


def plain(gutter: float) -> InvoicePage:
    page = InvoicePage()
    invoices.add_header(page)
    end = invoices.add_totals(page, invoices.add_table(page, 210, 6) + 10)
    invoices.add_terms(page, end + 40, gutter=gutter)
    invoices.add_footer(page)
    return page


def large_print(gutter: float) -> InvoicePage:
    page = InvoicePage(size=10)
    invoices.add_header(page, right=320)
    end = invoices.add_totals(page, invoices.add_table(page, 210, 4, wrapped=True) + 10)
    invoices.add_terms(page, end + 40, gutter=gutter, leading=12)
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


def three_columns(gutter: float) -> InvoicePage:
    page = InvoicePage(size=8)
    invoices.add_header(page)
    end = invoices.add_totals(page, invoices.add_table(page, 210, 5) + 10)
    invoices.add_terms(page, end + 40, gutter=gutter, count=3, leading=9.5)
    invoices.add_footer(page)
    return page


def ragged(gutter: float) -> InvoicePage:
    page = InvoicePage(face="Times-Roman", size=9)
    invoices.add_header(page, right=330)
    end = invoices.add_totals(page, invoices.add_table(page, 210, 8, wrapped=True) + 10)
    invoices.add_terms(page, end + 40, gutter=gutter, justified=False)
    return page


def short_terms(gutter: float) -> InvoicePage:
    page = InvoicePage()
    invoices.add_header(page)
    end = invoices.add_totals(page, invoices.add_table(page, 210, 9) + 10)
    invoices.add_terms(page, end + 40, gutter=gutter, words=120)
    invoices.add_footer(page)
    return page


INVOICES = [plain, large_print, small_print, terms_first, three_columns, ragged, short_terms]


@pytest.mark.parametrize("gutter", [6, 7, 8, 14])
@pytest.mark.parametrize("invoice", INVOICES, ids=lambda invoice: invoice.__name__)
def test_the_words_of_an_invoice_come_in_reading_order(
    tmp_path: Path, invoice: invoices.InvoiceLayout, gutter: float
) -> None:
    page = invoice(gutter)
    document = parse(stored(tmp_path, page.build_pdf(seed=int(gutter)), "a.pdf"), "application/pdf")
    expected = [word.text for word in page.words]
    found = document.text.split()
    assert sorted(found) == sorted(expected)
    assert SequenceMatcher(None, expected, found, autojunk=False).ratio() >= AGREEMENT


@pytest.mark.parametrize("face", ["Helvetica", "Courier", "Times-Roman"])
@pytest.mark.parametrize("seed", range(8))
def test_text_in_one_column_stays_whole(tmp_path: Path, face: str, seed: int) -> None:
    """Wide spaces in justified text, and aligned words in a monospaced font, are not gutters."""
    words = random.Random(seed).choices(invoices.TERMS, k=460)
    page = InvoicePage(face=face, size=9)
    justified = face != "Courier"
    page.add_columns(80, [50], 495, [words], leading=11, justified=justified)
    document = parse(stored(tmp_path, page.build_pdf(seed), "a.pdf"), "application/pdf")
    assert document.text.split() == words


def test_the_order_in_the_file_is_not_the_reading_order() -> None:
    """The similarity that the test above measures is far lower without sorting."""
    page = plain(8)
    drawn = [word.text for word in page.shuffle_words(seed=8)]
    expected = [word.text for word in page.words]
    assert SequenceMatcher(None, expected, drawn, autojunk=False).ratio() < 0.5
