"""Limit the total time of operations on hosts that answer slowly."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from app.engines.sources.model import SourceError, SourceErrorKind

_TOO_SLOW = "The host did not complete its answer in time."


class Budget:
    """The maximum time for an operation. Only time inside `spend` counts.

    The timeout of a socket restarts with every byte, so it does not end an operation in which a
    host sends one byte after the other. Therefore a timer shuts the connection down.

    Args:
        seconds: the maximum time.
        abort: shuts the connections down; it is called from another thread.
    """

    def __init__(self, seconds: float, abort: Callable[[], None]) -> None:
        self._remaining_seconds = seconds
        self._abort = abort

    @contextmanager
    def spend(self) -> Iterator[None]:
        """Run a part of the operation. Raises SourceError when the time is used up."""
        if self._remaining_seconds <= 0:
            raise SourceError(SourceErrorKind.UNREACHABLE, _TOO_SLOW)
        expired = threading.Event()

        def abort() -> None:
            expired.set()
            self._abort()

        timer = threading.Timer(self._remaining_seconds, abort)
        timer.daemon = True
        started = monotonic()
        timer.start()
        try:
            yield
        except Exception:
            if expired.is_set():
                raise SourceError(SourceErrorKind.UNREACHABLE, _TOO_SLOW) from None
            raise
        finally:
            timer.cancel()
            self._remaining_seconds -= monotonic() - started
        if expired.is_set():
            raise SourceError(SourceErrorKind.UNREACHABLE, _TOO_SLOW)


def shut_down(connection: socket.socket | None) -> None:
    """Shut a socket down, so that operations in which another thread waits for it end."""
    if connection is not None:
        with contextlib.suppress(OSError):
            # The method of an SSL socket would discard the state that the other thread uses.
            socket.socket.shutdown(connection, socket.SHUT_RDWR)
