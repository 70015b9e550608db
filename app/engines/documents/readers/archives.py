"""Check ZIP-based office files before a library unpacks them, and open them."""

import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from lxml import etree  # type: ignore[import-untyped]

from app.engines.documents.media import COMPOUND_FILE_SIGNATURE
from app.engines.documents.model import Limits, ParseFailed

_MAX_ENTRIES = 10_000
_CHUNK_BYTES = 1 << 16
_ENCRYPTED_FLAG = 0x1
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")

InspectChunk = Callable[[str, bytes], None]
"""A callback that receives an entry's name and the next chunk of its unpacked content."""


def check_archive(
    file: BinaryIO,
    limits: Limits,
    *,
    damaged_message: str,
    older_format_message: str,
    inspect: InspectChunk | None = None,
) -> None:
    """Check an archive, and reject it if it is damaged, encrypted, or too large when unpacked.

    An archive with too many entries is also too large. The size is measured while unpacking,
    because the declared sizes may be wrong. `damaged_message` is the error message for files that
    are not valid archives; `older_format_message` is the error message for compound files (the
    format of older Office files) without a password. `inspect` receives all content while it is
    measured. Raises `ParseFailed` (`password_protected`, `too_large_unpacked`, `unreadable`).
    """
    file.seek(0)
    if file.read(len(COMPOUND_FILE_SIGNATURE)) == COMPOUND_FILE_SIGNATURE:
        if is_encrypted_package(file):
            raise build_password_error()
        raise ParseFailed("unreadable", older_format_message)
    try:
        with zipfile.ZipFile(file) as archive:
            _check_entries(archive, limits, inspect)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
        raise ParseFailed("unreadable", damaged_message) from error


@contextmanager
def open_archive(file: BinaryIO, limits: Limits, message: str) -> Iterator[zipfile.ZipFile]:
    """Check an archive with `check_archive`, and open it. Raises `ParseFailed`.

    `message` is the error message for a damaged file. A file also counts as damaged if the `with`
    block reads an entry that does not exist, or parses invalid XML.
    """
    check_archive(file, limits, damaged_message=message, older_format_message=message)
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except (KeyError, etree.XMLSyntaxError) as error:
        raise ParseFailed("unreadable", message) from error


def parse_xml(data: bytes) -> etree._Element:
    """Parse XML and return the root element, without expanding entities or loading files.

    Raises `etree.XMLSyntaxError` if the XML is invalid.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    return etree.fromstring(data, parser)


def build_password_error() -> ParseFailed:
    """Build the error for an encrypted document."""
    return ParseFailed("password_protected", "The document is protected by a password.")


def is_encrypted_package(file: BinaryIO) -> bool:
    """Return whether a compound file contains a password-protected DOCX, XLSX or PPTX file."""
    file.seek(0)
    return _ENCRYPTED_PACKAGE in file.read()


def _check_entries(archive: zipfile.ZipFile, limits: Limits, inspect: InspectChunk | None) -> None:
    entries = archive.infolist()
    if len(entries) > _MAX_ENTRIES:
        raise ParseFailed("too_large_unpacked", f"The file has more than {_MAX_ENTRIES} entries.")
    bytes_left = limits.max_unpacked_bytes
    for entry in entries:
        if entry.flag_bits & _ENCRYPTED_FLAG:
            raise build_password_error()
        with archive.open(entry) as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                bytes_left -= len(chunk)
                if bytes_left < 0:
                    message = f"The unpacked file is larger than {limits.max_unpacked_bytes} bytes."
                    raise ParseFailed("too_large_unpacked", message)
                if inspect:
                    inspect(entry.filename, chunk)
