"""Names to addresses, in bounded time and with every address judged."""

import re
import socket
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore, Thread
from time import monotonic
from typing import NamedTuple

from app.kit.egress.policy import EgressRefused, Policy

# A lookup cannot be called off, so one that hangs keeps its thread until the system gives up
# (half a minute); so many may do so at once.
_LOOKUPS_AT_ONCE = 64
_NUMERIC = re.compile(r"[0-9a-fx.:%]+", re.IGNORECASE)
_lookups = BoundedSemaphore(_LOOKUPS_AT_ONCE)

_Info = tuple[
    int,
    int,
    int,
    str,
    tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes],
]
_Infos = Sequence[_Info]


class Endpoint(NamedTuple):
    """An address that was judged; ``address`` is what the socket is connected to, as it stands."""

    family: int
    address: tuple[str, int] | tuple[str, int, int, int]


class ResolutionFailed(Exception):  # noqa: N818 - names what happened
    """The name has no address, or none was found in time."""

    def __init__(self, *, timed_out: bool) -> None:
        super().__init__("the name was not resolved")
        self.timed_out = timed_out


def resolve(policy: Policy, host: str, port: int, timeout: float) -> list[Endpoint]:
    """Return the addresses of a host, in the order to try them.

    :param timeout: seconds.
    :raises EgressRefused: one of the addresses may not be reached.
    :raises ResolutionFailed: there is none, or not in time.
    """
    endpoints = [
        Endpoint(family, address)
        for family, _, _, _, address in _numeric(host, port) or _look_up(host, port, timeout)
        if isinstance(address[0], str)
    ]
    if not endpoints:
        raise ResolutionFailed(timed_out=False)
    # All of them: which one a client tries first is up to the name's owner.
    if not all(policy.allows(endpoint.address[0]) for endpoint in endpoints):
        raise EgressRefused("the host does not have a public address")
    return endpoints


def _numeric(host: str, port: int) -> _Infos:
    """Return the address that a text is in any notation, without asking a server."""
    if not _NUMERIC.fullmatch(host):
        return []
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except (OSError, ValueError):
        return []


def _look_up(host: str, port: int, timeout: float) -> _Infos:
    until = monotonic() + timeout
    if not _lookups.acquire(timeout=max(0.0, timeout)):
        raise ResolutionFailed(timed_out=True)
    answers: SimpleQueue[Callable[[], _Infos]] = SimpleQueue()

    def ask() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answers.put(lambda: found)
        except (OSError, ValueError):  # a label that is too long is a UnicodeError
            answers.put(_no_address)
        finally:
            _lookups.release()

    Thread(target=ask, name="egress-lookup", daemon=True).start()
    try:
        return answers.get(timeout=max(0.0, until - monotonic()))()
    except Empty:
        raise ResolutionFailed(timed_out=True) from None


def _no_address() -> _Infos:
    raise ResolutionFailed(timed_out=False)
