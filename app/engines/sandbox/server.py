"""Run the fork server: import the libraries once, then fork a confined process per request.

The launcher starts the server with the arguments CONTROL_FD OPTIONS LAUNCHER_PID REPORT_FD. The
server never reads a document; it only passes the descriptors of documents to the processes. A
request is one message on the control socket. It carries the descriptors of the pipe for results,
the socket for reports, and the document. On the report socket, the caller receives `STARTED` when
the process is running, and an `ExitReport` when it has exited. When the caller closes its end of
the report socket, the process is killed.
"""

import gc
import importlib
import os
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, NoReturn

import orjson

from app.engines.sandbox import confinement
from app.engines.sandbox.launcher import READY, SUCCESSOR_REQUESTED
from app.engines.sandbox.model import (
    DONE,
    MAX_REQUEST_BYTES,
    STARTED,
    ExitReport,
    Send,
    ServerOptions,
    decode_process_limits,
    has_event,
    write_frame,
)

# The peak memory of a process includes the memory inherited from the server. The slack covers the
# difference between the measurements of this memory in the process and in the server.
_INHERITED_SLACK_BYTES = 8 << 20
_MAX_DESCRIPTORS = 3
_FAILED_STATUS = 70
# The signals that indicate a crash. A crash may reveal the memory layout, which all processes of a
# server share, so the server is replaced to give an attacker no second attempt.
_CRASH_SIGNALS = frozenset(
    (
        signal.SIGSEGV,
        signal.SIGBUS,
        signal.SIGABRT,
        signal.SIGILL,
        signal.SIGTRAP,
        signal.SIGFPE,
        signal.SIGSYS,
    )
)

EntryFunction = Callable[[BinaryIO, dict[str, Any], Send], None]


@dataclass(frozen=True, slots=True)
class _Child:
    """A running process, and the socket for reports about it."""

    pid: int
    reports: socket.socket


class _Server:
    """The fork server and its running processes."""

    def __init__(
        self, control: socket.socket, launcher_reports_fd: int, options: ServerOptions
    ) -> None:
        self._control = control
        self._launcher_reports_fd = launcher_reports_fd
        self._options = options
        self._ruleset_descriptor = confinement.create_file_rules()
        self._children: dict[int, _Child] = {}  # by the descriptor of the report socket
        self._remaining_forks = options.max_total_processes
        self._is_successor_requested = False
        self._is_draining = False
        self._idle_since = time.monotonic()
        self._poll = select.poll()
        self._wake_descriptor = self._install_signal_handlers()

    def serve(self) -> None:
        """Serve requests until the idle time has passed, or a successor is ready.

        In the second case, the running processes still finish their work. If the other end of the
        control socket is closed, this process exits immediately.
        """
        os.write(self._launcher_reports_fd, READY)
        while self._children or not self._is_draining:
            self._update_control_polling()
            events = self._poll.poll(self._compute_milliseconds_to_idle())
            if not events:  # the idle time has passed
                return
            for descriptor, _ in events:
                if descriptor == self._control.fileno():
                    self._accept_request()
                elif descriptor == self._wake_descriptor:
                    os.read(self._wake_descriptor, 1024)
                else:
                    self._kill_process(descriptor)
            self._reap_processes()

    def _install_signal_handlers(self) -> int:
        """Install the signal handlers; return a descriptor that becomes readable on each signal."""
        read_end, write_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGUSR1, self._start_draining)
        self._poll.register(read_end, select.POLLIN)
        return read_end

    def _start_draining(self, *_: object) -> None:
        self._is_draining = True

    def _update_control_polling(self) -> None:
        """Poll the control socket only while a slot is free and this server is not draining."""
        is_accepting = not self._is_draining and len(self._children) < self._options.max_processes
        self._poll.register(self._control, select.POLLIN if is_accepting else 0)

    def _compute_milliseconds_to_idle(self) -> float | None:
        idle_seconds = self._options.idle_seconds
        if idle_seconds is None or self._children:
            return None
        return max(0.0, self._idle_since + idle_seconds - time.monotonic()) * 1000 + 1

    def _accept_request(self) -> None:
        try:
            data, descriptors, flags, _ = socket.recv_fds(
                self._control, MAX_REQUEST_BYTES, _MAX_DESCRIPTORS
            )
        except BlockingIOError:  # another server took the request first
            return
        if not data:  # the other end of the socket is closed
            os._exit(0)
        try:
            if not flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
                self._fork_process(orjson.loads(data), *descriptors)
        except (OSError, ValueError, TypeError):  # the caller sees that the socket is closed
            return
        finally:
            for descriptor in descriptors:
                with suppress(OSError):
                    os.close(descriptor)

    def _fork_process(
        self, request: dict[str, Any], results_fd: int, reports_fd: int, document_fd: int
    ) -> None:
        if has_event(reports_fd, select.POLLRDHUP):  # the caller closed its end in the meantime
            return
        report_socket = socket.socket(fileno=os.dup(reports_fd))
        server_pid = os.getpid()
        pid = os.fork()
        if pid == 0:
            _run_entry(
                request,
                self._options.preload,
                server_pid=server_pid,
                results_fd=results_fd,
                document_fd=document_fd,
                ruleset_descriptor=self._ruleset_descriptor,
            )
        self._children[report_socket.fileno()] = _Child(pid, report_socket)
        self._poll.register(report_socket, select.POLLIN | select.POLLRDHUP)
        _send_report(report_socket, STARTED)
        self._remaining_forks -= 1
        if self._remaining_forks <= 0:
            self._request_successor()

    def _kill_process(self, descriptor: int) -> None:
        """Kill a process whose caller has closed the report socket; it is reaped later."""
        self._poll.unregister(descriptor)
        os.kill(self._children[descriptor].pid, signal.SIGKILL)

    def _reap_processes(self) -> None:
        for descriptor, child in list(self._children.items()):
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid == 0:
                continue
            code = os.waitstatus_to_exitcode(status)
            with suppress(KeyError):
                self._poll.unregister(descriptor)
            cpu_seconds = usage.ru_utime + usage.ru_stime
            peak_bytes = usage.ru_maxrss * 1024
            report = ExitReport(code, cpu_seconds, peak_bytes, _estimate_inherited_bytes())
            _send_report(child.reports, report.encode())
            child.reports.close()
            del self._children[descriptor]
            self._idle_since = time.monotonic()
            if -code in _CRASH_SIGNALS:
                self._request_successor()

    def _request_successor(self) -> None:
        if not self._is_successor_requested:
            self._is_successor_requested = True
            os.write(self._launcher_reports_fd, SUCCESSOR_REQUESTED)


