"""Compare parsing PDFs in the sandbox with plain pypdfium2 in one process.

The floor for one-page PDFs only extracts text. The floor for longer PDFs returns text, words and
boxes, as the service does. It reads every rectangle of a word, because pdfium returns several
rectangles if the font or the color changes within a word. It does not sort words or map boxes to
the displayed page.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pypdfium2

from bench.report import Report

_ROUNDS = 7
_SHORT_PARSES = 60
_LONG_PARSES = 10
_MIN_DOCUMENTS_PER_SECOND = 15.0
_PAGES = 20
_MIN_PAGES_RATIO = 0.6
_LINES = [f"{n}. Delivery of machine parts, as agreed: 12 pieces, 1,234.56 EUR" for n in range(24)]

_Rectangle = tuple[float, float, float, float]


def measure(report: Report, names: set[str]) -> None:
    """Measure parsing on one core, including the caller, the fork server and its processes."""
    if names and "parse" not in names:
        return
    report.print_header()
    command = [sys.executable, "-m", "bench.parse_rows"]
    completed = subprocess.run(command, capture_output=True, check=True, text=True, timeout=600)
    (ours, floor), (our_pages, floor_pages) = json.loads(completed.stdout)
    name, bound = "parse a one-page PDF, on one core", f">= {_MIN_DOCUMENTS_PER_SECOND:g}/s"
    report.add_rates(name, ours, floor, "pypdfium2", bound, ours >= _MIN_DOCUMENTS_PER_SECOND)
    name = f"pages of {_PAGES}-page PDFs with words and boxes, on one core"
    met = our_pages / floor_pages >= _MIN_PAGES_RATIO
    report.add_rates(name, our_pages, floor_pages, "pypdfium2", f">= {_MIN_PAGES_RATIO}", met)


def _main() -> None:
    """Alternate parsing and the floor on one core, and print the median rates as JSON."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # the fork server inherits this
    from app.engines import documents  # noqa: PLC0415
    from app.engines.documents.processes import stop_server  # noqa: PLC0415
    from tests.engines.documents.samples import pdf  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        short_path, long_path = Path(folder) / "one.pdf", Path(folder) / "many.pdf"
        short_path.write_bytes(pdf([_LINES], size=(595, 842)))
        long_path.write_bytes(pdf([_LINES] * _PAGES, size=(595, 842)))

        def parse(path: Path) -> list[str]:
            return documents.parse(path, "application/pdf").text.split()

        assert parse(short_path) == _extract_text(short_path)
        assert parse(long_path) == [word for word, *_ in _extract_words(long_path)]
        rates = [
            _compare(lambda: parse(short_path), lambda: _extract_text(short_path), _SHORT_PARSES),
            _compare(lambda: parse(long_path), lambda: _extract_words(long_path), _LONG_PARSES),
        ]
    stop_server()
    print(json.dumps([rates[0], [rate * _PAGES for rate in rates[1]]]))


def _extract_text(path: Path) -> list[str]:
    with pypdfium2.PdfDocument(path) as document:
        text: str = document[0].get_textpage().get_text_range()
        return text.split()


def _extract_words(path: Path) -> list[tuple[str, _Rectangle]]:
    """Return the words of all pages with their boxes, as a script with pypdfium2 would."""
    words = []
    with pypdfium2.PdfDocument(path) as document:
        for page in document:
            text_page = page.get_textpage()
            text = text_page.get_text_range()
            for match in re.finditer(r"\S+", text):
                count = text_page.count_rects(match.start(), len(match[0]))
                box = text_page.get_rect(0)
                for index in range(1, count):
                    box = _enclose_rectangles(box, text_page.get_rect(index))
                words.append((match[0], box))
    return words


def _enclose_rectangles(a: _Rectangle, b: _Rectangle) -> _Rectangle:
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])


def _compare(ours: Callable[[], object], floor: Callable[[], object], count: int) -> list[float]:
    """Return the calls per second of `ours` and `floor`, as medians of alternating rounds."""
    rounds = [(_measure_rate(ours, count), _measure_rate(floor, count)) for _ in range(_ROUNDS)]
    return [median(rates) for rates in zip(*rounds, strict=True)]


def _measure_rate(action: Callable[[], object], count: int) -> float:
    began = time.perf_counter()
    for _ in range(count):
        action()
    return count / (time.perf_counter() - began)


if __name__ == "__main__":
    _main()
