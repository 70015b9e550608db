"""The connection class of the pools. Another thread can shut a connection down."""

import os
import select
import socket
import weakref
from contextlib import AbstractContextManager
from typing import Any, Protocol

from psycopg2 import extensions


class Watcher(Protocol):
    """The methods of the guard that connections call."""

    def connecting(self, dsn: str) -> AbstractContextManager[None]:
        """Watch an attempt to connect. Raises OperationalError if the database is unreachable."""

    def add(self, connection: "Connection") -> None:
        """Watch a connection."""

    def remove(self, connection: "Connection") -> None:
        """Stop watching a connection that is being closed."""


class Connection(extensions.connection):
    """A connection that its guard watches.

    It keeps a duplicate of the socket's file descriptor. libpq may close its own descriptor at any
    time, and the number may then be reused for a file that must not be shut down.
    """

    def __init__(self, guard: Watcher, dsn: str, **options: Any) -> None:
        with guard.connecting(dsn):
            super().__init__(dsn, **options)
        self._guard = guard
        descriptor = os.dup(self.fileno())
        self._descriptor: int | None = descriptor
        self._close_descriptor = weakref.finalize(self, os.close, descriptor)
        self._close_descriptor.atexit = False
        self._poller = select.poll()
        self._poller.register(descriptor, select.POLLIN)
        guard.add(self)

    @property
    def is_waiting(self) -> bool:
        """Return whether a statement is running.

        Any thread may call this while it prevents the connection from being closed. libpq reads the
        status from memory, so a race can only return an outdated value.
        """
        status: int = self.info.transaction_status
        return status == extensions.TRANSACTION_STATUS_ACTIVE

    @property
    def is_dead(self) -> bool:
        """Return whether the server has closed this idle connection, or is about to.

        Nothing is sent. A server writes to an idle connection only when it closes it.
        """
        return bool(self._poller.poll(0))

    def shut_down(self) -> None:
        """Wake the thread that waits for the server; it raises OperationalError."""
        if self._descriptor is None:
            return
        duplicate = socket.socket(fileno=self._descriptor)
        try:
            duplicate.shutdown(socket.SHUT_RDWR)
        except OSError:  # it is closed already
            pass
        finally:
            duplicate.detach()

    def close(self) -> None:
        """Close the connection and stop watching it."""
        self._guard.remove(self)
        self._descriptor = None
        self._close_descriptor()
        super().close()
