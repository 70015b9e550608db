"""Guarded connections for `app.engines`, which has no access to the settings or the policy."""

import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Timer
from time import monotonic
from typing import Self

import requests

from app.kit.egress.client import Egress
from app.kit.egress.policy import EgressRefused


class GuardedNetwork:
    """Network access for code in `app.engines`, limited to addresses that the policy allows.

    Args:
        egress: the client that opens the connections.
        build_error: function that receives the reason why a connection is refused, and returns
            the exception to raise.
    """

    def __init__(self, egress: Egress, build_error: Callable[[str], Exception]) -> None:
        self._egress = egress
        self._build_error = build_error

    def connect(self, host: str, port: int, timeout: float) -> socket.socket:
        """Return a connected TCP socket.

        Raises the exception from `build_error` if the policy refuses the connection or the host has
        no address, and OSError if the connection fails.
        """
        try:
            return self._egress.connect(host, port, timeout=timeout)
        except EgressRefused as refusal:
            raise self._build_error(refusal.reason) from None

    def session(self, *, total_timeout: float, max_response_bytes: int) -> requests.Session:
        """Return a `requests` session with the same policy (see `Egress.session`)."""
        return self._egress.session(
            total_timeout=total_timeout, max_response_bytes=max_response_bytes
        )


class ExpiringNetwork(GuardedNetwork):
    """Network access with a time limit. Use it as a context manager.

    When the limit is reached, all connections are shut down, so that operations stop waiting, and
    no new connections can be opened. The timeout of a socket cannot enforce this limit, because it
    restarts with every byte.

    Args:
        egress: the client that opens the connections.
        build_error: see `GuardedNetwork`.
        seconds: the time limit in seconds.
    """

    def __init__(
        self, egress: Egress, build_error: Callable[[str], Exception], seconds: float
    ) -> None:
        super().__init__(egress, build_error)
        self._ends_at = monotonic() + seconds
        self._lock = Lock()
        self._sockets: list[socket.socket] = []
        self._timer = Timer(seconds, self._shut_down)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            for connection in self._sockets:
                connection.close()
            self._sockets.clear()

    def connect(self, host: str, port: int, timeout: float) -> socket.socket:
        """Return a connected TCP socket.

        Raises TimeoutError after the time limit, the exception from `build_error` if the policy
        refuses the connection or the host has no address, and OSError if the connection fails.
        """
        connection = super().connect(host, port, min(timeout, self._get_remaining()))
        with self._lock:
            # TLS detaches the socket object from its connection, but not this duplicate.
            self._sockets.append(connection.dup())
        if monotonic() >= self._ends_at:
            self._shut_down()
        return connection

    def session(self, *, total_timeout: float, max_response_bytes: int) -> requests.Session:
        """Return a `requests` session whose requests time out at the time limit."""
        return self._egress.session(
            total_timeout=total_timeout,
            max_response_bytes=max_response_bytes,
            ends_at=self._ends_at,
        )

    def _get_remaining(self) -> float:
        remaining = self._ends_at - monotonic()
        if remaining <= 0:
            raise TimeoutError("the time limit of this network has been reached")
        return remaining

    def _shut_down(self) -> None:
        with self._lock:
            for connection in self._sockets:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
