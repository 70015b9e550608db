"""Tests of files that a process of its own writes."""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import psutil
import pytest

from app.engines.formats import FORMATS
from app.engines.formats.processes import ProcessWriter
from app.engines.formats.sample import SAMPLE_FIELDS, SAMPLE_ROW
from tests.engines.formats.documents import FullError, FullOutput

ROOT = Path(__file__).resolve().parents[3]
LINE = orjson.dumps(SAMPLE_ROW)


@pytest.fixture(autouse=True)
def _temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def _start(
    out: Any, format_id: str = "parquet", on_wait: Callable[[], None] = lambda: None
) -> tuple[ProcessWriter, psutil.Process]:
    """Return a writer and its process."""
    writer = ProcessWriter(out, format_id, SAMPLE_FIELDS, {}, on_wait)
    return writer, psutil.Process(writer._process.pid)


@pytest.mark.parametrize("format_id", [id_ for id_ in FORMATS if FORMATS[id_].needs_process])
def test_the_file_is_that_of_this_process(format_id: str, tmp_path: Path) -> None:
    files = [io.BytesIO(), io.BytesIO()]
    apart, process = _start(files[1], format_id)
    for writer in (FORMATS[format_id].create_writer(files[0], SAMPLE_FIELDS, {}), apart):
        for _ in range(3_001):
            writer.write_json(LINE)
        writer.write_chunk(LINE[:10], is_last=False)
        writer.write_chunk(LINE[10:], is_last=True)
        writer.close()
        writer.close()
        assert writer.row_count == 3_002
    assert files[0].getvalue() == files[1].getvalue()
    assert not process.is_running()
    assert not list(tmp_path.iterdir())


def test_line_feeds_within_a_row_are_no_end_of_it() -> None:
    files = [io.BytesIO(), io.BytesIO()]
    for out, line in zip(files, (LINE, orjson.dumps(SAMPLE_ROW, option=2)), strict=True):
        writer, _ = _start(out)
        writer.write_json(line)
        writer.close()
    assert files[0].getvalue() == files[1].getvalue()


@pytest.mark.parametrize("line", [b"[1]", b"{", b"end"])
def test_an_invalid_row_is_refused(line: bytes) -> None:
    writer, process = _start(io.BytesIO())
    writer.write_json(line)
    with pytest.raises(ValueError):
        writer.close()
    assert not process.is_running()


def test_a_row_after_the_end_of_the_process_raises() -> None:
    writer, process = _start(io.BytesIO())
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    with pytest.raises(RuntimeError, match="exited with status -9"):
        writer.write_json(b" " * 1_000_000)


def test_what_the_output_raises_is_raised(tmp_path: Path) -> None:
    writer, process = _start(FullOutput())
    writer.write_json(LINE)
    with pytest.raises(FullError):
        writer.close()
    del writer
    assert not process.is_running()
    assert not list(tmp_path.iterdir())


def test_waiting_can_be_ended(tmp_path: Path) -> None:
    class EndedError(Exception):
        pass

    def end() -> None:
        raise EndedError

    writer, process = _start(io.BytesIO(), "xlsx", end)
    process.suspend()
    with pytest.raises(EndedError):
        writer.close()
    del writer
    assert not process.is_running()
    assert not list(tmp_path.iterdir())


def test_the_process_ends_with_its_caller() -> None:
    script = """
import io, sys, time
from app.engines.formats.processes import ProcessWriter
writer = ProcessWriter(io.BytesIO(), "parquet", [], {}, lambda: None)
print(writer._process.pid, flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as caller:
        assert caller.stdout is not None
        child = psutil.Process(int(caller.stdout.readline()))
        os.kill(caller.pid, signal.SIGKILL)
        child.wait(60)
