"""Keep a fork server running for as long as somebody holds the other end of the control socket.

Started as a script, with nothing but the standard library, so that it takes little memory and has
little that can fail: `python -I -S launcher.py CONTROL_FD now|on-demand COMMAND…`. To COMMAND,
which starts a server, it adds its own process id and the descriptor of a pipe to report on.

A server that dies is replaced. One that asks for a successor (see `server.py`) works on until the
successor is ready. A server that ends with status 0 was idle for long enough; then the next request
starts another one. Requests wait in the control socket meanwhile; none is lost.
"""

import os
import select
import signal
import sys
import time

READY = b"R"
SUCCESSOR_WANTED = b"N"
NOW, ON_DEMAND = "now", "on-demand"
_FIRST_DELAY_SECONDS = 0.1
_LONGEST_DELAY_SECONDS = 5.0


class Launcher:
    """The servers that run, by the descriptor that each reports on. The newest one counts."""

    def __init__(self, control: int, command: list[str], *, on_demand: bool) -> None:
        self._control = control
        self._command = command
        self._pids: dict[int, int] = {}
        self._newest = -1
        self._delay = 0.0
        self._start_at: float | None = None if on_demand else 0.0
        self._poll = select.poll()
        # In any case this tells when nobody holds the other end any more.
        self._poll.register(control, select.POLLIN if on_demand else 0)

    def run(self) -> None:
        """Run until nobody holds the other end of the control socket."""
        while True:
            if self._start_at is not None and self._start_at <= time.monotonic():
                self._start_server()
            for descriptor, event in self._poll.poll(self._milliseconds_to_start()):
                if descriptor != self._control:
                    self._read_reports(descriptor)
                elif event & select.POLLHUP:
                    return
                else:
                    self._start_server()

    def stop(self) -> None:
        """Kill the servers. The kernel kills their processes with them."""
        for pid in self._pids.values():
            os.kill(pid, signal.SIGKILL)
        for pid in self._pids.values():
            os.waitpid(pid, 0)

    def _milliseconds_to_start(self) -> float | None:
        if self._start_at is None:
            return None
        return max(0.0, self._start_at - time.monotonic()) * 1000

    def _start_server(self) -> None:
        self._start_at = None
        self._poll.register(self._control, 0)
        reading, writing = os.pipe()
        os.set_inheritable(writing, True)  # noqa: FBT003 - takes no keyword
        command = [*self._command, str(os.getpid()), str(writing)]
        pid = os.posix_spawn(command[0], command, os.environ)
        os.close(writing)
        self._pids[reading] = pid
        self._newest = reading
        self._poll.register(reading, select.POLLIN)

    def _read_reports(self, descriptor: int) -> None:
        """Act on what a server reports."""
        reports = os.read(descriptor, 64)
        if not reports:
            self._collect(descriptor)
        if READY in reports:
            self._delay = 0.0
            for other, pid in self._pids.items():
                if other != descriptor:
                    os.kill(pid, signal.SIGUSR1)  # finish what runs, then end
        if SUCCESSOR_WANTED in reports and descriptor == self._newest:
            self._start_at = time.monotonic()

    def _collect(self, descriptor: int) -> None:
        """Collect a server that has ended, and see to the next one."""
        self._poll.unregister(descriptor)
        os.close(descriptor)
        _, status = os.waitpid(self._pids.pop(descriptor), 0)
        if descriptor != self._newest:
            return
        if status == 0:
            self._poll.register(self._control, select.POLLIN)
            return
        self._start_at = time.monotonic() + self._delay
        self._delay = min(self._delay * 2 or _FIRST_DELAY_SECONDS, _LONGEST_DELAY_SECONDS)


def main() -> None:
    """Run the launcher; the command line is described above."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it ends with those it works for, not before
    control, start, *command = sys.argv[1:]
    launcher = Launcher(int(control), command, on_demand=start == ON_DEMAND)
    try:
        launcher.run()
    finally:
        launcher.stop()


if __name__ == "__main__":
    main()
