"""Define the values, errors and messages of the sandbox.

A process sends frames to its caller. A frame has one byte for the type, four bytes for the length
of the payload, and the payload. The server sends reports about the process: `STARTED` and
`ExitReport`.
"""

import errno
import os
import select
import socket
import struct
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

FRAME_HEADER = struct.Struct(">cI")

DONE = b"D"
"""The type of the last frame of a complete result; its payload is empty."""

STARTED = b"S"
"""The first report about a process: it means that the process has started."""

MAX_REQUEST_BYTES = 60_000
"""The maximum size of a request in bytes: entry function, arguments and limits as JSON."""

Send = Callable[[bytes, bytes], None]
"""The function that an entry function calls to send a frame: type (one byte) and payload."""

_EXIT_REPORT = struct.Struct(">idqq")

FailureReason = Literal["wall_time", "cpu_time", "memory", "crashed", "protocol"]


class ProcessFailed(Exception):  # noqa: N818 - named after the outcome
    """The sandboxed process did not complete its work.

    `reason` is the cause: the process exceeded a limit (`wall_time`, `cpu_time`, `memory`), exited
    early (`crashed`), or sent an invalid frame (`protocol`). `detail` is the signal or exit status
    of a process that crashed.
    """

    def __init__(self, reason: FailureReason, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason: FailureReason = reason
        self.detail = detail


class SandboxUnavailable(OSError):  # noqa: N818 - named after the outcome
    """No process could be started, or the fork server exited during the call.

    The document is not the cause, so the caller should try again later. `errno` is EAGAIN.
    """

    def __init__(self, message: str) -> None:
        super().__init__(errno.EAGAIN, message)


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """The resource limits for one sandboxed process.

    `memory_bytes` limits the address space, which includes about 80 MB of libraries. `cpu_seconds`
    limits the processor time. `wall_seconds` limits how long the caller waits for the process,
    excluding the time that the caller spends between two frames. `frame_bytes` limits the payload
    of each frame that the process sends. The process can start threads only if `may_start_threads`
    is true and the kernel can forbid new processes without forbidding threads.
    """

    memory_bytes: int
    cpu_seconds: int
    wall_seconds: float
    frame_bytes: int
    may_start_threads: bool = False

    def encode(self) -> dict[str, Any]:
        """Encode the limits for a request as a dict, which `decode_process_limits` decodes."""
        limits = asdict(self)
        # During an upgrade, the caller and the server can belong to different releases. This is the
        # name that the previous release uses.
        limits["threads"] = limits.pop("may_start_threads")
        return limits


def decode_process_limits(limits: dict[str, Any]) -> ProcessLimits:
    """Decode the limits of a request from a dict that `ProcessLimits.encode` returned."""
    values = dict(limits)
    return ProcessLimits(may_start_threads=values.pop("threads"), **values)


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """The options of a fork server.

    `preload` lists the modules that the server imports before it forks; only these modules can
    contain entry functions. At most `max_processes` processes run at the same time; further
    requests wait. After starting `max_total_processes` processes, the server is replaced. After
    `idle_seconds` without work, the server exits, and the next request starts it again; if
    `idle_seconds` is None, it keeps running. `nice` lowers the priority of the server and its
    processes.
    """

    preload: tuple[str, ...]
    max_processes: int
    max_total_processes: int
    idle_seconds: float | None
    nice: int = 0


class ExitReport(NamedTuple):
    """The last report about a process: how it exited and which resources it used."""

    code: int
    """The exit status, or the negative number of the signal that killed the process."""
    cpu_seconds: float
    peak_bytes: int
    inherited_bytes: int
    """The part of the peak memory that may be inherited from the server."""

    def encode(self) -> bytes:
        """Encode the report as bytes, which `decode_exit_report` decodes."""
        return _EXIT_REPORT.pack(*self)


def decode_exit_report(data: bytes) -> ExitReport:
    """Decode an exit report from bytes that `ExitReport.encode` returned."""
    return ExitReport(*_EXIT_REPORT.unpack(data))


def has_event(descriptor: int | socket.socket, events: int, seconds: float = 0.0) -> bool:
    """Wait at most `seconds` for a poll event, and return whether an event has occurred.

    `events` is a bit mask of events. The closing of the other end also counts as an event.
    """
    poll = select.poll()
    poll.register(descriptor, events)
    return bool(poll.poll(max(0.0, seconds) * 1000))


def write_frame(descriptor: int, frame_type: bytes, payload: bytes = b"") -> None:
    """Write one frame to a pipe, and wait while the pipe is full."""
    buffers = [memoryview(FRAME_HEADER.pack(frame_type, len(payload))), memoryview(payload)]
    while buffers:
        count = os.writev(descriptor, buffers)  # one write, because each write wakes the reader
        while buffers and count >= len(buffers[0]):
            count -= len(buffers.pop(0))
        if buffers:
            buffers[0] = buffers[0][count:]