def _send_report(reports: socket.socket, data: bytes) -> None:
    with suppress(OSError):  # the caller has closed its end, or does not read from it
        reports.send(data, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)


def _estimate_inherited_bytes() -> int:
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return peak_bytes + _INHERITED_SLACK_BYTES


def _run_entry(
    request: dict[str, Any],
    preload: Sequence[str],
    *,
    server_pid: int,
    results_fd: int,
    document_fd: int,
    ruleset_descriptor: int | None,
) -> NoReturn:
    """Confine this process, call the entry function of the request, and exit.

    Control never returns to the server's code, even after an error.
    """
    status = _FAILED_STATUS
    try:
        signal.set_wakeup_fd(-1)
        for signal_number in (signal.SIGCHLD, signal.SIGUSR1):
            signal.signal(signal_number, signal.SIG_DFL)
        confinement.confine_process(
            decode_process_limits(request["limits"]),
            parent_pid=server_pid,
            kept_descriptors=(results_fd, document_fd),
            ruleset_descriptor=ruleset_descriptor,
        )
        entry = _get_entry(request["entry"], preload)
        entry(os.fdopen(document_fd, "rb"), request["arguments"], partial(write_frame, results_fd))
        write_frame(results_fd, DONE)
        status = 0
    finally:
        os._exit(status)  # skips cleanup, which the kernel does faster


def _get_entry(name: str, preload: Sequence[str]) -> EntryFunction:
    """Return the function `name` (`module:function`). Raises LookupError if it is not preloaded."""
    module, _, function = name.partition(":")
    if module not in preload:
        raise LookupError(name)
    entry: EntryFunction = getattr(sys.modules[module], function)
    return entry


def main() -> None:
    """Run the server; see the module docstring for the command line."""
    # Unblock the signals that the application may have blocked.
    signal.pthread_sigmask(signal.SIG_SETMASK, set())
    control_fd, options = int(sys.argv[1]), ServerOptions(**orjson.loads(sys.argv[2]))
    launcher_pid, launcher_reports_fd = int(sys.argv[3]), int(sys.argv[4])
    os.nice(options.nice)
    for name in options.preload:
        importlib.import_module(name)
    confinement.confine_server()
    confinement.exit_with_parent(launcher_pid)
    os.dup2(0, 2)  # up to here, errors go to the stderr of the service
    control = socket.socket(fileno=os.dup(control_fd))
    # A caller with many open files passes a high descriptor. The processes close only descriptors
    # up to the server's limit.
    os.close(control_fd)
    control.settimeout(0)  # non-blocking, because a second server may also read from it
    server = _Server(control, launcher_reports_fd, options)
    gc.collect()
    gc.freeze()  # garbage collection in a child would copy the memory pages of these objects
    server.serve()


if __name__ == "__main__":
    main()
