"""Production and sending of responses, without blocking on slow clients."""

import contextvars
import socket
import time
from collections.abc import Callable, Iterable
from enum import Enum

from gunicorn.http import wsgi

from app.kit.serving.requests import Request

_GATHER_BYTES = 64 * 1024
"""The number of buffered bytes at which a thread starts to send them."""
_MAX_BUFFERS = 16  # in one call of sendmsg
_SLICE_SECONDS = 0.05
"""The time in seconds after which a thread pauses a long response to serve other connections."""


class ClientGone(Exception):  # noqa: N818 - names what happened
    """The client closed the connection before it received the whole response."""


class StopReason(Enum):
    """The reason why a thread stopped working on a response."""

    DONE = "the whole response was sent"
    BLOCKED = "the client must read first"
    YIELDED = "the time slice is over"


class Outbox:
    """The send buffer of a non-blocking socket. gunicorn's Response uses it like a socket."""

    __slots__ = ("_buffers", "_socket", "sent_bytes", "unsent_bytes")

    def __init__(self, client: socket.socket) -> None:
        self._socket = client
        self._buffers: list[bytes | memoryview] = []
        self.unsent_bytes = 0
        self.sent_bytes = 0

    def sendall(self, data: bytes) -> None:
        """Add `data` to the buffer. The next `flush` sends it."""
        if data:
            self._buffers.append(data)
            self.unsent_bytes += len(data)

    def flush(self) -> bool:
        """Send as much as the socket accepts, and return whether the buffer is empty.

        Raises ClientGone if the connection is broken.
        """
        while self._buffers:
            try:
                count = self._socket.sendmsg(self._buffers[:_MAX_BUFFERS])
            except BlockingIOError:
                return False
            except OSError as error:
                raise ClientGone from error
            self._discard(count)
        return True

    def _discard(self, count: int) -> None:
        self.unsent_bytes -= count
        self.sent_bytes += count
        while count:
            first = self._buffers[0]
            if count < len(first):
                self._buffers[0] = memoryview(first)[count:]
                return
            count -= len(first)
            del self._buffers[0]


class Exchange:
    """A request that the application handles, and its response.

    Only one thread at a time uses an exchange. Different threads may produce successive parts of
    the response, so each exchange has its own context (contextvars).
    """

    def __init__(
        self, client: socket.socket, peer: object, server: object, request: Request, config: object
    ) -> None:
        self.request = request
        self.outbox = Outbox(client)
        self.is_produced = False
        """Whether the application has produced the whole response."""
        self._context = contextvars.Context()
        self._result: Iterable[bytes] = ()
        self._parts: Iterable[bytes] | None = None
        self._response, self._environ = wsgi.create(request, self.outbox, peer, server, config)
        self._environ["wsgi.multithread"] = True

    @property
    def is_started(self) -> bool:
        """Return whether a part of the response has been sent."""
        return self.outbox.sent_bytes > 0

    @property
    def unsent_bytes(self) -> int:
        """Return the number of buffered bytes that have not been sent."""
        return self.outbox.unsent_bytes

    @property
    def must_close(self) -> bool:
        """Return whether the connection must be closed after this response."""
        return bool(self._response.should_close())

    def force_close(self) -> None:
        """Make the connection close after this response.

        If the headers have not been sent yet, they will contain `Connection: close`.
        """
        self._response.force_close()

    def advance(self, application: Callable[..., Iterable[bytes]]) -> StopReason:
        """Run the application, and send as much of the response as the client accepts.

        Raises ClientGone if the connection is broken, and all exceptions from the application.
        """
        return self._context.run(self._advance, application)

    def _advance(self, application: Callable[..., Iterable[bytes]]) -> StopReason:
        if self._parts is None:
            self._result = application(self._environ, self._response.start_response)
            self._parts = iter(self._result)
        slice_end = time.monotonic() + _SLICE_SECONDS
        for part in self._parts:
            self._response.write(part)
            if self.outbox.unsent_bytes < _GATHER_BYTES:
                continue
            if not self.outbox.flush():
                return StopReason.BLOCKED
            if time.monotonic() > slice_end:
                return StopReason.YIELDED
        self._check_length()
        self._response.close()
        self._end()
        return StopReason.DONE if self.outbox.flush() else StopReason.BLOCKED

    def _check_length(self) -> None:
        response = self._response
        declared_length = response.response_length
        if declared_length and not response._omits_body and response.sent < declared_length:  # noqa: SLF001
            raise EOFError(f"{response.sent} of {declared_length} bytes were produced")

    def _end(self) -> None:
        self.is_produced = True
        close = getattr(self._result, "close", None)
        self._result = self._parts = ()
        if close is not None:
            close()

    def close(self) -> None:
        """Release the resources of the response. It may be called repeatedly."""
        self._context.run(self._end)
