"""The words of published PDF files are the words that poppler's pdftotext finds, in order."""

import re
import shutil
import subprocess
import unicodedata
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

import pytest

from app.engines.documents import ParseFailed, parse

FOLDER = Path(__file__).parents[3] / ".venv" / "sample-documents"
LETTERS_APART = "indirect-rotation.pdf"
"""A file with spaces between all letters, which programs join into different words."""
GAP = re.compile(r"\S {3,}\S")
MIN_RECALL, MIN_AGREEMENT = 0.97, 0.95


class Page(NamedTuple):
    """The words that were read, and the words from pdftotext without and with layout."""

    read: list[str]
    shown: list[str]
    laid_out: str


def _list_words(text: str) -> list[str]:
    return re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())


def _run(path: Path, *options: str) -> list[str]:
    command = ["pdftotext", "-enc", "UTF-8", *options, str(path), "-"]
    result = subprocess.run(command, capture_output=True, check=False)
    return result.stdout.decode().split("\f")


def _read_pages(path: Path) -> Iterator[Page]:
    try:
        document = parse(path, "application/pdf")
    except ParseFailed:  # `test_published_samples` counts them
        return
    for page, shown, laid_out in zip(
        document.pages, _run(path), _run(path, "-layout"), strict=False
    ):
        yield Page(_list_words(page.text), _list_words(shown), laid_out)


@pytest.fixture(scope="module")
def pages() -> list[Page]:
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed (package poppler-utils)")
    paths = sorted(path for path in FOLDER.glob("*/*.pdf") if path.name != LETTERS_APART)
    assert len(paths) >= 100
    return [page for path in paths for page in _read_pages(path)]


def test_the_words_that_a_viewer_shows_are_found(pages: list[Page]) -> None:
    shown = sum(len(page.shown) for page in pages)
    found = sum((Counter(page.shown) & Counter(page.read)).total() for page in pages)
    assert shown > 15_000
    assert found / shown >= MIN_RECALL


def _is_single_column(page: Page) -> bool:
    lines = [line for line in page.laid_out.split("\n") if line.strip()]
    gaps = sum(bool(GAP.search(line)) for line in lines)
    return len(page.shown) >= 30 and gaps <= len(lines) / 20


def test_the_words_of_a_column_are_in_the_order_of_reading(pages: list[Page]) -> None:
    count, agreeing = 0, 0.0
    for page in filter(_is_single_column, pages):
        laid_out = _list_words(page.laid_out)
        ratio = SequenceMatcher(None, laid_out, page.read, autojunk=False).ratio()
        count += len(laid_out)
        agreeing += ratio * len(laid_out)
    assert count > 3_000
    assert agreeing / count >= MIN_AGREEMENT
