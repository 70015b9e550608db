"""Stream ZIP archives in constant memory. Archives with identical entries are identical."""

import json
import re
import stat
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from typing import IO, Any, BinaryIO, cast

_ZIP_TIMESTAMP = (1980, 1, 1, 0, 0, 0)
_EXTERNAL_ATTRIBUTES = (stat.S_IFREG | 0o644) << 16
_UNIX_SYSTEM = 3
_UNSAFE_CHARACTERS = re.compile("[^A-Za-z0-9_-]")
_MAX_NAME_LENGTH = 64
_MAX_EXTENSION_LENGTH = 16
_ENTRY_ATTRIBUTES = (
    *("filename", "compress_type", "CRC", "compress_size", "file_size", "header_offset"),
    *("flag_bits", "create_version", "extract_version"),
)


class ArchiveWriter:
    """A writer that streams a ZIP archive with fixed timestamps to a file or a pipe."""

    def __init__(self, out: BinaryIO) -> None:
        # For an output that cannot seek, `zipfile` calls only the methods of `OutputFile`.
        self._zip = _Archive(cast("IO[bytes]", OutputFile(out)), "w")
        self._entries = _EntryList()
        # For a million entries, the list of `zipfile` would take half a gigabyte of memory.
        self._zip.filelist = cast("list[zipfile.ZipInfo]", self._entries)
        self._zip.NameToInfo = _EmptyNameIndex()

    def add(self, name: str, data: bytes, *, is_compressed: bool = False) -> None:
        """Add a file; the archive must have no other file of this `name`.

        If `is_compressed` is true, the data is stored without further compression.
        """
        entry = _build_entry(name, is_compressed=is_compressed)
        entry.file_size = len(data)
        with self._zip.open(entry, "w") as file:
            file.write(data)

    def add_chunks(self, name: str, chunks: Iterable[bytes], *, is_compressed: bool) -> None:
        """Add a file of any size in chunks; see `add` for `name` and `is_compressed`."""
        entry = _build_entry(name, is_compressed=is_compressed)
        with self._zip.open(entry, "w", force_zip64=True) as file:
            for chunk in chunks:
                file.write(chunk)

    def close(self) -> None:
        """Write the archive's central directory, which completes the archive."""
        self._zip.close()
        self._entries.close()


class Spool:
    """A temporary file that collects JSON values, separated by commas."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="export-")  # noqa: SIM115 - closed by `close`
        self._is_empty = True

    def add(self, value: bytes) -> None:
        """Append one value, which must be valid JSON."""
        self._file.write(value if self._is_empty else b",\n" + value)
        self._is_empty = False

    def read(self) -> Iterator[bytes]:
        """Yield the contents of the temporary file in chunks."""
        self._file.seek(0)
        while chunk := self._file.read(1 << 16):
            yield chunk

    def close(self) -> None:
        """Close the temporary file, which deletes it."""
        self._file.close()


def build_safe_name(text: str | None, number: int) -> str:
    """Build a file name without an extension from `text`, or from `number` if there is no text.

    Characters that may be unsafe in file names are replaced, and a long name is truncated.
    """
    return _UNSAFE_CHARACTERS.sub("_", text or f"{number:08}")[:_MAX_NAME_LENGTH]


def build_safe_extension(name: str | None) -> str:
    """Return a file name's extension in lower case, with the dot, or `.bin` if it has none.

    Characters that may be unsafe are removed, and a long extension is truncated.
    """
    _, dot, extension = (name or "").rpartition(".")
    safe_extension = (
        _UNSAFE_CHARACTERS.sub("", extension.lower())[:_MAX_EXTENSION_LENGTH] if dot else ""
    )
    return f".{safe_extension or 'bin'}"


def _build_entry(name: str, *, is_compressed: bool) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _ZIP_TIMESTAMP)
    entry.compress_type = zipfile.ZIP_STORED if is_compressed else zipfile.ZIP_DEFLATED
    entry.create_system, entry.external_attr = _UNIX_SYSTEM, _EXTERNAL_ATTRIBUTES
    return entry


class _Archive(zipfile.ZipFile):
    def __del__(self) -> None:
        """Do nothing, so that the archive stays incomplete if `close` was not called."""


class OutputFile:
    """A write-only wrapper for libraries that write a file; closing it does not close the output.

    It has no `seek`, so `zipfile` treats each output as a stream.
    """

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self.closed = False

    def write(self, data: bytes) -> int:
        """Write data, and return its length."""
        self._out.write(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing; the owner of the output flushes it."""

    def close(self) -> None:
        """Mark this wrapper as closed."""
        self.closed = True


class _EntryList:
    """A list of the archive's entries, which is kept in a temporary file to save memory."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="export-")  # noqa: SIM115 - closed by `close`
        self._count = 0

    def append(self, entry: zipfile.ZipInfo) -> None:
        values = [getattr(entry, name) for name in _ENTRY_ATTRIBUTES]
        self._file.write(json.dumps(values).encode() + b"\n")
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[zipfile.ZipInfo]:
        self._file.seek(0)
        for line in self._file:
            values: dict[str, Any] = dict(zip(_ENTRY_ATTRIBUTES, json.loads(line), strict=True))
            entry = _build_entry(values.pop("filename"), is_compressed=True)
            for name, value in values.items():
                setattr(entry, name, value)
            yield entry

    def close(self) -> None:
        self._file.close()


class _EmptyNameIndex(dict[str, zipfile.ZipInfo]):
    """A name index that stays empty to save memory. No entry is looked up by name."""

    def __setitem__(self, name: str, entry: zipfile.ZipInfo) -> None:
        """Ignore the entry."""
