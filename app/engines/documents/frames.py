"""How the child process tells its parent: frames of one kind byte, a length, a payload."""

import os
import struct

import orjson

PAGE = b"P"  # JSON, one page of a paged document
TEXT = b"T"  # UTF-8, the whole text of a flowing document
IMAGE = b"I"  # the bytes of a rendered page
DONE = b"D"  # empty: everything was sent
FAILED = b"F"  # JSON {code, message}
MISSING = b"M"  # JSON {count}: there is no page of the number asked for
KINDS = frozenset((PAGE, TEXT, IMAGE, DONE, FAILED, MISSING))
HEADER = struct.Struct(">cI")


def write(descriptor: int, kind: bytes, payload: bytes = b"") -> None:
    """Write one frame; blocks while the parent is busy."""
    for part in (HEADER.pack(kind, len(payload)), payload):
        view = memoryview(part)
        while view:
            view = view[os.write(descriptor, view) :]


def write_json(descriptor: int, kind: bytes, message: dict[str, object]) -> None:
    """Write one frame whose payload is JSON."""
    write(descriptor, kind, orjson.dumps(message))
