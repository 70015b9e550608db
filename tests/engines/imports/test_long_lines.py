"""A very long line or row is skipped without being kept in memory."""

import tracemalloc
from pathlib import Path

import pytest

from app.engines.imports import csv_rows, lines
from app.engines.imports.records import START, TOO_LARGE

LONG = 200 * 1024 * 1024
FIRST, LAST = b'{"text": "a"}\n', b'{"text": "b"}\n'


def test_a_csv_row_of_many_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_rows, "MAX_LINE_BYTES", 1024 * 1024)
    path = tmp_path / "import.csv"
    with path.open("wb") as file:
        file.write(b"text,name\nfirst,a\n")
        chunk = (b'"' + b"x" * 1000 + b'\n",') * 1000
        for _ in range(LONG // len(chunk) // 10):
            file.write(chunk)
        file.write(b'"the end","of\nthe row"\nlast,b\n')
    tracemalloc.start()
    with path.open("rb", buffering=0) as file:
        records = list(csv_rows.CsvReader().read(file, START))
        assert csv_rows.CsvReader().count(file) == 3
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [record.error and record.error[0] for record in records] == [None, TOO_LARGE, None]
    assert [record.content and record.content.properties["text"] for record in records] == [
        "first",
        None,
        "last",
    ]
    assert [record.number for record in records] == [1, 2, 3]
    assert peak < 8 * csv_rows.MAX_LINE_BYTES
    # A reader that continues after the row finds the last one.
    with path.open("rb", buffering=0) as file:
        (last,) = csv_rows.CsvReader().read(file, records[1].next)
    assert (last.number, last.content) == (3, records[2].content)


def test_a_line_of_200_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "import.jsonl"
    with path.open("wb") as file:
        file.write(FIRST + b'{"text": "')
        chunk = b"x" * (1 << 20)
        for _ in range(LONG >> 20):
            file.write(chunk)
        file.write(b'"}\n' + LAST)
    tracemalloc.start()
    with path.open("rb", buffering=0) as file:
        found = [line.data for line in lines.read_lines(file, 0)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == [FIRST, None, LAST]
    assert peak < 4 * lines.MAX_LINE_BYTES
