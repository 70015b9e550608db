"""Check ZIP-based office files before a library unpacks them."""

import zipfile
import zlib
from collections.abc import Callable
from typing import BinaryIO

from app.engines.documents.model import Limits, ParseFailed

COMPOUND_FILE = bytes.fromhex("d0cf11e0a1b11ae1")
"""The first bytes of older office files, and of newer password-protected office files."""

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

    The size is measured while unpacking, because the declared sizes may be wrong.
    `damaged_message` is the error message for files that are not valid archives;
    `older_format_message` is the error message for compound files without a password. `inspect`
    receives all content while it is measured. Raises `ParseFailed` (`password_protected`,
    `too_large_unpacked`, `unreadable`).
    """
    file.seek(0)
    if file.read(len(COMPOUND_FILE)) == COMPOUND_FILE:
        if is_encrypted_package(file):
            message = "The document is protected by a password."
            raise ParseFailed("password_protected", message)
        raise ParseFailed("unreadable", older_format_message)
    try:
        with zipfile.ZipFile(file) as archive:
            _check_entries(archive, limits, inspect)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
        raise ParseFailed("unreadable", damaged_message) from error


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
            raise ParseFailed("password_protected", "The document is protected by a password.")
        with archive.open(entry) as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                bytes_left -= len(chunk)
                if bytes_left < 0:
                    message = f"The unpacked file is larger than {limits.max_unpacked_bytes} bytes."
                    raise ParseFailed("too_large_unpacked", message)
                if inspect:
                    inspect(entry.filename, chunk)
