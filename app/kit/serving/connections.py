"""The open connections of a process, and which to close when there are too many."""

import socket
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import Enum

from app.kit.serving.requests import Request
from app.kit.serving.responses import Exchange

_EVICTED_SHARE = 20
"""One in so many connections is closed at a time, so that a flood does not cost a search each."""
_STALLED_SECONDS = 2.0
_IPV6_NETWORK_BYTES = 8
_IPV4_IN_IPV6 = bytes(10) + b"\xff\xff"


class State(Enum):
    """What a connection waits for; RUNNING ones belong to a thread, all others to the loop."""

    IDLE = "the first byte of a request"
    HEAD = "the rest of a request's head"
    BODY = "the rest of a request's body"
    RUNNING = "the application"
    SENDING = "the client to read"
    LINGERING = "the client to close"


class Connection:
    """One client's connection, with the request that arrives and the response that leaves."""

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
        self.network = _network_of(peer)
        self.state = State.IDLE
        self.deadline = self.moved_at = 0.0
        self.received = b""
        """Bytes of the next request, which came with this one."""
        self.request: Request | None = None
        self.exchange: Exchange | None = None

    def wait(self, state: State, now: float, seconds: float) -> None:
        """Begin to wait, for so many seconds at most."""
        self.state = state
        self.moved_at = now
        self.deadline = now + seconds

    def keep_pace(self, count: int, now: float, rate: int, seconds: float) -> None:
        """Move the deadline for so many bytes; it is never more than `seconds` away."""
        self.deadline = min(now + seconds, self.deadline + count / rate)
        self.moved_at = min(now, self.moved_at + count / rate)


class Table:
    """All open connections by their descriptors. The caller holds the loop's lock."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._connections: dict[int, Connection] = {}

    def __len__(self) -> int:
        return len(self._connections)

    def __iter__(self) -> Iterator[Connection]:
        return iter(list(self._connections.values()))

    def get(self, descriptor: int) -> Connection | None:
        """Return the connection of a descriptor, if there is one."""
        return self._connections.get(descriptor)

    def add(self, connection: Connection) -> None:
        """Add a new connection."""
        self._connections[connection.descriptor] = connection

    def remove(self, connection: Connection) -> bool:
        """Remove a connection and return whether it was there."""
        return self._connections.pop(connection.descriptor, None) is not None

    @property
    def is_full(self) -> bool:
        """Whether a connection must go before another can come."""
        return len(self._connections) >= self.limit

    def expired(self, now: float) -> list[Connection]:
        """Return the connections that waited too long."""
        return [
            connection
            for connection in self._connections.values()
            if connection.deadline <= now and connection.state is not State.RUNNING
        ]

    def victims(self, now: float) -> list[Connection]:
        """Return the connections to close for new ones, all of the network that has most of them.

        Those that have stalled go first, then idle ones, then the slowest of the others.
        """
        waiting = [c for c in self._connections.values() if c.state is not State.RUNNING]
        candidates = _slowest_of_largest(waiting, lambda _: 1)

        def patience(connection: Connection) -> int:
            if connection.state is State.IDLE:
                return 1
            return 0 if now - connection.moved_at > _STALLED_SECONDS else 2

        count = max(1, len(self._connections) // _EVICTED_SHARE)
        return sorted(candidates, key=patience)[:count]

    def body_victim(self, now: float, newcomer: Connection) -> Connection | None:
        """Return a stalled connection whose body must make room for `newcomer`, if there is one.

        It is the slowest one of the network whose stalled bodies take most room.
        """
        stalled = [
            c
            for c in self._connections.values()
            if c.state is State.BODY and c is not newcomer and now - c.moved_at > _STALLED_SECONDS
        ]
        return next(iter(_slowest_of_largest(stalled, _body_size)), None)

    def response_victims(self, limit: int) -> list[Connection]:
        """Return the connections to close so that unread responses take at most `limit` bytes."""
        sending = [c for c in self._connections.values() if c.state is State.SENDING]
        excess = sum(map(_unsent_size, sending)) - limit
        victims = []
        for connection in sorted(sending, key=lambda c: c.deadline) if excess > 0 else ():
            if excess <= 0:
                break
            excess -= _unsent_size(connection)
            victims.append(connection)
        return victims


def _slowest_of_largest(
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


def _body_size(connection: Connection) -> int:
    return connection.request.body_store.size if connection.request is not None else 0


def _unsent_size(connection: Connection) -> int:
    return connection.exchange.unsent if connection.exchange is not None else 0


def _network_of(peer: object) -> bytes:
    """Return the client's IPv4 address, or the /64 network of its IPv6 address."""
    if not isinstance(peer, tuple):
        return b""
    if ":" not in peer[0]:
        return socket.inet_aton(peer[0])
    address = socket.inet_pton(socket.AF_INET6, peer[0].partition("%")[0])
    is_mapped = address.startswith(_IPV4_IN_IPV6)
    return address[len(_IPV4_IN_IPV6) :] if is_mapped else address[:_IPV6_NETWORK_BYTES]
