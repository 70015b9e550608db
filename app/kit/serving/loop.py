"""The event loop of a process, which accepts connections, reads requests and sends responses."""

import errno
import os
import select
import socket
import time
from collections.abc import Iterable
from functools import partial
from typing import Protocol

from app.kit.errors import ApiError
from app.kit.logging import get_logger
from app.kit.serving.balance import DEFER_SECONDS
from app.kit.serving.bodies import Body, Spool
from app.kit.serving.connections import Connection, ConnectionState
from app.kit.serving.pool import ThreadPool
from app.kit.serving.requests import CONTINUE, Request
from app.kit.serving.sockets import Sockets

log = get_logger("app.serving")

_RECEIVE_BYTES = 256 * 1024
_POLL_SECONDS = 1.0
_EXHAUSTION_ERRNOS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


class Listener(Protocol):
    """A listening socket that gunicorn created."""

    def fileno(self) -> int:
        """Return the file descriptor of the socket."""

    def setblocking(self, flag: bool, /) -> None:  # noqa: FBT001 - the signature of sockets
        """Set whether `accept` waits for a connection."""

    def accept(self) -> tuple[socket.socket, object]:
        """Return the socket of the next connection, and the client's address."""

    def getsockname(self) -> object:
        """Return the local address of the socket."""


