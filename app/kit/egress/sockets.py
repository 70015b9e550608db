"""Sockets that know when their call has to be over, and how much it may still receive.

A socket's own timeout starts anew with every byte, so a server that sends one byte a second holds
its client for as long as it likes. Here the time left is set before every operation.
"""

import socket
import ssl
import threading
from dataclasses import dataclass, field
from http.client import HTTPException
from math import inf
from time import monotonic
from typing import Any

from app.kit.egress.policy import Policy

IDLE_SECONDS = 1.0
"""Shorter than any server is known to keep an idle connection."""


class TooMuch(HTTPException):
    """The other side sends more than the call may receive.

    A kind of error that the HTTP libraries know to pass on as one of the other side.
    """


@dataclass(slots=True)
class Call:
    """One request on its way: its limits, and what happened to it so far.

    ``until`` is in seconds of the monotonic clock, ``budget`` in bytes as they come off the wire;
    both can be infinite. ``repeatable``: the request may be sent a second time.
    """

    policy: Policy
    until: float = inf
    budget: float = inf
    repeatable: bool = True
    received: int = field(default=0, init=False)
    reused: bool = field(default=False, init=False)
    fresh: bool = field(default=False, init=False)

    def remaining(self) -> float:
        """Seconds left.

        :raises TimeoutError: none is.
        """
        left = self.until - monotonic()
        if left <= 0:
            raise TimeoutError("the time of this call is over")
        return left

    def limit(self, connection: socket.socket) -> None:
        """Let the next operation of a socket take no longer than the time left."""
        if self.until != inf:
            connection.settimeout(self.remaining())

    def count(self, size: int) -> int:
        """Take note of bytes that came.

        :raises TooMuch: beyond the budget.
        """
        self.received += size
        if self.received > self.budget:
            raise TooMuch
        return size

    def shorten(self, seconds: float) -> None:
        """Let the call end within so many seconds from now."""
        self.until = min(self.until, monotonic() + seconds)

    def may_reuse(self, idle_seconds: float) -> bool:
        """Return whether the request may go over a connection that was idle for so long.

        The other side may close it at the moment of sending, and then nobody can tell whether the
        request was read. One that must not be sent twice takes a connection that was in use just
        now: servers keep those.
        """
        return not self.fresh and (self.repeatable or idle_seconds <= IDLE_SECONDS)

    def may_repeat(self) -> bool:
        """Return whether a request may be sent again on a new connection.

        A kept connection broke without a sign of a response: most likely the server had just
        closed it.
        """
        broke = self.reused and not self.received and monotonic() < self.until
        return broke and self.repeatable and not self.fresh


class _Current(threading.local):
    call: Call | None = None


_current = _Current()


def current_call() -> Call:
    """Return the call that this thread is making.

    :raises RuntimeError: none: somebody uses the connections past the door.
    """
    if _current.call is None:
        raise RuntimeError("connections are made by calls through the egress door only")
    return _current.call


class calling:  # noqa: N801 - read as a statement: with calling(call)
    """Make a call the current one of this thread."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def __enter__(self) -> None:
        self._before = _current.call
        _current.call = self._call

    def __exit__(self, *_: object) -> None:
        _current.call = self._before


class CallSocket(socket.socket):
    """A plain socket under the limits of its call."""

    call: Call | None = None

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        if self.call is None:
            return super().recv_into(*args, **kwargs)
        self.call.limit(self)
        return self.call.count(super().recv_into(*args, **kwargs))

    def sendall(self, *args: Any) -> None:
        if self.call is not None:
            self.call.limit(self)
        super().sendall(*args)


class CallSSLSocket(ssl.SSLSocket):
    """A TLS socket under the limits of its call."""

    call: Call | None = None

    def do_handshake(self, block: bool = False) -> None:  # noqa: FBT001, FBT002 - theirs
        current_call().limit(self)
        super().do_handshake(block)

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        if self.call is None:
            return super().recv_into(*args, **kwargs)
        self.call.limit(self)
        return self.call.count(super().recv_into(*args, **kwargs))

    def send(self, *args: Any) -> int:
        if self.call is not None:
            self.call.limit(self)
        return super().send(*args)
