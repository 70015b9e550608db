"""Read the files of a ZIP archive one by one.

The directory of the archive is checked before any file is read. A file gets an error, for example,
if it is encrypted, has an unsafe path, is a link, or exceeds the limit on unpacked bytes. Only the
directory is in memory, and its size is limited.
"""

import stat
import zlib
from collections.abc import Iterator
from contextlib import suppress
from io import SEEK_SET
from pathlib import PurePosixPath
from typing import BinaryIO, NamedTuple, Self, cast
from unicodedata import normalize
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from app.engines.imports.records import UNPROCESSABLE, ImportFileError

MAX_DIRECTORY_BYTES = 16 * 1024 * 1024
"""The maximum size of an archive's directory, in which a file takes about 100 bytes."""
MAX_UNPACKED_RATIO = 50
BASE_UNPACKED_LIMIT_BYTES = 1024 * 1024 * 1024
"""The limit on the total size of the unpacked files in bytes. If MAX_UNPACKED_RATIO times the size
of the archive is larger, that product is the limit."""
MAX_PATH_CHARS = 1000
"""The maximum length of a displayed path; longer paths are truncated."""
_CHUNK_BYTES = 256 * 1024
_ENCRYPTED_FLAG = 0x1
_UTF8_FLAG = 0x800
# With other compression methods, the archive determines the memory needed to unpack it.
_COMPRESSION_METHODS = (ZIP_STORED, ZIP_DEFLATED)
_IGNORED_FOLDERS = frozenset({"__MACOSX"})
_IGNORED_NAMES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
_DAMAGED_MESSAGE = "The ZIP file is damaged."


class DamagedEntryError(Exception):
    """A file in the archive is damaged and cannot be unpacked."""


class ArchiveEntry(NamedTuple):
    """A file in an archive.

    `number` counts the files from 1, `path` is for display, and `name` is the file name. `error`
    contains a code and a message if the file cannot be imported. `is_ignored` is True for files
    that operating systems add, which are not documents.
    """

    number: int
    path: str
    name: str
    error: tuple[str, str] | None
    is_ignored: bool


class _LimitedFile:
    """A file wrapper whose `read` raises ImportFileError for sizes above `MAX_DIRECTORY_BYTES`.

    zipfile reads the directory of an archive in one call.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        if size > MAX_DIRECTORY_BYTES:
            raise ImportFileError(
                "The ZIP file has too many files. Split it into several ZIP files."
            )
        return self._file.read(size)

    def seek(self, offset: int, whence: int = SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True


class Archive:
    """A ZIP archive and its `entries`, which do not include folders.

    `size` is the size of the archive in bytes. Raises ImportFileError if the archive is damaged, or
    if its directory is too large.
    """

    def __init__(self, file: BinaryIO, size: int) -> None:
        try:
            self._zip = ZipFile(cast("BinaryIO", _LimitedFile(file)))
        except (BadZipFile, UnicodeDecodeError, NotImplementedError, ValueError, OverflowError):
            raise ImportFileError(_DAMAGED_MESSAGE) from None
        # Not `is_dir`, which raises IndexError for a file without a name.
        self._infos = [info for info in self._zip.infolist() if not info.filename.endswith("/")]
        self.entries = list(_build_entries(self._infos, size))

    def read(self, entry: ArchiveEntry) -> Iterator[bytes]:
        """Yield the content of a file in chunks. Raises DamagedEntryError for a damaged file."""
        try:
            with self._zip.open(self._infos[entry.number - 1]) as stream:
                while chunk := stream.read(_CHUNK_BYTES):
                    yield chunk
        except (BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, zlib.error):
            raise DamagedEntryError from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()


def _build_entries(infos: list[ZipInfo], archive_size: int) -> Iterator[ArchiveEntry]:
    unpacked_size, limit = 0, max(BASE_UNPACKED_LIMIT_BYTES, MAX_UNPACKED_RATIO * archive_size)
    for number, info in enumerate(infos, start=1):
        # A file cannot have more bytes than its entry states, because reading stops there.
        unpacked_size += info.file_size
        name = _decode_name(info)
        path = PurePosixPath(name)
        error = _find_error(info, path, archive_size)
        if error is None and unpacked_size > limit:
            error = (
                "too_large_unpacked",
                f"The files in the archive exceed the limit of {limit} unpacked bytes.",
            )
        display_path = name.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
        is_ignored = path.name in _IGNORED_NAMES or not _IGNORED_FOLDERS.isdisjoint(path.parts)
        yield ArchiveEntry(number, display_path[:MAX_PATH_CHARS], path.name, error, is_ignored)


def _decode_name(info: ZipInfo) -> str:
    """Decode the path of a file in an archive.

    macOS stores names as UTF-8 without the flag for UTF-8, and with decomposed accents. Without the
    flag, zipfile decodes names as code page 437. Names that are really in code page 437 are rarely
    valid UTF-8.
    """
    if info.flag_bits & _UTF8_FLAG:
        return info.filename
    with suppress(UnicodeError):
        return normalize("NFC", info.filename.encode("cp437").decode())
    return info.filename


def _find_error(info: ZipInfo, path: PurePosixPath, archive_size: int) -> tuple[str, str] | None:
    # zipfile would seek to an invalid position, which looks like a failure of the storage.
    if not 0 <= info.header_offset < archive_size:
        return "unreadable", "The file is damaged."
    if info.flag_bits & _ENCRYPTED_FLAG:
        return "password_protected", "The file is encrypted; remove its password."
    has_drive = path.parts[:1] != () and path.parts[0].endswith(":")
    is_unsafe = path.is_absolute() or ".." in path.parts or "\\" in info.filename or has_drive
    if is_unsafe or "\x00" in info.orig_filename:  # zipfile truncates `filename` at NUL
        return UNPROCESSABLE, "The path must be relative and must not contain `..`, `\\` or NUL."
    if stat.S_ISLNK(info.external_attr >> 16):
        return UNPROCESSABLE, "The file is a symbolic link."
    if info.compress_type not in _COMPRESSION_METHODS:
        return UNPROCESSABLE, "The compression method is not supported; use deflate."
    return None
