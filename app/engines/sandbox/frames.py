"""Define the messages: frames from process to caller, reports from server to caller.

A frame is one byte for its type, four bytes for the length of its payload, and the payload.
"""

import os
import struct
from typing import NamedTuple

FRAME_HEADER = struct.Struct(">cI")

STARTED = b"S"
"""The first report about a process: it is running."""

_EXIT_REPORT = struct.Struct(">idqq")


class ExitReport(NamedTuple):
    """The last report about a process: how it ended and which resources it used."""

    code: int
    """The exit status, or the negative number of the signal that ended the process."""
    cpu_seconds: float
    peak_bytes: int
    inherited_bytes: int
    """The part of the peak that may be memory inherited from the server."""

    def encode(self) -> bytes:
        """Return the report as bytes."""
        return _EXIT_REPORT.pack(*self)


def decode_exit_report(data: bytes) -> ExitReport:
    """Decode a report that `ExitReport.encode` returned."""
    return ExitReport(*_EXIT_REPORT.unpack(data))


def write_frame(descriptor: int, frame_type: bytes, payload: bytes = b"") -> None:
    """Write one frame. Blocks while the reader is busy."""
    for data in (FRAME_HEADER.pack(frame_type, len(payload)), payload):
        unwritten = memoryview(data)
        while unwritten:
            unwritten = unwritten[os.write(descriptor, unwritten) :]
