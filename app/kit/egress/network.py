"""Guarded connections for engines, which have no access to the settings or the policy."""

import socket
from collections.abc import Callable

import requests

from app.kit.egress.client import Egress
from app.kit.egress.policy import EgressRefused


class GuardedNetwork:
    """Network access for an engine. It connects only to hosts that the operator allows.

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

        Raises the exception from `build_error` if the policy refuses the connection, and OSError if
        the connection fails.
        """
        try:
            return self._egress.connect(host, port, timeout=timeout)
        except EgressRefused as refusal:
            raise self._build_error(refusal.reason) from None

    def session(self, *, deadline: float, max_response_bytes: int) -> requests.Session:
        """Return a `requests` session with the same policy (see `Egress.session`)."""
        return self._egress.session(deadline=deadline, max_response_bytes=max_response_bytes)
