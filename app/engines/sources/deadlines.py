"""Limit the total time of operations on hosts that respond slowly."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from app.engines.sources.model import HostError, HostErrorKind

_TOO_SLOW_MESSAGE = "The host did not complete its response in time."


class TimeBudget:
    """The maximum time in seconds for an operation. Only time inside `spend` counts.

    The timeout of a socket restarts with every byte, so it does not stop an operation in which a
    host sends single bytes slowly. Therefore, when the budget is used up, a timer calls `abort`
    from another thread. `abort` must shut down the connections.
    """

    def __init__(self, seconds: float, abort: Callable[[], None]) -> None:
        self._remaining_seconds = seconds
        self._abort = abort

    @contextmanager
    def spend(self) -> Iterator[None]:
        """Count the time in the context against the budget.

        Raises HostError if the budget is used up before or within the context.
        """
        if self._remaining_seconds <= 0:
            raise HostError(HostErrorKind.UNREACHABLE, _TOO_SLOW_MESSAGE)
        expiry = threading.Event()

        def abort() -> None:
            expiry.set()
            self._abort()

        timer = threading.Timer(self._remaining_seconds, abort)
        timer.daemon = True
        started_at = monotonic()
        timer.start()
        try:
            yield
        except Exception:
            if expiry.is_set():
                raise HostError(HostErrorKind.UNREACHABLE, _TOO_SLOW_MESSAGE) from None
            raise
        finally:
            timer.cancel()
            self._remaining_seconds -= monotonic() - started_at
        if expiry.is_set():
            raise HostError(HostErrorKind.UNREACHABLE, _TOO_SLOW_MESSAGE)


def shut_down(connection: socket.socket | None) -> None:
    """Shut down a socket, unless it is None, so that other threads stop waiting for it."""
    if connection is not None:
        with contextlib.suppress(OSError):
            # `SSLSocket.shutdown` would discard the TLS state that other threads use.
            socket.socket.shutdown(connection, socket.SHUT_RDWR)
