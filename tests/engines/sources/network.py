"""A network that reaches loopback only and proves that no connection bypasses it."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_network
from typing import Any

import pytest
import requests

from app.engines.sources.model import HostError, HostErrorKind
from app.kit.egress import Egress, EgressRefused, Policy
from app.kit.egress.sockets import CallSocket

LOOPBACK = ip_network("127.0.0.0/8")


class _Inside(threading.local):
    is_inside = False


_inside = _Inside()


class LoopbackNetwork:
    """Counts its connections. `bypasses` are connections that were opened in another way."""

    def __init__(self, ca_file: str | None = None) -> None:
        policy = Policy(allowed_networks=(LOOPBACK,), allow_http=True)
        self._egress = Egress(policy, ca_file=ca_file)
        self._older_threads = set(threading.enumerate()) - {threading.current_thread()}
        self.connections: list[tuple[str, int]] = []
        self.bypasses: list[object] = []
        self._patches = pytest.MonkeyPatch()

    def connect(self, host: str, port: int, timeout: float) -> socket.socket:
        try:
            address = self._egress.resolve_address(host, port, timeout=timeout)
        except EgressRefused as error:
            message = f"Cannot connect to the host: {error.reason}."
            raise HostError(HostErrorKind.NOT_ALLOWED, message) from None
        self.connections.append((host, port))
        with connect_freely():
            return socket.create_connection(address, timeout)

    def session(self, *, total_timeout: float, max_response_bytes: int) -> requests.Session:
        return self._egress.session(
            total_timeout=total_timeout, max_response_bytes=max_response_bytes
        )

    def watch(self) -> None:
        """Record all connections of Python's sockets until `unwatch` is called.

        An audit hook would remain for the rest of the process, and run for every call of `id`.
        """
        for name in ("connect", "connect_ex"):
            self._patches.setattr(socket.socket, name, self._checked(getattr(socket.socket, name)))

    def unwatch(self) -> None:
        self._patches.undo()

    def _checked(self, method: Callable[[socket.socket, Any], Any]) -> Callable[..., Any]:
        def connect(connection: socket.socket, address: object) -> Any:
            self.check(connection, address)
            return method(connection, address)

        return connect

    def check(self, connection: object, address: object) -> None:
        # The server threads were started before this network, and may connect anywhere.
        if threading.current_thread() in self._older_threads:
            return
        if isinstance(connection, CallSocket):
            assert isinstance(address, tuple)
            self.connections.append((address[0], address[1]))
        elif not _inside.is_inside:
            self.bypasses.append(address)


@contextmanager
def connect_freely() -> Iterator[None]:
    """Allow the test itself to open connections, to change the content of a server."""
    _inside.is_inside = True
    try:
        yield
    finally:
        _inside.is_inside = False
