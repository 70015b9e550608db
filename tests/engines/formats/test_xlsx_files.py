"""Workbooks as files: the same bytes, errors of the output, temporary files and memory."""

import io
import os
import zipfile
from pathlib import Path

import orjson
import pytest

from app.engines.formats import FORMATS
from app.engines.formats.sample import SAMPLE_ROW
from tests.engines.formats.documents import FullError, FullOutput
from tests.engines.formats.scripts import hash_sample_file, measure_peaks_of_format
from tests.engines.formats.test_xlsx import FIELDS, write


def test_the_same_rows_give_the_same_bytes() -> None:
    hashes = {
        hash_sample_file("xlsx", {**os.environ, "TZ": zone}, preparation=f"os.umask({umask})")
        for zone, umask in (("UTC", 0o022), ("Asia/Tokyo", 0o077), ("America/New_York", 0))
    }
    assert len(hashes) == 1
    with zipfile.ZipFile(io.BytesIO(write([SAMPLE_ROW]))) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 31, 0, 0, 0)}
        assert b"2000-01-01T00:00:00Z" in archive.read("docProps/core.xml")


def test_what_the_output_raises_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    writer = FORMATS["xlsx"].create_writer(FullOutput(), FIELDS, {})
    writer.write_json(orjson.dumps(SAMPLE_ROW))
    assert list(tmp_path.iterdir())
    with pytest.raises(FullError):
        writer.close()
    assert not list(tmp_path.iterdir())


def test_memory_does_not_grow() -> None:
    early, late = measure_peaks_of_format("xlsx", early_rows=2_000, rows=12_000)
    assert late < early * 1.1
    assert late < 100_000  # KiB
