"""A proxy that damages or interrupts the data that a client sends."""

import contextlib
import socket
import threading

from tests.engines.sources.network import connect_freely


class UploadProxy:
    """Forwards connections to a port, and counts the bytes of all clients.

    Attributes:
        cut_after: number of bytes from a client after which its connection is cut.
        stall_after: number of bytes from a client after which single bytes are read slowly, but
            nothing is forwarded.
        flip_at: position of a byte from a client that is changed.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self.cut_after: int | None = None
        self.stall_after: int | None = None
        self.flip_at: int | None = None

    def __call__(self, client: socket.socket) -> None:
        with connect_freely():
            server = socket.create_connection(("127.0.0.1", self._target))
        with server:
            threading.Thread(target=_copy, args=(server, client), daemon=True).start()
            self._forward(client, server)
            for connection in (client, server):
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        received = 0
        while data := bytearray(client.recv(16_384)):
            if self.flip_at is not None and received <= self.flip_at < received + len(data):
                data[self.flip_at - received] ^= 1
            received += len(data)
            server.sendall(data)
            if self.cut_after is not None and received >= self.cut_after:
                return
            if self.stall_after is not None and received >= self.stall_after:
                read_slowly(client)
                return


def discard_request(connection: socket.socket) -> bytes:
    """Receive a request without storing its body, and return its head."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(1024)
    head, _, body = received.partition(b"\r\n\r\n")
    left = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]) - len(body)
    buffer = bytearray(65_536)
    while left > 0:
        left -= connection.recv_into(buffer)
    return head


def read_slowly(connection: socket.socket) -> None:
    """Read single bytes until the client gives up."""
    closed = threading.Event()
    while connection.recv(1):
        closed.wait(0.02)


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(16_384):
            target.sendall(data)
