"""Encode the examples and results that the parent and the child exchange through pipes."""

import struct
from typing import Any, BinaryIO

import orjson

from app.engines.extraction import Document, Example, SourceWord

_LENGTH = struct.Struct(">Q")


def write_frame(stream: BinaryIO, payload: bytes) -> None:
    """Write a payload after its length."""
    stream.write(_LENGTH.pack(len(payload)))
    stream.write(payload)


def read_frame(stream: BinaryIO) -> bytes | None:
    """Return the next payload, or None at the end of the stream."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    payload = stream.read(length)
    return payload if len(payload) == length else None


def encode_example(example: Example) -> bytes:
    """Return an example as JSON."""
    document = example.document
    return orjson.dumps(
        {
            "id": example.id,
            "revision": example.revision,
            "tags": list(example.tags),
            "labeler_id": example.labeler_id,
            "accepted_at": example.accepted_at,
            "text": document.text,
            "language": document.language,
            "words": [
                [word.text, word.page, word.box, word.start, word.end] for word in document.words
            ],
        }
    )


def decode_example(payload: bytes) -> Example:
    """Return the example that `encode_example` encoded."""
    fields: dict[str, Any] = orjson.loads(payload)
    words = [
        SourceWord(text, page, None if box is None else tuple(box), start, end)
        for text, page, box, start, end in fields["words"]
    ]
    document = Document(fields["text"], words, fields["language"])
    return Example(
        fields["id"],
        fields["revision"],
        document,
        fields["tags"],
        fields["labeler_id"],
        fields["accepted_at"],
    )
