"""Receivers on loopback that behave as a test scripts them, and names that mean what it says."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any

import pytest

from app.kit.egress import Egress, Policy

INSIDE = "127.0.0.2"
LONG = 15.0
"""Much longer than any deadline of these tests on however busy a machine, in seconds; and shorter
than receivers drip or keep silent."""
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@dataclass
class Peer:
    """One connection, seen from the receiver."""

    socket: socket.socket
    requests: list[bytes]
    _rest: bytes = b""

    def request(self) -> bytes:
        """The next whole request, head and body; empty when the other side has gone."""
        while True:
            head, found, rest = self._rest.partition(b"\r\n\r\n")
            if found:
                length = 0
                for line in head.lower().split(b"\r\n"):
                    if line.startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                if len(rest) >= length:
                    self._rest = rest[length:]
                    request = head + found + rest[:length]
                    self.requests.append(request)
                    return request
            data = self.socket.recv(65_536)
            if not data:
                return b""
            self._rest += data

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def drip(self, data: bytes, stopped: threading.Event, every: float = 0.05) -> None:
        """One byte at a time, over and over, until the test ends or the other side goes."""
        while not stopped.wait(every):
            for position in range(len(data)):
                self.send(data[position : position + 1])
                if stopped.wait(every):
                    return

    def serve(self, answer: bytes = OK) -> None:
        """Answer every request the same."""
        while self.request():
            self.send(answer)


Script = Callable[[Peer], None]


@dataclass
class Receiver:
    """A listening socket; each connection runs the script in a thread of its own."""

    script: Script
    listener: socket.socket
    context: ssl.SSLContext | None
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)
    server_names: list[str | None] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.listener.getsockname()[1])

    @property
    def url(self) -> str:
        scheme = "http" if self.context is None else "https"
        return f"{scheme}://{self.listener.getsockname()[0]}:{self.port}/hook"

    def run(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._handle, args=(connection,), daemon=True).start()

    def _handle(self, connection: socket.socket) -> None:
        connection.settimeout(20)
        with suppress(OSError), connection:
            if self.context is None:
                self.script(Peer(connection, self.requests))
                return
            with self.context.wrap_socket(connection, server_side=True) as secure:
                self.script(Peer(secure, self.requests))


@pytest.fixture
def stopped() -> Iterator[threading.Event]:
    """Set when the test is over: ends what receivers do without end."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def receive(stopped: threading.Event) -> Iterator[Callable[..., Receiver]]:
    running: list[Receiver] = []

    def start(
        script: Script = Peer.serve, host: str = INSIDE, context: ssl.SSLContext | None = None
    ) -> Receiver:
        receiver = Receiver(script, socket.create_server((host, 0), backlog=64), context)
        running.append(receiver)
        threading.Thread(target=receiver.run, daemon=True).start()
        return receiver

    yield start
    for receiver in running:
        with suppress(OSError):
            receiver.listener.shutdown(socket.SHUT_RDWR)
        receiver.listener.close()


@pytest.fixture
def egress() -> Egress:
    return Egress(Policy((ip_network(f"{INSIDE}/32"),), allow_http=True))


Names = dict[str, list[str]]


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """Name to addresses; each question takes a list's next address where it begins with "then"."""
    table: Names = {}
    asked = socket.getaddrinfo

    def look_up(host: str, port: int, *args: Any, **kwargs: Any) -> list[Any]:
        if kwargs.get("flags", 0) & socket.AI_NUMERICHOST:
            return asked(host, port, *args, **kwargs)
        if host not in table:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        addresses = table[host]
        if addresses[0] == "then":
            addresses = [addresses[1]] if len(addresses) == 2 else [addresses.pop(1)]
        return [
            info
            for address in addresses
            for info in asked(address, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        ]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return table
