"""Hosts on loopback that fail in a chosen way, and a proxy that cuts connections."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.engines.sources.network import connect_freely

Script = Callable[[socket.socket], None]


@contextmanager
def run_host(script: Script) -> Iterator[int]:
    """Run a script for every connection to a port, and return the port."""
    sockets: list[socket.socket] = []

    def serve(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            script(connection)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                sockets.append(connection)
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
    for connection in sockets:
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def run_web_host(script: Script) -> Iterator[str]:
    """Run a script for every connection to a port, and return the HTTP address of the port."""
    with run_host(script) as port:
        yield f"http://127.0.0.1:{port}"


def find_closed_address() -> str:
    """Return an HTTP address on which nothing listens."""
    return f"http://127.0.0.1:{find_closed_port()}"


def build_response(status: str, body: bytes, *headers: str) -> bytes:
    """Return an HTTP response."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def respond(response: bytes, *, drops: bytes = b"") -> Script:
    """Return a script that sends a response to any request, and closes the connection.

    If there are `drops`, the script sends them endlessly instead of closing the connection.
    """

    def script(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(response)
        if drops:
            drip(connection, drops)

    return script


def find_closed_port() -> int:
    """Return a port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def drip(connection: socket.socket, data: bytes) -> None:
    """Send single bytes endlessly, and more slowly than any timeout allows."""
    closed = threading.Event()
    while not closed.wait(0.02):
        connection.sendall(data)


class CuttingProxy:
    """Forwards connections to a port, and cuts them after `limit` bytes from the server."""

    def __init__(self, target: int) -> None:
        self._target = target
        self.limit: int | None = None
        self.connections: list[socket.socket] = []

    def __call__(self, client: socket.socket) -> None:
        with connect_freely():
            server = socket.create_connection(("127.0.0.1", self._target))
        with server:
            self.connections += [client, server]
            forward = threading.Thread(target=_copy, args=(client, server), daemon=True)
            forward.start()
            sent = 0
            while data := server.recv(4096):
                client.sendall(data)
                sent += len(data)
                if self.limit is not None and sent > self.limit:
                    break
            client.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        """Cut all connections."""
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(4096):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
