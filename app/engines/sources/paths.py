"""Encode the names of a source as safe paths, and decode these paths.

File names are arbitrary bytes. A path shows them as text in which `%XX` represents a byte that
could mislead a program or a reader: control characters, characters that change the direction of
text, bytes that are not UTF-8, a `/` within a name, and the names `.` and `..`. An empty name,
which object stores allow, becomes `%2F`. A `%` that looks like such an escape is escaped itself.
All other characters are unchanged, so the path of `Ärger 50%.pdf` is the same text. Each name has
exactly one path, and the path determines the name.
"""

import re
import unicodedata

_ESCAPE = re.compile(rb"%([0-9A-F]{2})")
_AMBIGUOUS = re.compile(rb"%(?=[0-9A-F]{2})")
_UNSAFE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# These characters join emojis and the letters of some scripts, and have no other effect.
_JOINERS = "\u200c\u200d"


def encode_name(name: bytes, reserved: str = "") -> str:
    """Encode the name of a folder or document as one segment of a path.

    `reserved` contains additional characters to escape.
    """
    if name in (b".", b".."):
        return "%2E" * len(name)
    text = _AMBIGUOUS.sub(b"%25", name).decode("utf-8", "surrogateescape")
    return "".join(_escape(char) if _is_unsafe(char, reserved) else char for char in text)


def encode_key(key: bytes) -> str:
    """Encode the key of an object as a path. Its empty segments become `%2F`."""
    segments: list[str] = []
    slashes = ""
    for segment in key.split(b"/"):
        if segment:
            segments.append(slashes + encode_name(segment))
            slashes = ""
        else:
            slashes += "%2F"
    # Of the slashes at the end of a key, the first is a separator; the others are the last name.
    if slashes:
        segments.append(slashes.removesuffix("%2F"))
    return "/".join(segments)


def decode_path(path: str) -> bytes:
    """Decode a path to the name or key that it represents."""
    encoded_path = path.encode("utf-8", "replace")
    return _ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), encoded_path)


def is_valid_name(name: bytes) -> bool:
    """Return whether a name from a host is a valid name for an entry of a folder."""
    return name not in (b"", b".", b"..") and b"/" not in name and b"\x00" not in name


def split_path(path: str) -> list[bytes] | None:
    """Split a path into its decoded names, or return None if a name is invalid."""
    names = [decode_path(segment) for segment in path.split("/")] if path else []
    return names if all(is_valid_name(name) for name in names) else None


def _is_unsafe(char: str, reserved: str) -> bool:
    if char == "/" or char in reserved:
        return True
    return unicodedata.category(char) in _UNSAFE_CATEGORIES and char not in _JOINERS


def _escape(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogateescape"))
