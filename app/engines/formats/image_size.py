"""Read the size of an image from its first bytes, without decoding it."""

from struct import error, unpack_from

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8"
# JPEG frame markers, whose segments contain the size; C4, C8 and CC are other segments.
_FRAME_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def read_image_size(data: bytes) -> tuple[int, int] | None:
    """Return width and height of a PNG or JPEG in pixels, or None if they cannot be read."""
    try:
        if data.startswith(_PNG):
            width, height = unpack_from(">II", data, 16)
            return width, height
        return _read_jpeg_size(data) if data.startswith(_JPEG) else None
    except error:  # the data is too short
        return None


def _read_jpeg_size(data: bytes) -> tuple[int, int] | None:
    position = len(_JPEG)
    while True:
        start, marker, length = unpack_from(">BBH", data, position)
        if start != 0xFF:  # noqa: PLR2004 - every segment starts with this byte
            return None
        if marker in _FRAME_MARKERS:
            height, width = unpack_from(">HH", data, position + 5)
            return width, height
        position += 2 + max(length, 2)
