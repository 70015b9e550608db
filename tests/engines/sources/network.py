"""A network that reaches loopback only and proves that no connection bypasses it."""

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_network

import requests

from app.engines.sources import SourceError, SourceErrorKind
from app.kit.egress import Egress, EgressRefused, Policy
from app.kit.egress.sockets import CallSocket

LOOPBACK = ip_network("127.0.0.0/8")


class _Inside(threading.local):
    is_inside = False


_inside = _Inside()
_networks: list["LoopbackNetwork"] = []


class LoopbackNetwork:
    """Counts its connections. `bypasses` are connections that somebody else opened."""

    def __init__(self, ca_file: str | None = None) -> None:
        policy = Policy(allowed_networks=(LOOPBACK,), allow_http=True)
        self._egress = Egress(policy, ca_file=ca_file)
        self._older_threads = set(threading.enumerate()) - {threading.current_thread()}
        self.connections: list[tuple[str, int]] = []
        self.bypasses: list[object] = []

    def connect(self, host: str, port: int, timeout: float) -> socket.socket:
        try:
            address = self._egress.resolve_address(host, port, timeout=timeout)
        except EgressRefused as error:
            message = f"The host is not allowed: {error.reason}."
            raise SourceError(SourceErrorKind.NOT_ALLOWED, message) from None
        self.connections.append((host, port))
        with connect_freely():
            return socket.create_connection(address, timeout)

    def session(self, *, deadline: float, max_response_bytes: int) -> requests.Session:
        return self._egress.session(deadline=deadline, max_response_bytes=max_response_bytes)

    def watch(self) -> None:
        _networks.append(self)

    def unwatch(self) -> None:
        _networks.remove(self)

    def check(self, connection: object, address: object) -> None:
        # The threads of servers were there before, and connect where they want.
        if threading.current_thread() in self._older_threads:
            return
        if isinstance(connection, CallSocket):
            assert isinstance(address, tuple)
            self.connections.append((address[0], address[1]))
        elif not _inside.is_inside:
            self.bypasses.append(address)


@contextmanager
def connect_freely() -> Iterator[None]:
    """Let the test itself open connections, to change what a server has."""
    _inside.is_inside = True
    try:
        yield
    finally:
        _inside.is_inside = False


def _audit(event: str, args: tuple[object, ...]) -> None:
    if event == "socket.connect":
        for network in _networks:
            network.check(*args)


sys.addaudithook(_audit)
