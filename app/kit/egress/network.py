"""Guarded connections for engines, which know neither settings nor the policy."""

import socket
from collections.abc import Callable

import requests

from app.kit.egress.client import Egress
from app.kit.egress.policy import EgressRefused


class GuardedNetwork:
    """Network access for an engine. It connects only to hosts that the operator allows.

    Args:
        egress: the client that opens the connections.
        describe_refusal: returns the engine's exception for the reason of a refusal.
    """

    def __init__(self, egress: Egress, describe_refusal: Callable[[str], Exception]) -> None:
        self._egress = egress
        self._describe_refusal = describe_refusal

    def connect(self, host: str, port: int, timeout: float) -> socket.socket:
        """Return a connected TCP socket. Raises OSError, or the engine's exception."""
        try:
            return self._egress.connect(host, port, timeout=timeout)
        except EgressRefused as refusal:
            raise self._describe_refusal(refusal.reason) from None

    def session(self, *, deadline: float, max_response_bytes: int) -> requests.Session:
        """Return a session for HTTP."""
        return self._egress.session(deadline=deadline, max_response_bytes=max_response_bytes)
