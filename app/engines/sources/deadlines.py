"""End operations on hosts that answer slowly without end."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from app.engines.sources.model import SourceError, SourceErrorKind

_TOO_SLOW = "The host did not complete its answer in time."


class Budget:
    """The time that an operation may take. It passes only inside of `spend`.

    The timeout of a socket restarts with every byte, so it does not end an operation in which a
    host sends one byte after the other. Here a timer shuts the connection down.

    Args:
        seconds: the time that the operation may take.
        abort: shuts the connections down, from another thread.
    """

    def __init__(self, seconds: float, abort: Callable[[], None]) -> None:
        self._left = seconds
        self._abort = abort

    @contextmanager
    def spend(self) -> Iterator[None]:
        """Run a part of the operation. Raises SourceError if its time is over."""
        if self._left <= 0:
            raise SourceError(SourceErrorKind.UNREACHABLE, _TOO_SLOW)
        expired = threading.Event()

        def abort() -> None:
            expired.set()
            self._abort()

        timer = threading.Timer(self._left, abort)
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
            self._left -= monotonic() - started
        if expired.is_set():
            raise SourceError(SourceErrorKind.UNREACHABLE, _TOO_SLOW)


def shut_down(connection: socket.socket | None) -> None:
    """End all waiting operations of a socket of another thread."""
    if connection is not None:
        with contextlib.suppress(OSError):
            # The method of an SSL socket would discard the state that the other thread uses.
            socket.socket.shutdown(connection, socket.SHUT_RDWR)
