"""ZIP archives: what readers see, fixed bytes, memory, and outputs that fail."""

import gc
import io
import zipfile
from pathlib import Path

import pytest

from app.engines.formats.archives import ArchiveWriter
from app.engines.formats.image_size import read_image_size
from tests.engines.formats.scripts import measure_peaks


class Pipe:
    """An output that can only be written to."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.parts.append(bytes(data))

    @property
    def data(self) -> bytes:
        return b"".join(self.parts)


def build(count: int = 3) -> bytes:
    out = Pipe()
    archive = ArchiveWriter(out)  # type: ignore[arg-type]
    for number in range(count):
        archive.add(f"a/{number}.txt", b"text " * 100)
    archive.add("b.jpg", b"image" * 100, is_compressed=True)
    archive.add_chunks("c.json", iter([b"one", b"", b"two"]), is_compressed=False)
    archive.close()
    return out.data


def test_readers_see_files_with_fixed_times_and_modes(tmp_path: Path) -> None:
    data = build()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert archive.read("c.json") == b"onetwo"
        infos = {info.filename: info for info in archive.infolist()}
        assert list(infos) == ["a/0.txt", "a/1.txt", "a/2.txt", "b.jpg", "c.json"]
        assert {info.date_time for info in infos.values()} == {(1980, 1, 1, 0, 0, 0)}
        assert {info.external_attr >> 16 for info in infos.values()} == {0o100644}
        assert infos["a/0.txt"].compress_size < infos["a/0.txt"].file_size == 500
        assert infos["b.jpg"].compress_type == zipfile.ZIP_STORED
        archive.extractall(tmp_path)
    assert (tmp_path / "a" / "2.txt").read_bytes() == b"text " * 100
    assert build() == data


def test_more_files_than_an_archive_without_zip64_has() -> None:
    with zipfile.ZipFile(io.BytesIO(build(70_000))) as archive:
        assert len(archive.infolist()) == 70_002
        assert archive.read("a/69999.txt") == b"text " * 100


def test_memory_does_not_grow() -> None:
    script = """
from app.engines.formats.archives import ArchiveWriter
archive = ArchiveWriter(Nothing())
for number in range(60_000):
    archive.add(f"annotations/01920000-0000-7000-8000-{number:012}.json", b"x", is_compressed=True)
    if number == 5_000:
        early = peak()
archive.close()
"""
    early, late = measure_peaks(script)
    assert late < early * 1.1


def test_an_archive_that_is_not_closed_has_no_directory() -> None:
    out = Pipe()
    archive = ArchiveWriter(out)  # type: ignore[arg-type]
    archive.add("a", b"text")
    written = out.data
    del archive
    gc.collect()
    assert out.data == written
    assert not zipfile.is_zipfile(io.BytesIO(written))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GIF89a",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8",
        b"\xff\xd8\x00\x00\x00\x00",
        b"\xff\xd8\xff\xe0\x00\x00" * 50,
        b"\xff\xd8\xff\xe0\xff\xff",
        b"\xff\xd8\xff\xc0\x00\x11\x08",
    ],
)
def test_bytes_that_are_no_image_have_no_size(data: bytes) -> None:
    assert read_image_size(data) is None
