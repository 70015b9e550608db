"""DNS lookups with a time limit. All addresses of a host are checked against the policy."""

import re
import socket
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore, Thread
from time import monotonic
from typing import NamedTuple

from app.kit.egress.policy import EgressRefused, Policy

# A lookup cannot be canceled. If it hangs, it blocks its thread until the system gives up, after
# half a minute. Therefore the number of concurrent lookups is limited. An attempt to deliver a
# webhook ends after ten seconds, so each of the dispatcher's 256 threads can have three hanging
# lookups. The limit is higher, so that one organization's name servers cannot use it up.
_MAX_LOOKUPS = 1024
_NUMERIC_ADDRESS = re.compile(r"[0-9a-fx.:%]+", re.IGNORECASE)
_lookup_semaphore = BoundedSemaphore(_MAX_LOOKUPS)

_AddressInfo = tuple[
    int,
    int,
    int,
    str,
    tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes],
]
_AddressInfos = Sequence[_AddressInfo]
"""The result of `socket.getaddrinfo`."""


class Endpoint(NamedTuple):
    """An allowed address in the format that `socket.connect` requires."""

    family: int
    address: tuple[str, int] | tuple[str, int, int, int]


class ResolutionFailed(Exception):  # noqa: N818 - names what happened
    """The name has no address, or the lookup took too long."""

    def __init__(self, *, timed_out: bool) -> None:
        super().__init__("the name was not resolved")
        self.timed_out = timed_out


LookupLimiter = Callable[[], AbstractContextManager[None]]
"""A function that returns a context manager, which is active during a DNS lookup."""


def resolve(
    policy: Policy,
    host: str,
    port: int,
    timeout: float,
    lookup_limiter: LookupLimiter = nullcontext,
) -> list[Endpoint]:
    """Return the addresses of a host in the order in which to try them.

    Args:
        policy: the allowed addresses.
        host: name or address of the host.
        port: port to connect to.
        timeout: timeout in seconds for the lookup.
        lookup_limiter: limits concurrent lookups. It is not called for a numeric address.

    Raises:
        EgressRefused: one of the addresses is not allowed.
        ResolutionFailed: the host has no address, or the lookup took too long.
    """
    address_infos = _parse_numeric(host, port)
    if not address_infos:
        with lookup_limiter():
            address_infos = _look_up(host, port, timeout)
    endpoints = [
        Endpoint(family, address)
        for family, _, _, _, address in address_infos
        if isinstance(address[0], str)
    ]
    if not endpoints:
        raise ResolutionFailed(timed_out=False)
    # Check all addresses, because the owner of the name determines which one is tried first.
    if not all(policy.allows(endpoint.address[0]) for endpoint in endpoints):
        raise EgressRefused("the host does not have a public address")
    return endpoints


def _parse_numeric(host: str, port: int) -> _AddressInfos:
    """Parse `host` as a numeric address in any format, without a lookup.

    Returns an empty list if `host` is not a numeric address.
    """
    if not _NUMERIC_ADDRESS.fullmatch(host):
        return []
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except (OSError, ValueError):
        return []


def _look_up(host: str, port: int, timeout: float) -> _AddressInfos:
    deadline = monotonic() + timeout
    if not _lookup_semaphore.acquire(timeout=max(0.0, timeout)):
        raise ResolutionFailed(timed_out=True)
    results: SimpleQueue[Callable[[], _AddressInfos]] = SimpleQueue()

    def look_up() -> None:
        try:
            address_infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            results.put(lambda: address_infos)
        except (OSError, ValueError):  # a label that is too long raises UnicodeError
            results.put(_raise_no_address)
        finally:
            _lookup_semaphore.release()

    try:
        Thread(target=look_up, name="egress-lookup", daemon=True).start()
    except RuntimeError:  # The process has too many threads.
        _lookup_semaphore.release()
        raise ResolutionFailed(timed_out=True) from None
    try:
        return results.get(timeout=max(0.0, deadline - monotonic()))()
    except Empty:
        raise ResolutionFailed(timed_out=True) from None


def _raise_no_address() -> _AddressInfos:
    raise ResolutionFailed(timed_out=False)
