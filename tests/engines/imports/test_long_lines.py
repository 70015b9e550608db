"""A line of 200 MB is skipped without being kept in memory."""

import tracemalloc
from pathlib import Path

from app.engines.imports import lines

LONG = 200 * 1024 * 1024
FIRST, LAST = b'{"text": "a"}\n', b'{"text": "b"}\n'


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
