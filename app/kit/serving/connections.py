"""The open connections of a process, and the choice of connections to close if too many."""

import socket
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import Enum

from app.kit.networks import parse_network
from app.kit.serving.requests import Request
from app.kit.serving.responses import Exchange

_EVICTED_SHARE = 20
"""An eviction closes one in 20 connections, so that a flood does not cause many searches."""
_STALLED_SECONDS = 2.0


class State(Enum):
    """The state of a connection; its value says what the connection waits for.

    RUNNING connections belong to a thread, all others to the loop.
    """

    IDLE = "the first byte of a request"
    HEAD = "the rest of a request's head"
    BODY = "the rest of a request's body"
    RUNNING = "the application"
    SENDING = "the client to read"
    LINGERING = "the client to close"


class Connection:
    """A connection of a client, with its current request and response."""

    __slots__ = (
        "deadline",
        "descriptor",
        "exchange",
        "moved_at",
        "network",
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
        self.state = State.IDLE
        self.deadline = self.moved_at = 0.0
        self.received = b""
        """Bytes of the next request that were received together with this one."""
        self.request: Request | None = None
        self.exchange: Exchange | None = None

    def wait(self, state: State, now: float, seconds: float) -> None:
        """Start to wait in `state` for at most `seconds`."""
        self.state = state
        self.moved_at = now
        self.deadline = now + seconds

    def extend_deadline(self, count: int, now: float, rate: int, seconds: float) -> None:
        """Extend the deadline for `count` transferred bytes, to at most `seconds` from now."""
        self.deadline = min(now + seconds, self.deadline + count / rate)
        self.moved_at = min(now, self.moved_at + count / rate)


class Table:
    """All open connections by descriptor. The caller must hold the lock of `Sockets`."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._connections: dict[int, Connection] = {}

    def __len__(self) -> int:
        return len(self._connections)

    def __iter__(self) -> Iterator[Connection]:
        return iter(list(self._connections.values()))

    def get(self, descriptor: int) -> Connection | None:
        """Return the connection of a descriptor, or None."""
        return self._connections.get(descriptor)

    def add(self, connection: Connection) -> None:
        """Add a new connection."""
        self._connections[connection.descriptor] = connection

    def remove(self, connection: Connection) -> bool:
        """Remove a connection and return whether it was in the table."""
        return self._connections.pop(connection.descriptor, None) is not None

    @property
    def is_full(self) -> bool:
        """Return whether a connection must be closed before another can be accepted."""
        return len(self._connections) >= self.limit

    def list_expired(self, now: float) -> list[Connection]:
        """Return the connections whose deadline has passed."""
        return [
            connection
            for connection in self._connections.values()
            if connection.deadline <= now and connection.state is not State.RUNNING
        ]

    def list_victims(self, now: float) -> list[Connection]:
        """Return connections to close for new ones, from the network with most connections.

        Stalled connections come first, then idle connections, then the rest. In each group, the
        slowest connections come first.
        """
        waiting_connections = [
            c for c in self._connections.values() if c.state is not State.RUNNING
        ]
        candidates = _find_slowest_of_largest(waiting_connections, lambda _: 1)

        def eviction_order(connection: Connection) -> int:
            if connection.state is State.IDLE:
                return 1
            return 0 if now - connection.moved_at > _STALLED_SECONDS else 2

        count = max(1, len(self._connections) // _EVICTED_SHARE)
        return sorted(candidates, key=eviction_order)[:count]

    def find_body_victim(self, now: float, requester: Connection) -> Connection | None:
        """Return a stalled connection to close, to make room for the body of `requester`, or None.

        It is the slowest connection of the network whose stalled bodies are largest in total.
        """
        stalled = [
            c
            for c in self._connections.values()
            if c.state is State.BODY and c is not requester and now - c.moved_at > _STALLED_SECONDS
        ]
        return next(iter(_find_slowest_of_largest(stalled, _get_body_size)), None)

    def list_response_victims(self, limit: int) -> list[Connection]:
        """Return the connections to close so that unsent responses have at most `limit` bytes."""
        sending = [c for c in self._connections.values() if c.state is State.SENDING]
        excess = sum(map(_get_unsent_size, sending)) - limit
        victims = []
        for connection in sorted(sending, key=lambda c: c.deadline) if excess > 0 else ():
            if excess <= 0:
                break
            excess -= _get_unsent_size(connection)
            victims.append(connection)
        return victims


def _find_slowest_of_largest(
    connections: Iterable[Connection], weight: Callable[[Connection], int]
) -> list[Connection]:
    connections = list(connections)
    weights: Counter[bytes] = Counter()
    for connection in connections:
        weights[connection.network] += weight(connection)
    if not weights:
        return []
    largest = weights.most_common(1)[0][0]
    return sorted((c for c in connections if c.network == largest), key=lambda c: c.deadline)


def _get_body_size(connection: Connection) -> int:
    return connection.request.body_store.size if connection.request is not None else 0


def _get_unsent_size(connection: Connection) -> int:
    return connection.exchange.unsent if connection.exchange is not None else 0


def _get_network(peer: object) -> bytes:
    """Return the network of a client; it is empty for a client on a Unix socket."""
    return parse_network(peer[0]) if isinstance(peer, tuple) else b""
