"""Provide the base class of embedded servers: start, wait until ready, and stop."""

import signal
import subprocess
import time
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import Self

from app.kit.child_processes import Backoff, Stops
from devserver.process import Launch, read_log_tail, spawn


class ServerError(RuntimeError):
    """An embedded server did not start. The message has the reason and the end of the log."""


class EmbeddedServer(ABC):
    """A server process that ends with the thread that started it.

    `start` and `stop` are for callers without a supervisor. The supervisor uses `prepare` and
    `is_ready`, and runs the process itself.
    """

    name: str
    log: Path
    backoff: Backoff | None = None
    """The delays before the supervisor restarts the server; None means the default delays."""
    stop_signals: Stops
    """The signals that stop the server, each with the seconds to wait before the next signal."""

    _process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def prepare(self) -> Launch:
        """Prepare the data folder and return how to start the server. Raises ServerError."""

    @abstractmethod
    def is_ready(self) -> bool:
        """Return whether the server answers."""

    @property
    @abstractmethod
    def port(self) -> int:
        """The loopback TCP port. Raises ServerError before a port is chosen."""

    @property
    @abstractmethod
    def url(self) -> str:
        """The URL for clients, with credentials."""

    def start(self, timeout: float = 30.0) -> None:
        """Start the server and return when it answers.

        The server ends with the calling thread. Raises ServerError.
        """
        if self._process is not None and self._process.poll() is None:
            raise ServerError(f"{self.name} is already running")
        for _ in range(3):  # another process may take the chosen port first
            self._process = spawn(self.prepare())
            if self._wait_ready(self._process, timeout):
                return
        tail = read_log_tail(self.log)
        self.stop()
        raise ServerError(f"{self.name} does not start; the end of {self.log}:\n{tail}")

    def _wait_ready(self, process: subprocess.Popen[bytes], timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while process.poll() is None:
            if self.is_ready():
                return True
            if time.monotonic() > deadline:
                self.stop()
                return False
            time.sleep(0.01)
        return False

    def stop(self) -> None:
        """Stop the server with `stop_signals`, and finally SIGKILL. The data stays usable."""
        process, self._process = self._process, None
        if process is None:
            return
        for number, seconds in (*self.stop_signals, (signal.SIGKILL, 5.0)):
            if process.poll() is not None:
                return
            process.send_signal(number)
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                continue
        process.wait()

    @property
    def pid(self) -> int | None:
        """The process id of the running server."""
        return None if self._process is None else self._process.pid

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
