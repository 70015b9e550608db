"""The values that the sandbox takes and the errors that it raises."""

import errno
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

DONE = b"D"
"""The frame type that ends every complete result. Its payload is empty."""

MAX_REQUEST_BYTES = 60_000
"""The largest request: the name of the entry function, its arguments and the limits, as JSON."""

Send = Callable[[bytes, bytes], None]
"""How an entry function sends one frame: its type (one byte) and its payload."""

FailureReason = Literal["wall_time", "cpu_time", "memory", "crashed", "protocol"]


class ProcessFailed(Exception):  # noqa: N818 - it is the outcome that it names
    """The sandboxed process did not complete its work.

    `reason` says why: it exceeded a limit (`wall_time`, `cpu_time`, `memory`), it ended early
    (`crashed`), or it sent an invalid frame (`protocol`). `detail` names the signal or the exit
    status of a process that crashed.
    """

    def __init__(self, reason: FailureReason, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason: FailureReason = reason
        self.detail = detail


class SandboxUnavailable(OSError):  # noqa: N818 - it is the outcome that it names
    """No process could be started, or the fork server ended during the call.

    This says nothing about the document: try again later. Its `errno` is EAGAIN.
    """

    def __init__(self, message: str) -> None:
        super().__init__(errno.EAGAIN, message)


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """What one sandboxed process may use.

    `memory_bytes` limits its address space, which includes about 80 MB of libraries, and
    `cpu_seconds` its processor time. `wall_seconds` limits how long the caller waits for it;
    the time that the caller spends between two frames does not count. `frame_bytes` limits the
    size of each frame that it sends.
    """

    memory_bytes: int
    cpu_seconds: int
    wall_seconds: float
    frame_bytes: int


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How a fork server works.

    `preload` are the modules that it imports before it forks, and the only ones with entry
    functions. At most `max_processes` run at once; further requests wait. After
    `max_processes_in_all` the server is replaced. After `idle_seconds` without work it ends, and
    comes back with the next request; with None it stays. `nice` lowers its priority and that of
    its processes.
    """

    preload: tuple[str, ...]
    max_processes: int
    max_processes_in_all: int
    idle_seconds: float | None
    nice: int = 0
