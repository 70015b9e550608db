"""A program that has loaded Alembic, and forks a process for each command.

`python -m tests.migrations.commands DESCRIPTOR` reads requests from a socket. Loading Alembic takes
longer than most of the commands, each of which would otherwise load it again.
"""

import contextlib
import gc
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Self

_MAX_BYTES = 1 << 16


class Command:
    """A running Alembic command. `stderr` is its standard error."""

    def __init__(self, pid: int, stderr: int, results: socket.socket) -> None:
        self.stderr = os.fdopen(stderr, encoding="utf-8")
        self.returncode: int | None = None
        self._pid = pid
        self._results = results

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        os.kill(self._pid, signal.SIGKILL)

    def wait(self, seconds: float) -> str:
        """Wait for its end, and return what is left of its standard error.

        Raises TimeoutError.
        """
        self._results.settimeout(seconds)
        with self._results, self.stderr:
            self.returncode = int(self._results.recv(_MAX_BYTES))
            return self.stderr.read()


class Commands:
    """Starts commands; a context manager that runs the program."""

    def __enter__(self) -> Self:
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._program = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                cwd=Path(__file__).parents[2],
                pass_fds=[theirs.fileno()],
            )
        return self

    def __exit__(self, *_: object) -> None:
        self._requests.close()
        self._program.wait(30)

    def start(self, command: str, revision: str, environ: dict[str, str]) -> Command:
        """Start an Alembic command with this environment."""
        reading, stderr = os.pipe()
        results, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        request = json.dumps([command, revision, environ]).encode()
        socket.send_fds(self._requests, [request], [stderr, theirs.fileno()])
        os.close(stderr)
        theirs.close()
        return Command(int(results.recv(_MAX_BYTES)), reading, results)


def main(descriptor: str) -> None:
    """Fork a process for each request until the socket is closed."""
    _load()
    with socket.socket(fileno=int(descriptor)) as requests:
        while True:
            request, descriptors, *_ = socket.recv_fds(requests, _MAX_BYTES, 2)
            if not request:
                return
            if os.fork() == 0:
                requests.close()
                _run(*json.loads(request), *descriptors)
            for one in descriptors:
                os.close(one)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _load() -> None:
    """Load what every command needs."""
    import alembic.command  # noqa: PLC0415
    import alembic.config  # noqa: F401, PLC0415

    from app.kit import db  # noqa: F401, PLC0415
    from migrations import auditing, live, waiting  # noqa: F401, PLC0415

    gc.collect()
    gc.freeze()


def _run(
    command: str, revision: str, environ: dict[str, str], stderr: int, results_fd: int
) -> None:
    """Run a command in a child, and report its process id and its exit status."""
    with socket.socket(fileno=results_fd) as results:
        pid = os.fork()
        if pid == 0:
            results.close()
            os.dup2(stderr, 2)
            os.close(stderr)
            os.environ.clear()
            os.environ.update(environ)
            _execute(command, revision)
        os.close(stderr)
        results.send(str(pid).encode())
        _, status = os.waitpid(pid, 0)
        results.send(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _execute(command: str, revision: str) -> None:
    """Run a command as Alembic's program does, and end the process."""
    from alembic import command as commands  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    status = 1
    try:
        config = Config("migrations/alembic.ini")
        config.set_main_option("script_location", "migrations")
        getattr(commands, command)(config, revision)
        status = 0
    except BaseException:  # noqa: BLE001 - nothing catches it but the interpreter
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        sys.stdout.flush()
        os._exit(status)


if __name__ == "__main__":
    main(sys.argv[1])
