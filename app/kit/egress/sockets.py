"""Sockets that enforce the deadline and the size limit of a call.

The timeout of a socket restarts with every byte, so a server that sends one byte per second could
block its client indefinitely. These sockets set the remaining time as the timeout before every
operation.
"""

import socket
import ssl
import threading
from dataclasses import dataclass, field
from http.client import HTTPException
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

from app.kit.egress.policy import Policy
from app.kit.egress.resolve import resolve

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

MAX_IDLE_SECONDS = 1.0
"""The maximum idle time in seconds of a pooled connection for a request that must not be sent
twice. It is shorter than the keep-alive timeout of all known servers."""


class ResponseTooLarge(HTTPException):
    """The response exceeds the size limit of the call.

    It derives from `http.client.HTTPException`, so that HTTP client libraries handle it like an
    invalid response of the remote server.
    """


@dataclass(slots=True)
class Call:
    """A request in progress, with its limits and its state.

    `deadline` is a `time.monotonic()` value. `max_bytes` is the maximum number of received bytes.
    Both can be infinite. `repeatable` is whether the request may be sent again.
    `operation_timeout` is the timeout in seconds for each socket operation.
    """

    policy: Policy
    deadline: float = inf
    max_bytes: float = inf
    repeatable: bool = True
    operation_timeout: float = inf
    received_bytes: int = field(default=0, init=False)
    uses_pooled_connection: bool = field(default=False, init=False)
    needs_new_connection: bool = field(default=False, init=False)

    def get_remaining(self) -> float:
        """Return the seconds until the deadline.

        Raises:
            TimeoutError: the deadline has passed.
        """
        remaining = self.deadline - monotonic()
        if remaining <= 0:
            raise TimeoutError("the deadline of this call has passed")
        return remaining

    def set_timeout(self, connection: socket.socket) -> None:
        """Set the timeout of a socket for its next operation, within the limits of the call."""
        seconds = min(self.get_remaining(), self.operation_timeout)
        if seconds != inf:
            connection.settimeout(seconds)

    def count_received(self, size: int) -> int:
        """Add `size` to the number of received bytes, and return `size`.

        Raises:
            ResponseTooLarge: the size limit is exceeded.
        """
        self.received_bytes += size
        if self.received_bytes > self.max_bytes:
            raise ResponseTooLarge
        return size

    def shorten_deadline(self, seconds: float) -> None:
        """Set the deadline to `seconds` from now, unless it is earlier already."""
        self.deadline = min(self.deadline, monotonic() + seconds)

    def may_reuse_connection(self, idle_seconds: float) -> bool:
        """Return whether the request may use a pooled connection that was idle for this long.

        The server may close an idle connection while the request is being sent. Then it is unknown
        whether the server received the request. A request that must not be sent twice therefore
        uses only a connection that was idle so briefly that no server closes it.
        """
        return not self.needs_new_connection and (
            self.repeatable or idle_seconds <= MAX_IDLE_SECONDS
        )

    def may_repeat(self) -> bool:
        """Return whether a failed request may be sent again on a new connection.

        This is the case if the request is repeatable, its first attempt used a pooled connection,
        and it failed before the deadline and before the first byte of the response. Most likely,
        the server had just closed the connection.
        """
        is_broken = (
            self.uses_pooled_connection and not self.received_bytes and monotonic() < self.deadline
        )
        return is_broken and self.repeatable and not self.needs_new_connection


class _CurrentCall(threading.local):
    call: Call | None = None


_current = _CurrentCall()


def get_current_call() -> Call:
    """Return the current call of this thread.

    Raises:
        RuntimeError: a connection is used outside of a call.
    """
    if _current.call is None:
        raise RuntimeError("only the egress client can open connections")
    return _current.call


class set_current_call:  # noqa: N801 - used like a function: with set_current_call(call)
    """Context manager that makes `call` the current call of this thread."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def __enter__(self) -> None:
        self._previous = _current.call
        _current.call = self._call

    def __exit__(self, *_: object) -> None:
        _current.call = self._previous


def connect(policy: Policy, host: str, port: int, timeout: float) -> socket.socket:
    """Return a socket that is connected to an allowed address of a host.

    The addresses are tried in order. The remaining time is divided equally among the addresses that
    have not been tried. Raises EgressRefused if one of the addresses is not allowed,
    ResolutionFailed if the host has no address or the lookup takes too long, and OSError if no
    address accepts the connection in time.
    """
    deadline = monotonic() + timeout
    endpoints = resolve(policy, host, port, timeout)
    error: OSError = TimeoutError("the connection timed out")
    for untried_count, endpoint in zip(range(len(endpoints), 0, -1), endpoints, strict=True):
        remaining = deadline - monotonic()
        if remaining <= 0:
            break
        connection = socket.socket(endpoint.family)
        try:
            connection.settimeout(remaining / untried_count)
            connection.connect(endpoint.address)
            connection.settimeout(timeout)
        except OSError as failure:
            connection.close()
            error = failure
        else:
            return connection
    raise error


class CallSocket(socket.socket):
    """An unencrypted socket that enforces the limits of its call."""

    call: Call | None = None

    def recv_into(self, buffer: "WriteableBuffer", nbytes: int = 0, flags: int = 0) -> int:
        if self.call is None:
            return super().recv_into(buffer, nbytes, flags)
        self.call.set_timeout(self)
        return self.call.count_received(super().recv_into(buffer, nbytes, flags))

    def sendall(self, data: "ReadableBuffer", flags: int = 0) -> None:
        if self.call is not None:
            self.call.set_timeout(self)
        super().sendall(data, flags)


class CallSSLSocket(ssl.SSLSocket):
    """A TLS socket that enforces the limits of its call."""

    call: Call | None = None

    def do_handshake(self, block: bool = False) -> None:  # noqa: FBT001, FBT002 - the signature of ssl
        get_current_call().set_timeout(self)
        super().do_handshake(block)

    def recv_into(
        self, buffer: "WriteableBuffer", nbytes: int | None = None, flags: int = 0
    ) -> int:
        if self.call is None:
            return super().recv_into(buffer, nbytes, flags)
        self.call.set_timeout(self)
        return self.call.count_received(super().recv_into(buffer, nbytes, flags))

    def send(self, data: "ReadableBuffer", flags: int = 0) -> int:
        if self.call is not None:
            self.call.set_timeout(self)
        return super().send(data, flags)
