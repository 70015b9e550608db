"""Keep a fork server running as long as a process has the other end of the control socket open.

This module runs as a script that uses only the standard library, so that it needs little memory
and rarely fails: `python -I -S launcher.py CONTROL_FD now|on-demand COMMAND…`. COMMAND starts a
server; the launcher appends its own process id and the descriptor of a pipe for reports.

A server that crashes or is killed is replaced. A server that requests a successor (see `server.py`)
keeps working until the successor is ready. A server that exits with status 0 was idle for too long;
the next request starts a new server. Requests wait in the control socket until a server is ready,
and are not lost.
"""

import os
import select
import signal
import sys
import time

READY = b"R"
SUCCESSOR_REQUESTED = b"N"
START_NOW, START_ON_DEMAND = "now", "on-demand"
_FIRST_DELAY_SECONDS = 0.1
_MAX_DELAY_SECONDS = 5.0


class Launcher:
    """Starts and replaces servers.

    Only the newest server is replaced, if it fails or requests a successor. Older servers exit.

    `_pids` maps the descriptor of each server's report pipe to the process id of the server.
    """

    def __init__(self, control: int, command: list[str], *, on_demand: bool) -> None:
        self._control = control
        self._command = command
        self._pids: dict[int, int] = {}
        self._newest_descriptor = -1
        self._delay = 0.0
        self._start_at: float | None = None if on_demand else 0.0
        self._poll = select.poll()
        # With an event mask of 0, poll still reports when the other end is closed.
        self._poll.register(control, select.POLLIN if on_demand else 0)

    def run(self) -> None:
        """Run until the other end of the control socket is closed."""
        while True:
            if self._start_at is not None and self._start_at <= time.monotonic():
                self._start_server()
            for descriptor, event in self._poll.poll(self._compute_milliseconds_to_start()):
                if descriptor != self._control:
                    self._read_reports(descriptor)
                elif event & select.POLLHUP:
                    return
                else:
                    self._start_server()

    def stop(self) -> None:
        """Kill the servers. The kernel then kills their processes."""
        for pid in self._pids.values():
            os.kill(pid, signal.SIGKILL)
        for pid in self._pids.values():
            os.waitpid(pid, 0)

    def _compute_milliseconds_to_start(self) -> float | None:
        if self._start_at is None:
            return None
        return max(0.0, self._start_at - time.monotonic()) * 1000

    def _start_server(self) -> None:
        self._start_at = None
        self._poll.register(self._control, 0)
        read_end, write_end = os.pipe()
        os.set_inheritable(write_end, True)  # noqa: FBT003 - takes no keyword
        command = [*self._command, str(os.getpid()), str(write_end)]
        pid = os.posix_spawn(command[0], command, os.environ)
        os.close(write_end)
        self._pids[read_end] = pid
        self._newest_descriptor = read_end
        self._poll.register(read_end, select.POLLIN)

    def _read_reports(self, descriptor: int) -> None:
        """Read the reports from a server, and reap or replace the server if necessary.

        If the server is ready, the other servers finish their work and exit.
        """
        reports = os.read(descriptor, 64)
        if not reports:
            self._reap_server(descriptor)
        if READY in reports:
            self._delay = 0.0
            for server_descriptor, pid in self._pids.items():
                if server_descriptor != descriptor:
                    # Makes the server finish its running processes and exit.
                    os.kill(pid, signal.SIGUSR1)
        if SUCCESSOR_REQUESTED in reports and descriptor == self._newest_descriptor:
            self._start_at = time.monotonic()

    def _reap_server(self, descriptor: int) -> None:
        """Reap a server that has exited; if it was the newest server, arrange its replacement.

        If the server was idle for too long, the next request starts the replacement. If it failed,
        the replacement starts after a delay, which is 0 at first and grows with each failure.
        """
        self._poll.unregister(descriptor)
        os.close(descriptor)
        _, status = os.waitpid(self._pids.pop(descriptor), 0)
        if descriptor != self._newest_descriptor:
            return
        if status == 0:
            self._poll.register(self._control, select.POLLIN)
            return
        self._start_at = time.monotonic() + self._delay
        self._delay = min(self._delay * 2 or _FIRST_DELAY_SECONDS, _MAX_DELAY_SECONDS)


def main() -> None:
    """Run the launcher; see the module docstring for the command line."""
    for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # The launcher must exit only when no process uses the servers any more.
        signal.signal(signal_number, signal.SIG_IGN)
    control, start_mode, *command = sys.argv[1:]
    launcher = Launcher(int(control), command, on_demand=start_mode == START_ON_DEMAND)
    try:
        launcher.run()
    finally:
        launcher.stop()


if __name__ == "__main__":
    main()
