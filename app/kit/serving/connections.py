"""The open connections of a process, and the selection of connections to close."""

import socket
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import Enum

from app.kit.networks import parse_network
from app.kit.serving.requests import Request
from app.kit.serving.responses import Exchange

_EVICTION_DIVISOR = 20
"""An eviction closes up to one in 20 connections, so that a flood of clients does not cause a
search for each new connection."""
_STALLED_SECONDS = 2.0
"""A client that is more than this many seconds behind the minimum transfer rate is stalled."""


class ConnectionState(Enum):
    """The state of a connection. The value describes what the connection is waiting for.

    Connections in the state RUNNING belong to a thread. All other connections belong to the loop.
    """

    IDLE = "the first byte of a request"
    HEAD = "the rest of a request's head"
    BODY = "the rest of a request's body"
    RUNNING = "the application"
    SENDING = "the client to read"
    LINGERING = "the client to close"


class Connection:
    """A connection to a client, with its current request and response."""

    __slots__ = (
        "deadline",
        "descriptor",
        "exchange",
        "network",
        "on_pace_until",
        "peer",
        "received",
        "request",
        "server",
        "socket",
        "state",
    )

    def __init__(self, client: socket.socket, peer: object, server: object) -> None:
        self.socket = client
        self.descriptor = client.fileno()
        self.peer, self.server = peer, server
        self.network = _get_network(peer)
        self.state = ConnectionState.IDLE
        self.deadline = 0.0
        self.on_pace_until = 0.0
        """The time up to which the client has kept the minimum transfer rate.

        A change of state sets it to the current time. Transferred bytes advance it, at most to the
        current time.
        """
        self.received = b""
        """Bytes of the next request that were received together with the current request."""
        self.request: Request | None = None
        self.exchange: Exchange | None = None

    def set_state(self, state: ConnectionState, now: float, seconds: float) -> None:
        """Set the state, and set the deadline to `seconds` from now."""
        self.state = state
        self.on_pace_until = now
        self.deadline = now + seconds

    def extend_deadline(self, byte_count: int, now: float, rate: int, seconds: float) -> None:
        """Extend the deadline for `byte_count` transferred bytes, to at most `seconds` from now.

        `rate` is the minimum number of bytes per second that the client must transfer.
        """
        self.deadline = min(now + seconds, self.deadline + byte_count / rate)
        self.on_pace_until = min(now, self.on_pace_until + byte_count / rate)


class ConnectionTable:
    """All open connections, by descriptor. The caller must hold the lock of `Sockets`."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._connections: dict[int, Connection] = {}

    def __len__(self) -> int:
        return len(self._connections)

    def __iter__(self) -> Iterator[Connection]:
        return iter(list(self._connections.values()))

    def get(self, descriptor: int) -> Connection | None:
        """Return the connection with this descriptor, or None."""
        return self._connections.get(descriptor)

    def add(self, connection: Connection) -> None:
        """Add a new connection to the table."""
        self._connections[connection.descriptor] = connection

    def remove(self, connection: Connection) -> bool:
        """Remove a connection and return whether it was in the table."""
        return self._connections.pop(connection.descriptor, None) is not None

    @property
    def is_full(self) -> bool:
        """Return whether a connection must be closed before another can be accepted."""
        return len(self._connections) >= self.limit

    def list_expired(self, now: float) -> list[Connection]:
        """Return the connections whose deadline has passed and that no thread owns."""
        return [
            connection
            for connection in self._connections.values()
            if connection.deadline <= now and connection.state is not ConnectionState.RUNNING
        ]

    def list_victims(self, now: float) -> list[Connection]:
        """Return connections to close in order to accept new connections.

        They belong to the client network with the most connections. Stalled connections come first,
        then idle connections, then all others. Within each group, the slowest connections come
        first.
        """
        waiting_connections = [
            c for c in self._connections.values() if c.state is not ConnectionState.RUNNING
        ]
        candidates = _list_slowest_in_largest_network(waiting_connections, lambda _: 1)

        def get_eviction_rank(connection: Connection) -> int:
            if connection.state is ConnectionState.IDLE:
                return 1
            return 0 if now - connection.on_pace_until > _STALLED_SECONDS else 2

        count = max(1, len(self._connections) // _EVICTION_DIVISOR)
        return sorted(candidates, key=get_eviction_rank)[:count]

    def find_stalled_body_connection(self, now: float, requester: Connection) -> Connection | None:
        """Return a stalled connection to close in order to make room for the body of `requester`.

        It is the slowest connection of the client network (see `parse_network`) whose stalled
        request bodies use the most space. Returns None if no other connection is stalled.
        """
        stalled_connections = [
            c
            for c in self._connections.values()
            if c.state is ConnectionState.BODY
            and c is not requester
            and now - c.on_pace_until > _STALLED_SECONDS
        ]
        return next(
            iter(_list_slowest_in_largest_network(stalled_connections, _get_body_size)), None
        )

    def list_response_victims(self, limit: int) -> list[Connection]:
        """Return connections to close so that unsent responses take at most `limit` bytes."""
        sending_connections = [
            c for c in self._connections.values() if c.state is ConnectionState.SENDING
        ]
        excess = sum(map(_get_unsent_size, sending_connections)) - limit
        victims = []
        for connection in (
            sorted(sending_connections, key=lambda c: c.deadline) if excess > 0 else ()
        ):
            if excess <= 0:
                break
            excess -= _get_unsent_size(connection)
            victims.append(connection)
        return victims


def _list_slowest_in_largest_network(
    connections: Iterable[Connection], get_weight: Callable[[Connection], int]
) -> list[Connection]:
    connections = list(connections)
    weights: Counter[bytes] = Counter()
    for connection in connections:
        weights[connection.network] += get_weight(connection)
    if not weights:
        return []
    largest_network = weights.most_common(1)[0][0]
    return sorted(
        (c for c in connections if c.network == largest_network), key=lambda c: c.deadline
    )


def _get_body_size(connection: Connection) -> int:
    return connection.request.body_store.size if connection.request is not None else 0


def _get_unsent_size(connection: Connection) -> int:
    return connection.exchange.unsent_bytes if connection.exchange is not None else 0


def _get_network(peer: object) -> bytes:
    """Return the network of a client, or an empty value for a client on a Unix socket."""
    return parse_network(peer[0]) if isinstance(peer, tuple) else b""
