"""Encode and decode the frames and examples that the parent and the child send through pipes."""

import struct
from typing import IO, Any

import orjson

from app.engines.extraction.model import Document, Example, SourceWord

_LENGTH = struct.Struct(">Q")


def write_frame(stream: IO[bytes], payload: bytes) -> None:
    """Write a frame: the length of the payload, then the payload."""
    stream.write(_LENGTH.pack(len(payload)))
    stream.write(payload)


def read_frame(stream: IO[bytes]) -> bytes | None:
    """Read a frame, and return its payload, or None if the stream ends before the frame does."""
    length_bytes = stream.read(_LENGTH.size)
    if len(length_bytes) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(length_bytes)
    payload = stream.read(length)
    return payload if len(payload) == length else None


def encode_example(example: Example) -> bytes:
    """Encode an example as JSON; `decode_example` reverses this."""
    return orjson.dumps(example, default=list)  # orjson does not encode named tuples


def decode_example(payload: bytes) -> Example:
    """Decode an example from JSON that `encode_example` returned."""
    fields: dict[str, Any] = orjson.loads(payload)
    words = [
        SourceWord(text, page, None if box is None else tuple(box), start, end)
        for text, page, box, start, end in fields["document"]["words"]
    ]
    return Example(**{**fields, "document": Document(fields["document"]["text"], words)})
