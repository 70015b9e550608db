"""The caller's side of a sandboxed process: its frames, its limits in time, and how it ended."""

import os
import select
import signal
import socket
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from app.engines.sandbox.frames import FRAME_HEADER, ExitReport, decode_exit
from app.engines.sandbox.model import DONE, ProcessFailed, ProcessLimits, SandboxUnavailable

_CHUNK = 1 << 20
_REPORT_BYTES = 64
# A process whose pipe has ended is on its way out. It does not take longer than this.
_EXIT_PATIENCE_SECONDS = 2.0
# A server collects a process at once, unless the machine is very busy.
_COLLECT_PATIENCE_SECONDS = 15.0
# Above this share of its memory limit, a process that dies of a signal is taken to have run out.
_MEMORY_SUSPECT = 0.5
_LONGEST_TRIES = 3


@dataclass(frozen=True, slots=True)
class Channel:
    """The descriptors between caller and process."""

    results: int
    reports: socket.socket

    def close(self) -> None:
        """Close both; the server then kills the process if it still runs."""
        os.close(self.results)
        self.reports.close()


class ServerLost(Exception):  # noqa: N818 - it is the outcome that it names
    """The server ended, and the process with it."""


class SandboxedProcess:
    """A process at work. A context manager: after it, the process has ended, whatever happened."""

    def __init__(self, open_channel: Callable[[], Channel], limits: ProcessLimits) -> None:
        self._open_channel = open_channel
        self._limits = limits
        self._channel: Channel | None = None
        self._start()

    def _start(self) -> None:
        self._buffer = bytearray()
        self._left = self._limits.wall_seconds
        self._channel = self._open_channel()
        self._poll = select.poll()
        self._poll.register(self._channel.results, select.POLLIN)
        self._poll.register(self._channel.reports, select.POLLIN)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._channel is not None:
            with suppress(ServerLost):
                self._wait_for_exit(0)
            self._close()

    def _close(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def frames(self, kinds: Collection[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Yield the frames that the entry function sends, until it is done.

        Each has one of these `kinds`. When the server dies before the first frame, the call starts
        again. Raises `ProcessFailed`; `SandboxUnavailable` when the server dies later, or often.
        """
        tries, yielded = 1, False
        while True:
            try:
                kind, payload = self._read_frame()
            except ServerLost:
                self._close()
                if yielded or tries == _LONGEST_TRIES:
                    raise SandboxUnavailable("The fork server ended during the call.") from None
                tries += 1
                self._start()
                continue
            if kind == DONE:
                return
            if kind not in kinds:
                raise ProcessFailed("protocol")
            yielded = True
            yield kind, payload

    def _read_frame(self) -> tuple[bytes, bytes]:
        kind, length = FRAME_HEADER.unpack(self._take(FRAME_HEADER.size))
        if length > self._limits.frame_bytes:
            raise ProcessFailed("protocol")
        return kind, self._take(length)

    def _take(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._fill()
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    def _fill(self) -> None:
        """Read what the process has sent, or raise what its silence or its end means."""
        channel = self._channel
        assert channel is not None
        begun = time.monotonic()
        ready = [descriptor for descriptor, _ in self._poll.poll(max(0.0, self._left) * 1000)]
        if not ready or self._left <= 0:
            raise ProcessFailed("wall_time")
        self._left -= time.monotonic() - begun
        # The report of its end may have come first, but what it sent before is in the pipe.
        if channel.results in ready or channel.results in [d for d, _ in self._poll.poll(0)]:
            data = os.read(channel.results, _CHUNK)
            if data:
                self._buffer += data
                return
        raise self._explain(self._wait_for_exit(_EXIT_PATIENCE_SECONDS))

    def _wait_for_exit(self, patience: float) -> ExitReport:
        """Return how the process ended. After `patience` seconds it is killed.

        Raises `ServerLost` when nobody can tell.
        """
        assert self._channel is not None
        reports = self._channel.reports
        if not _is_readable(reports, patience):
            with suppress(OSError):
                reports.shutdown(socket.SHUT_WR)
            if not _is_readable(reports, _COLLECT_PATIENCE_SECONDS):
                raise ServerLost
        try:
            data = reports.recv(_REPORT_BYTES)
        except ConnectionError:
            raise ServerLost from None
        if not data:
            raise ServerLost
        return decode_exit(data)

    def _explain(self, report: ExitReport) -> ProcessFailed:
        """Return why a process ended before it was done."""
        limits, code = self._limits, report.code
        if code == -signal.SIGXCPU or (code < 0 and report.cpu_seconds >= limits.cpu_seconds):
            return ProcessFailed("cpu_time")
        suspect = max(_MEMORY_SUSPECT * limits.memory_bytes, report.inherited_bytes)
        if code < 0 and report.peak_bytes > suspect:
            return ProcessFailed("memory")
        return ProcessFailed("crashed", _name(-code) if code < 0 else f"exit status {code}")


def _is_readable(reports: socket.socket, seconds: float) -> bool:
    poll = select.poll()
    poll.register(reports, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
