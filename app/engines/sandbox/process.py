"""Communicate with a sandboxed process: read frames, enforce its time limit, explain failures."""

import os
import select
import signal
import socket
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from app.engines.sandbox.model import (
    DONE,
    FRAME_HEADER,
    ExitReport,
    ProcessFailed,
    ProcessLimits,
    SandboxUnavailable,
    decode_exit_report,
    has_event,
)

_CHUNK_BYTES = 1 << 16  # the capacity of a pipe; a larger buffer costs time
_REPORT_BYTES = 64
# A process that has closed its pipe is exiting, which takes less than this time.
_EXIT_WAIT_SECONDS = 2.0
# A server reaps a process immediately unless the machine is very busy.
_REAP_WAIT_SECONDS = 15.0
# A process that is killed above this fraction of its memory limit probably ran out of memory.
_MEMORY_FAILURE_FRACTION = 0.5
_MAX_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Channel:
    """The connection to a process: a pipe for results, and a socket for reports about it."""

    results_fd: int
    reports: socket.socket

    def close(self) -> None:
        """Close both descriptors. The server then kills the process if it is still running."""
        os.close(self.results_fd)
        self.reports.close()


class ServerLost(Exception):  # noqa: N818 - named after the outcome
    """The server exited, or did not report in time that the process of this call has exited."""


class SandboxedProcess:
    """A running process. Leaving its context kills it if necessary, and waits for its exit."""

    def __init__(self, open_channel: Callable[[], Channel], limits: ProcessLimits) -> None:
        self._open_channel = open_channel
        self._limits = limits
        self._channel: Channel | None = None
        self._start()

    def _start(self) -> None:
        self._buffer = bytearray()
        self._remaining_seconds = self._limits.wall_seconds
        self._channel = self._open_channel()
        self._poll = select.poll()
        self._poll.register(self._channel.results_fd, select.POLLIN)
        self._poll.register(self._channel.reports, select.POLLIN)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._channel is not None:
            with suppress(ServerLost):
                self._wait_for_exit(0)
            self._close()

    def _close(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def iterate_frames(self, frame_types: Collection[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Yield (type, payload) for each frame that the entry function sends, until it returns.

        Only the types in `frame_types` are allowed. If the server exits before the first frame, the
        call is restarted. Raises `ProcessFailed` if the process does not complete its work, and
        `SandboxUnavailable` if the server exits later or repeatedly.
        """
        attempts, has_yielded = 1, False
        while True:
            try:
                frame_type, payload = self._read_frame()
            except ServerLost:
                self._close()
                if has_yielded or attempts == _MAX_ATTEMPTS:
                    raise SandboxUnavailable("The fork server exited during the call.") from None
                attempts += 1
                self._start()
                continue
            if frame_type == DONE:
                return
            if frame_type not in frame_types:
                raise ProcessFailed("protocol")
            has_yielded = True
            yield frame_type, payload

    def _read_frame(self) -> tuple[bytes, bytes]:
        frame_type, length = FRAME_HEADER.unpack(self._read_bytes(FRAME_HEADER.size))
        if length > self._limits.frame_bytes:
            raise ProcessFailed("protocol")
        return frame_type, self._read_bytes(length)

    def _read_bytes(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._read_chunk()
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        return data

    def _read_chunk(self) -> None:
        """Read more data from the process, or raise the failure that explains the missing data."""
        channel = self._channel
        assert channel is not None
        started_at = time.monotonic()
        milliseconds = max(0.0, self._remaining_seconds) * 1000
        readable = [descriptor for descriptor, _ in self._poll.poll(milliseconds)]
        if not readable or self._remaining_seconds <= 0:
            raise ProcessFailed("wall_time")
        self._remaining_seconds -= time.monotonic() - started_at
        # The exit report may arrive while data that was sent earlier is still in the pipe.
        results_fd = channel.results_fd
        if results_fd in readable or results_fd in [d for d, _ in self._poll.poll(0)]:
            data = os.read(results_fd, _CHUNK_BYTES)
            if data:
                self._buffer += data
                return
        raise self._explain_exit(self._wait_for_exit(_EXIT_WAIT_SECONDS))

    def _wait_for_exit(self, seconds: float) -> ExitReport:
        """Wait for the exit report and return it.

        A process that is still running after `seconds` is killed. Raises `ServerLost` if the report
        does not arrive.
        """
        assert self._channel is not None
        reports = self._channel.reports
        if not has_event(reports, select.POLLIN, seconds):
            with suppress(OSError):
                reports.shutdown(socket.SHUT_WR)
            if not has_event(reports, select.POLLIN, _REAP_WAIT_SECONDS):
                raise ServerLost
        try:
            data = reports.recv(_REPORT_BYTES)
        except ConnectionError:
            raise ServerLost from None
        if not data:
            raise ServerLost
        return decode_exit_report(data)

    def _explain_exit(self, report: ExitReport) -> ProcessFailed:
        """Return the exception that explains why a process exited early."""
        limits, code = self._limits, report.code
        if code == -signal.SIGXCPU or (code < 0 and report.cpu_seconds >= limits.cpu_seconds):
            return ProcessFailed("cpu_time")
        memory_threshold = max(
            _MEMORY_FAILURE_FRACTION * limits.memory_bytes, report.inherited_bytes
        )
        if code < 0 and report.peak_bytes > memory_threshold:
            return ProcessFailed("memory")
        return ProcessFailed(
            "crashed", _get_signal_name(-code) if code < 0 else f"exit status {code}"
        )


def _get_signal_name(signal_number: int) -> str:
    try:
        return signal.Signals(signal_number).name
    except ValueError:
        return f"signal {signal_number}"
