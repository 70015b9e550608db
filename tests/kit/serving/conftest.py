"""A running gunicorn with a stub application, and clients that connect to it with sockets."""

import base64
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from devserver.process import find_free_port

ROOT = Path(__file__).parents[3]
DEADLINE_SECONDS = 60.0


@dataclass
class Answer:
    """A response from the server."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> Any:
        return self.json["error"]["code"]


class Client:
    """A connection to the server."""

    def __init__(self, port: int, source: str = "127.0.0.1") -> None:
        self.socket = socket.create_connection(
            ("127.0.0.1", port), timeout=DEADLINE_SECONDS, source_address=(source, 0)
        )
        self._rest = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> "Client":
        self.socket.sendall(data)
        return self

    def head(self) -> tuple[int, dict[str, str]]:
        while b"\r\n\r\n" not in self._rest:
            self._receive()
        head, _, self._rest = self._rest.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        pairs = (line.split(": ", 1) for line in lines)
        return int(first.split()[1]), {name.lower(): value for name, value in pairs}

    def answer(self, *, has_body: bool = True) -> Answer:
        """Read the next response."""
        status, headers = self.head()
        length = int(headers.get("content-length", 0)) if has_body else 0
        while len(self._rest) < length:
            self._receive()
        body, self._rest = self._rest[:length], self._rest[length:]
        return Answer(status, headers, body)

    def rest(self) -> bytes:
        """Read until the server closes the connection, and return all unread data."""
        with suppress(ConnectionResetError):
            while data := self.socket.recv(1 << 20):
                self._rest += data
        return self._rest

    def is_closed(self) -> bool:
        """Wait until the server closes the connection; return False if it sent anything before."""
        return self.rest() == b""

    def skip(self, count: int, part: int = 1 << 20) -> None:
        """Read the next `count` bytes, at most `part` bytes at a time, and drop them."""
        dropped, self._rest = self._rest[:count], self._rest[count:]
        count -= len(dropped)
        while count:
            received = len(self.socket.recv(min(count, part)))
            assert received, f"the server closed with {count} bytes to read"
            count -= received

    def _receive(self) -> None:
        data = self.socket.recv(1 << 20)
        if not data:
            raise EOFError(f"the server closed after {self._rest[:200]!r}")
        self._rest += data


@dataclass
class Server:
    """A running gunicorn."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path
    folder: Path

    def connect(self, source: str = "127.0.0.1") -> Client:
        return Client(self.port, source)

    @contextmanager
    def open_clients(
        self, count: int, data: bytes = b"", source: str = "127.0.0.1"
    ) -> Iterator[list[Client]]:
        """Open `count` connections one after the other, and send `data` over each of them."""
        with ExitStack() as stack:
            yield [stack.enter_context(self.connect(source)).send(data) for _ in range(count)]

    def exchange(self, data: bytes) -> Answer:
        """Send `data` over a new connection, and return the first response."""
        with self.connect() as client:
            return client.send(data).answer()

    def get(self, path: str = "/echo") -> Answer:
        request = f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        return self.exchange(request.encode())

    def until(self, done: Callable[[], Any], what: str) -> Any:
        """Wait until `done` returns a true value, and return it. `what` explains a failure."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not (value := done()):
            assert time.monotonic() < deadline, f"{what}; {self.log.read_text()[-3000:]}"
            time.sleep(0.02)
        return value


STAND_IN = "tests.kit.serving.stand_in"


@contextmanager
def start_server(
    folder: Path,
    application: Sequence[str] = ("-k", f"{STAND_IN}.QuickWorker", f"{STAND_IN}:app"),
    ready: str = "/echo",
    **settings: str,
) -> Iterator[Server]:
    """Run gunicorn with the project's configuration and one process, by default with the stub.

    `application` is the end of gunicorn's command line. `ready` is a path that returns 200 once the
    server is ready.
    """
    port, log = find_free_port(), folder / "log"
    environ = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "PORT": str(port),
        "DATA_DIR": str(folder / "data"),
        "DATABASE_URL": "postgresql://user@127.0.0.1:1/none",
        "REDIS_URL": "redis://127.0.0.1:1/0",
        "SECRET_KEY": "uYx3kQpw7ZrT9vBnM2sLd8FgHj4KeWc1",
        "ENCRYPTION_KEYS": base64.urlsafe_b64encode(bytes(range(32))).decode(),
        "CORS_ORIGINS": "https://app.example.com",
        "WEB_WORKERS": "1",
        "WEB_THREADS": "2",
        **settings,
    }
    command = [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", *application]
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=output, stderr=output)
    server = Server(port, process, log, folder)

    def is_ready() -> bool:
        assert process.poll() is None, log.read_text()
        with suppress(OSError, EOFError):
            return server.get(ready).status == 200
        return False

    try:
        server.until(is_ready, "the server is not ready")
        yield server
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(DEADLINE_SECONDS)
        finally:
            process.kill()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run one server for the tests of a module."""
    with start_server(tmp_path_factory.mktemp("serving")) as server:
        yield server
