"""Compare parsing of one-page PDFs in the sandbox with text extraction in one process."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.report import Report, Row

_ROUNDS = 7
_DOCUMENTS = 60
_BOUND = 15.0
_LINES = [f"{n}. Delivery of machine parts, as agreed: 12 pieces, 1,234.56 EUR" for n in range(24)]


def measure(report: Report, names: set[str]) -> None:
    """Measure documents per second on one core, including caller, fork server and processes."""
    if names and "parse" not in names:
        return
    report.head()
    command = [sys.executable, "-m", "bench.parse_rows"]
    done = subprocess.run(command, capture_output=True, check=True, text=True, timeout=300)
    ours, floor = json.loads(done.stdout)
    report.add(
        Row(
            "parse a one-page PDF, on one core",
            f"{ours:,.0f}/s",
            f"{floor:,.0f}/s pypdfium2",
            ours / floor,
            f">= {_BOUND:g}/s",
            ours >= _BOUND,
        )
    )


def _main() -> None:
    """Alternate both measurements on one core, and print both medians."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # the fork server inherits this
    import pypdfium2  # type: ignore[import-untyped] # noqa: PLC0415

    from app.engines import documents  # noqa: PLC0415
    from tests.engines.documents.samples import pdf  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "one.pdf"
        path.write_bytes(pdf([_LINES], size=(595, 842)))

        def parse() -> str:
            return documents.parse(path, "application/pdf").text

        def extract() -> str:
            with pypdfium2.PdfDocument(path) as document:
                text: str = document[0].get_textpage().get_text_range()
                return text

        assert parse().split() == extract().split()
        rounds = [(_rate(parse), _rate(extract)) for _ in range(_ROUNDS)]
    documents.stop_server()
    print(json.dumps([median(rates) for rates in zip(*rounds, strict=True)]))


def _rate(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    for _ in range(_DOCUMENTS):
        action()
    return _DOCUMENTS / (time.perf_counter() - began)


if __name__ == "__main__":
    _main()
