"""The sockets of a process: registration with the kernel, and closing of connections.

A connection has one owner at a time. Its socket is registered with EPOLLONESHOT. An event makes the
loop the owner, and no other event occurs until `wait` registers the socket again. In the state
RUNNING, a thread owns the connection. The table and the registrations are shared, and protected by
`lock`.
"""

import select
import socket
import struct
import threading
import time
from collections.abc import Callable

from app.kit.errors import ApiError
from app.kit.logging import get_logger
from app.kit.serving.balance import ConnectionCount
from app.kit.serving.connections import Connection, ConnectionState, ConnectionTable
from app.kit.serving.limits import ClientLimits
from app.kit.serving.refusals import RefusalRenderer
from app.kit.serving.responses import ClientGone

log = get_logger("app.serving")

_READ_EVENTS = select.EPOLLIN | select.EPOLLONESHOT
_WRITE_EVENTS = select.EPOLLOUT | select.EPOLLONESHOT
_LINGER_RESET = struct.pack("ii", 1, 0)
_MAX_UNSENT_KERNEL_BYTES = 128 * 1024


class Sockets:
    """The open connections and their registrations with the kernel (epoll)."""

    def __init__(
        self, limits: ClientLimits, refusal_renderer: RefusalRenderer, count: ConnectionCount
    ) -> None:
        self.limits = limits
        self.connection_count = count
        self.table = ConnectionTable(limits.connections)
        self.lock = threading.RLock()
        self.epoll = select.epoll()
        self._refusal_renderer = refusal_renderer

    def add(self, client: socket.socket, peer: object, server: object) -> None:
        """Register a new connection, and set the deadline for its first request."""
        client.setblocking(False)  # noqa: FBT003 - the standard library's signature
        if client.family != socket.AF_UNIX:
            # Limits the kernel memory for a client that does not read.
            client.setsockopt(
                socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _MAX_UNSENT_KERNEL_BYTES
            )
        connection = Connection(client, peer, server)
        with self.lock:
            self.table.add(connection)
            self.connection_count.record(len(self.table))
            connection.set_state(ConnectionState.IDLE, time.monotonic(), self.limits.head_seconds)
            self.epoll.register(connection.descriptor, _READ_EVENTS)

    def wait(self, connection: Connection, state: ConnectionState, seconds: float) -> None:
        """Set a connection's state, and let the loop wait up to `seconds` for its next event."""
        with self.lock:
            connection.set_state(state, time.monotonic(), seconds)
            self._register_next_event(connection)

    def resume_waiting(self, connection: Connection) -> None:
        """Let the loop wait for a connection's next event, with the same state and deadline."""
        with self.lock:
            self._register_next_event(connection)

    def extend_deadline(self, connection: Connection, byte_count: int, seconds: float) -> None:
        """Extend the deadline of a connection for `byte_count` transferred bytes.

        The new deadline is at most `seconds` from now. The loop continues to wait.
        """
        with self.lock:
            now = time.monotonic()
            connection.extend_deadline(byte_count, now, self.limits.bytes_per_second, seconds)
            self._register_next_event(connection)

    def _register_next_event(self, connection: Connection) -> None:
        # If the next request has been received already, the loop must wake up immediately. The
        # socket is writable, so waiting for writability has this effect.
        write = connection.state is ConnectionState.SENDING or connection.received
        self.epoll.modify(connection.descriptor, _WRITE_EVENTS if write else _READ_EVENTS)

    def close(self, connection: Connection, *, reset: bool = False) -> None:
        """Close a connection and release its resources.

        May be called only by the connection's owner or by the loop. If `reset` is true, unsent data
        is discarded.
        """
        with self.lock:
            if not self.table.remove(connection):
                return
            self.connection_count.record(len(self.table))
            if connection.request is not None:
                connection.request.body_store.close()
            if reset:
                # Unsent bytes would stay in the kernel until the client has read them.
                connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_RESET)
            self.epoll.unregister(connection.descriptor)
            connection.socket.close()
        exchange, connection.exchange = connection.exchange, None
        if exchange is not None:
            exchange.close()

    def refuse(self, connection: Connection, error: ApiError) -> None:
        """Send an error response, and close the connection once the client has received it."""
        response = self._refusal_renderer.render(error, connection.request)
        if connection.request is not None:
            connection.request.body_store.close()
        connection.request = None
        connection.socket.send(response)
        self.linger(connection)

    def linger(self, connection: Connection) -> None:
        """Stop sending, and let the loop wait for the client to close the connection.

        Closing a socket while data arrives resets the connection, and the client may lose the
        response.
        """
        connection.received = b""
        connection.socket.shutdown(socket.SHUT_WR)
        self.wait(connection, ConnectionState.LINGERING, self.limits.linger_seconds)

    def run_guarded(self, connection: Connection, action: Callable[[Connection], None]) -> None:
        """Run `action` on a connection. A failure closes only this connection."""
        try:
            action(connection)
        except (ClientGone, OSError):
            self.close(connection)
        except Exception:
            log.exception("connection.failed")
            self.close(connection, reset=True)