class EventLoop:
    """Handles the events of all sockets in a process. All methods run in the same thread."""

    def __init__(self, listeners: Iterable[Listener], sockets: Sockets, pool: ThreadPool) -> None:
        self._listeners = {listener.fileno(): listener for listener in listeners}
        self._sockets = sockets
        self._pool = pool
        self._limits = sockets.limits
        self._table = sockets.table
        limits = sockets.limits
        self._spool = Spool(limits.spool_folder, limits.spool_bytes, limits.reserve_bytes)
        self._buffer = memoryview(bytearray(_RECEIVE_BYTES))
        self._wakeup_descriptor = -1
        self._accepting = self._draining = False
        self._deferred_until: float | None = None
        self._swept_at = 0.0

    def start(self, wakeup_descriptor: int) -> None:
        """Start accepting connections.

        A byte that arrives on `wakeup_descriptor` interrupts the wait in `run_once`.
        """
        self._wakeup_descriptor = wakeup_descriptor
        self._sockets.epoll.register(wakeup_descriptor, select.EPOLLIN)
        for listener in self._listeners.values():
            listener.setblocking(False)  # noqa: FBT003 - the standard library's signature
            self._sockets.epoll.register(listener.fileno(), 0)
        self._set_accepting(enabled=True)

    def run_once(self) -> None:
        """Wait at most one second for events, and handle them."""
        for descriptor, _ in self._sockets.epoll.poll(self._accept_deferred_connections()):
            connection = self._table.get(descriptor)
            if connection is not None:
                self._sockets.run_guarded(connection, self._on_event)
            elif descriptor in self._listeners:
                self._on_new_connection(self._listeners[descriptor])
            elif descriptor == self._wakeup_descriptor:
                os.read(descriptor, 4096)
        now = time.monotonic()
        if now - self._swept_at >= _POLL_SECONDS:
            self._swept_at = now
            self._sweep(now)

    def _accept_deferred_connections(self) -> float:
        """Accept the deferred connections if their delay has ended.

        Returns the time in seconds to wait for events.
        """
        if self._deferred_until is None:
            return _POLL_SECONDS
        remaining = self._deferred_until - time.monotonic()
        if remaining > 0:
            return remaining
        self._deferred_until = None
        for listener in self._listeners.values() if self._accepting else ():
            self._accept(listener)
        self._listen(enabled=self._accepting)
        return 0

    def drain(self) -> None:
        """Stop accepting connections, and shorten the deadlines of open connections.

        Each open connection is closed after its next response, or after a short time.
        """
        self._draining = self._pool.draining = True
        self._accepting, self._deferred_until = False, None
        for descriptor in self._listeners:
            self._sockets.epoll.unregister(descriptor)
        now = time.monotonic()
        with self._sockets.lock:
            for connection in self._table:
                if connection.state is ConnectionState.IDLE:
                    latest_deadline = now + self._limits.idle_drain_seconds
                    connection.deadline = min(connection.deadline, latest_deadline)
                elif connection.state in (ConnectionState.HEAD, ConnectionState.BODY):
                    latest_deadline = now + self._limits.drain_seconds
                    connection.deadline = min(connection.deadline, latest_deadline)

    def _set_accepting(self, *, enabled: bool) -> None:
        if enabled == self._accepting:
            return
        self._accepting = enabled
        self._listen(enabled=enabled)

    def _listen(self, *, enabled: bool) -> None:
        for descriptor in self._listeners:
            self._sockets.epoll.modify(descriptor, select.EPOLLIN if enabled else 0)

    def _on_new_connection(self, listener: Listener) -> None:
        if self._sockets.connection_count.is_lowest():
            self._accept(listener)
        else:
            self._listen(enabled=False)
            self._deferred_until = time.monotonic() + DEFER_SECONDS

    def _accept(self, listener: Listener) -> None:
        # Accept only one connection. The other processes accept the remaining connections.
        try:
            client, peer = listener.accept()
        except OSError as error:
            if error.errno in _EXHAUSTION_ERRNOS:
                log.warning("connections.no_descriptors", connections=len(self._table))
                self._evict()
            return
        try:
            self._sockets.add(client, peer, listener.getsockname())
        except OSError:  # the client has disconnected already
            client.close()
        if self._table.is_full:
            self._evict()

    def _evict(self) -> None:
        """Close connections to make room for new connections.

        If no connection can be closed, stop accepting connections until the next sweep.
        """
        with self._sockets.lock:
            victims = self._table.list_victims(time.monotonic())
            for victim in victims:
                self._sockets.close(victim, reset=victim.state is not ConnectionState.IDLE)
        log.warning("connections.evicted", count=len(victims), left=len(self._table))
        if not victims:
            self._set_accepting(enabled=False)

    def _sweep(self, now: float) -> None:
        with self._sockets.lock:
            for connection in self._table.list_expired(now):
                self._sockets.run_guarded(connection, self._expire)
            for connection in self._table.list_response_victims(self._limits.unsent_bytes):
                self._sockets.close(connection, reset=True)
        self._set_accepting(enabled=not self._draining and not self._table.is_full)

    def _expire(self, connection: Connection) -> None:
        if connection.state in (ConnectionState.HEAD, ConnectionState.BODY):
            error = ApiError("request_timeout", "The request was received too slowly.")
            self._sockets.refuse(connection, error)
        else:
            self._sockets.close(connection, reset=connection.state is ConnectionState.SENDING)

    def _on_event(self, connection: Connection) -> None:
        if connection.state is ConnectionState.RUNNING:
            return  # an event of an earlier connection with this descriptor
        if connection.state is ConnectionState.SENDING:
            self._send_more(connection)
        elif connection.received:
            received, connection.received = connection.received, b""
            self._receive(connection, received)
        else:
            self._read(connection)

    def _read(self, connection: Connection) -> None:
        try:
            count = connection.socket.recv_into(self._buffer)
        except BlockingIOError:
            self._sockets.resume_waiting(connection)
            return
        if connection.state is ConnectionState.LINGERING and count:
            self._sockets.resume_waiting(connection)
        elif count:
            self._receive(connection, self._buffer[:count])
        else:
            self._receive_end(connection)

    def _receive(self, connection: Connection, data: bytes | memoryview) -> None:
        request = connection.request
        if request is None:
            body = Body(self._spool, partial(self._make_room, connection))
            request = Request(self._limits, body)
            connection.request = request
        try:
            connection.received = request.feed(data)
            if len(connection.received) > self._limits.head_bytes:
                # These bytes would stay in memory until the response is finished.
                connection.received, request.has_extra_data = b"", True
            if request.complete:
                request.body_store.finish()
        except ApiError as error:
            self._sockets.refuse(connection, error)
            return
        if request.complete:
            self._pool.submit(connection)
        else:
            self._await_more(connection, request, len(data))

    def _await_more(self, connection: Connection, request: Request, byte_count: int) -> None:
        limits, state = self._limits, connection.state
        if state is ConnectionState.BODY:
            self._sockets.extend_deadline(connection, byte_count, limits.body_seconds)
        elif request.head_complete:
            if request.expects_continue and not request.body_store.size:
                connection.socket.send(CONTINUE)
            self._sockets.wait(connection, ConnectionState.BODY, limits.body_seconds)
        elif state is ConnectionState.IDLE and request.is_started:
            self._sockets.wait(connection, ConnectionState.HEAD, limits.head_seconds)
        else:
            self._sockets.resume_waiting(connection)

    def _receive_end(self, connection: Connection) -> None:
        try:
            if connection.request is not None:
                connection.request.end()
        except ApiError as error:
            self._sockets.refuse(connection, error)
        else:
            self._sockets.close(connection)

    def _make_room(self, connection: Connection) -> bool:
        """Close a stalled connection to make room for a body. Return whether this succeeded."""
        victim = self._table.find_stalled_body_connection(time.monotonic(), connection)
        if victim is not None:
            self._sockets.close(victim, reset=True)
        return victim is not None

    def _send_more(self, connection: Connection) -> None:
        """Send buffered bytes. Once all are sent, finish the response or let a thread continue."""
        exchange = connection.exchange
        assert exchange is not None
        unsent_before = exchange.unsent_bytes
        if not exchange.outbox.flush():
            sent_bytes = unsent_before - exchange.unsent_bytes
            self._sockets.extend_deadline(connection, sent_bytes, self._limits.response_seconds)
        elif exchange.is_produced:
            self._pool.finish(connection, exchange)
        else:
            self._pool.submit(connection)
