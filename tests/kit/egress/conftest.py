"""Receivers on loopback that run the script of a test, and host names that tests define."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any

import pytest

from app.kit.egress import Egress, Policy, RequestOutcome
from tests.factories.waiting import expect_to_end_soon

INSIDE = "127.0.0.2"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
EMPTY = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
COOKIE = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/\r\nContent-Length: 0\r\n\r\n"


@dataclass
class Peer:
    """A connection, as the receiver sees it."""

    socket: socket.socket
    requests: list[bytes]
    _rest: bytes = b""

    def request(self) -> bytes:
        """Return the next request, head and body; empty if the client has closed the connection."""
        while True:
            head, separator, rest = self._rest.partition(b"\r\n\r\n")
            if separator:
                length = 0
                for line in head.lower().split(b"\r\n"):
                    if line.startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                if len(rest) >= length:
                    self._rest = rest[length:]
                    request = head + separator + rest[:length]
                    self.requests.append(request)
                    return request
            data = self.socket.recv(65_536)
            if not data:
                return b""
            self._rest += data

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def drip(self, data: bytes, stopped: threading.Event, every: float = 0.05) -> None:
        """Send the data repeatedly, byte by byte, until the test ends or the client disconnects."""
        while not stopped.wait(every):
            for position in range(len(data)):
                self.send(data[position : position + 1])
                if stopped.wait(every):
                    return

    def drip_answer(self, first: bytes, dripped: bytes, stopped: threading.Event) -> None:
        """Read a request, send the first part of a response at once, and drip the rest."""
        self.request()
        self.send(first)
        self.drip(dripped, stopped)

    def serve(self, answer: bytes = OK) -> None:
        """Send the same response to every request."""
        while self.request():
            self.send(answer)

    def answer_once(self) -> None:
        """Respond to one request without a body, and read the next request."""
        self.request()
        self.send(EMPTY)
        self.request()


Script = Callable[[Peer], None]


@dataclass
class Receiver:
    """A listening socket; each connection runs the script in its own thread."""

    script: Script
    listener: socket.socket
    context: ssl.SSLContext | None
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)

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


Receive = Callable[..., Receiver]


def post(egress: Egress, url: str, **options: Any) -> RequestOutcome:
    return egress.request("POST", url, body=b'{"a": 1}', **options)


def assert_times_out(egress: Egress, url: str, body: bytes = b"") -> None:
    """Send a request with a deadline of half a second, and check that it times out."""
    with expect_to_end_soon():
        outcome = egress.request("POST", url, body=body, total_timeout=0.5)
    assert outcome.error_kind == "timeout"


@pytest.fixture
def stopped() -> Iterator[threading.Event]:
    """Return an event that is set after the test, which stops the receivers' endless loops."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def receive(stopped: threading.Event) -> Iterator[Receive]:
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
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[Names]:
    """Return a table that maps host names to addresses.

    If a list begins with "then", each lookup returns its next address, and finally the last one.
    The test's lookups end before anything that it replaced is restored.
    """
    table: Names = {}
    getaddrinfo = socket.getaddrinfo

    def look_up(host: str, port: int, *args: Any, **kwargs: Any) -> list[Any]:
        if kwargs.get("flags", 0) & socket.AI_NUMERICHOST:
            return getaddrinfo(host, port, *args, **kwargs)
        if host not in table:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        addresses = table[host]
        if addresses[0] == "then":
            addresses = [addresses[1]] if len(addresses) == 2 else [addresses.pop(1)]
        return [
            info
            for address in addresses
            for info in getaddrinfo(
                address, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
            )
        ]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    yield table
    for thread in threading.enumerate():
        if thread.name == "egress-lookup":
            thread.join(60)
