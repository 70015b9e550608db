"""Start fork servers, and send requests to them over an inherited socket."""

import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import BinaryIO

import orjson

from app.engines import interpreter
from app.engines.sandbox.launcher import START_NOW, START_ON_DEMAND
from app.engines.sandbox.model import (
    MAX_REQUEST_BYTES,
    STARTED,
    ProcessLimits,
    SandboxUnavailable,
    ServerOptions,
    has_event,
)
from app.engines.sandbox.process import Channel, SandboxedProcess

_LAUNCHER = Path(__file__).with_name("launcher.py")
# A server imports its libraries within a second, but a very busy machine needs much longer.
_START_SECONDS = 30.0
_RETRY_SECONDS = 0.02
_STOP_SECONDS = 3.0


class ForkServer:
    """A client for a fork server. The server starts on first use or with `start`.

    Processes forked after the start share the server, because they inherit the socket to it. The
    server exits after the last process that uses it has exited or called `stop`. This class is
    thread-safe.
    """

    def __init__(
        self,
        preload: tuple[str, ...],
        *,
        max_processes: int,
        max_total_processes: int,
        idle_seconds: float | None,
    ) -> None:
        self._options = ServerOptions(preload, max_processes, max_total_processes, idle_seconds)
        self._control: socket.socket | None = None
        self._launcher: subprocess.Popen[bytes] | None = None
        self._lock = Lock()
        os.register_at_fork(after_in_child=self._reset_after_fork)

    def _reset_after_fork(self) -> None:
        """Replace the lock in a forked process, because a thread of the parent may hold it."""
        self._lock = Lock()
        self._launcher = None  # belongs to the parent process

    def start(
        self,
        *,
        max_processes: int | None = None,
        idle_seconds: float | None = None,
        nice: int = 0,
    ) -> None:
        """Start the server unless it is running, and return before it is ready.

        Call this in a long-lived process before it forks the processes that use the server. A
        second call is cheap, and replaces a server that has exited. If `idle_seconds` is set, only
        the launcher starts now, and the server starts with the first request. `max_processes`
        keeps its value if it is None. See `ServerOptions` for the arguments.
        """
        with self._lock:
            # With an event mask of 0, poll still reports that the other end is closed.
            if self._control is not None and has_event(self._control, 0):
                self._disconnect()
            if self._control is None:
                # Store the options, because a server that replaces this server needs them.
                self._options = replace(self._options, idle_seconds=idle_seconds, nice=nice)
                if max_processes is not None:
                    self._options = replace(self._options, max_processes=max_processes)
                self._launch(START_NOW if idle_seconds is None else START_ON_DEMAND)

    def stop(self) -> None:
        """Disconnect from the server.

        The server and its processes exit unless another process uses the server.
        """
        with self._lock:
            self._disconnect()

    def run(
        self,
        entry: str,
        *,
        document: BinaryIO,
        arguments: Mapping[str, object],
        limits: ProcessLimits,
    ) -> SandboxedProcess:
        """Call an entry function in a new process, and return the process as a context manager.

        `entry` is `module:function` of a preloaded module. The function receives the open document,
        positioned at its beginning, and `arguments`, which must be serializable as JSON. Raises
        `SandboxUnavailable` if no process could be started, and ValueError if the request has more
        than `MAX_REQUEST_BYTES` bytes.
        """
        request = orjson.dumps({"entry": entry, "arguments": arguments, "limits": limits.encode()})
        if len(request) > MAX_REQUEST_BYTES:
            raise ValueError(f"a request must have at most {MAX_REQUEST_BYTES} bytes")
        return SandboxedProcess(partial(self._open_channel, request, document), limits)

    def _open_channel(self, request: bytes, document: BinaryIO) -> Channel:
        """Open the channel to a new process: send the request, and wait until the process starts.

        If the server exits in the meantime, the request is sent to a new server. Raises
        `SandboxUnavailable` if no process starts within `_START_SECONDS`.
        """
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            document.seek(0)  # a process that was killed may have read the document
            # These errors mean that the server has exited or that its request queue is full.
            with suppress(ConnectionError, BlockingIOError):
                channel = self._request_process(request, document, deadline)
                if channel is not None:
                    return channel
            time.sleep(_RETRY_SECONDS)
        raise SandboxUnavailable("The fork server did not start a process in time.")

    def _request_process(
        self, request: bytes, document: BinaryIO, deadline: float
    ) -> Channel | None:
        """Request a process; return the channel to it, or None if the process does not start."""
        with ExitStack() as caller_ends, ExitStack() as server_ends:
            results_fd, server_results_fd = os.pipe()
            caller_ends.callback(os.close, results_fd)
            server_ends.callback(os.close, server_results_fd)
            reports, server_reports = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            caller_ends.callback(reports.close)
            server_ends.callback(server_reports.close)
            descriptors = [server_results_fd, server_reports.fileno(), document.fileno()]
            self._send_request(request, descriptors)
            # While the caller has these ends open, it does not notice when the process closes them.
            server_ends.close()
            if _wait_for_start(reports, deadline):
                caller_ends.pop_all()
                return Channel(results_fd, reports)
        return None

    def _send_request(self, request: bytes, descriptors: list[int]) -> None:
        with self._lock:
            if self._control is None:
                self._launch(START_NOW)
                assert self._control is not None
            try:
                socket.send_fds(self._control, [request], descriptors)
            except ConnectionError:
                self._disconnect()
                raise

    def _disconnect(self) -> None:
        """Close the socket to the server, and wait for the launcher if this process started it."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._launcher is not None:
            with suppress(subprocess.TimeoutExpired):
                self._launcher.wait(_STOP_SECONDS)
            self._launcher = None

    def _launch(self, start_mode: str) -> None:
        caller_end, server_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with server_end, ExitStack() as stack:
            stack.callback(caller_end.close)
            server = interpreter.build_command("app.engines.sandbox.server")
            descriptor = str(server_end.fileno())
            self._launcher = subprocess.Popen(  # noqa: S603 - our own interpreter and modules
                [
                    *(sys.executable, "-I", "-S", str(_LAUNCHER), descriptor, start_mode),
                    *(*server, descriptor, orjson.dumps(self._options).decode()),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[server_end.fileno()],
                env=interpreter.build_environment(),
                cwd="/",
                start_new_session=True,  # Ctrl-C in a terminal must only reach the service
            )
            stack.pop_all()
        caller_end.settimeout(0)
        self._control = caller_end


def _wait_for_start(reports: socket.socket, deadline: float) -> bool:
    """Wait until the process starts, and return whether it started before `deadline`.

    Returns False at once if the server exits or refuses the request. `deadline` is a
    `time.monotonic()` value.
    """
    if not has_event(reports, select.POLLIN, deadline - time.monotonic()):
        return False
    with suppress(ConnectionError):
        return reports.recv(1) == STARTED
    return False
