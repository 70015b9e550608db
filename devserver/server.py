"""Base class for embedded servers: start the process, wait until it is ready, and stop it."""

import signal
import subprocess
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Self

from app.kit.child_processes import Backoff, StopSignals
from devserver.process import (
    Launch,
    find_free_port,
    get_server_account,
    is_port_free,
    read_log_tail,
    spawn,
)


class ServerError(RuntimeError):
    """An embedded server could not be started. The message contains the reason."""


class EmbeddedServer(ABC):
    """A server process that exits when the thread that started it ends.

    `start` and `stop` are for callers without a supervisor. The supervisor uses `prepare` and
    `check_ready`, and starts and stops the process itself.
    """

    name: str
    log: Path
    backoff: Backoff | None = None
    """The delays before the supervisor restarts the server; None means the default delays."""
    stop_signals: StopSignals
    """The signals that stop the server, each with the seconds to wait before the next signal."""

    _process: subprocess.Popen[bytes] | None = None

    def __init__(self, data_dir: Path, port: int | None) -> None:
        self._folder = data_dir.absolute()
        self._fixed_port = self._port = port
        self._account = get_server_account()
        self._was_ready = False

    @abstractmethod
    def prepare(self) -> Launch:
        """Prepare the data folder, and return how to start the server.

        Raises ServerError or OSError if that fails.
        """

    @abstractmethod
    def check_ready(self) -> bool:
        """Return whether the server accepts connections and responds to requests."""

    @property
    def port(self) -> int:
        """Return the TCP port on 127.0.0.1. If the caller did not set it, `prepare` chooses it.

        Raises ServerError before a port is chosen.
        """
        if self._port is None:
            raise ServerError(f"{self.name} has no port before it is started")
        return self._port

    def _choose_port(self) -> None:
        """Choose a free port, unless the previous port is kept.

        The previous port is kept if the caller has set it, if clients may use it, or if it is free.
        """
        if self._port is None or not (
            self._fixed_port or self._was_ready or is_port_free(self._port)
        ):
            self._port = find_free_port()

    @property
    @abstractmethod
    def url(self) -> str:
        """Return the URL for clients, with credentials."""

    def start(self, timeout: float = 30.0) -> None:
        """Start the server, and return when it is ready.

        The server exits when the calling thread ends. Raises ServerError if the server is already
        running or does not become ready.
        """
        if self._process is not None and self._process.poll() is None:
            raise ServerError(f"{self.name} is already running")
        for _ in range(3):  # another process may take the chosen port first
            self._process = spawn(self.prepare())
            if self._wait_ready(self._process, timeout):
                return
        tail = read_log_tail(self.log)
        self.stop()
        raise ServerError(f"{self.name} could not be started; the end of {self.log}:\n{tail}")

    def _wait_ready(self, process: subprocess.Popen[bytes], timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while process.poll() is None:
            if self.check_ready():
                return True
            if time.monotonic() > deadline:
                self.stop()
                return False
            time.sleep(0.01)
        return False

    def stop(self) -> None:
        """Stop the server with `stop_signals`, or with SIGKILL if they are not enough."""
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
        """Return the server's process id, or None before `start` and after `stop`."""
        return None if self._process is None else self._process.pid

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
