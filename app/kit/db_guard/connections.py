"""The connection class of the pools. Any thread can shut down a connection of this class."""

import os
import select
import socket
import weakref
from contextlib import AbstractContextManager
from typing import Protocol

from psycopg2 import extensions


class Watcher(Protocol):
    """The methods of a guard (`guard.Guard`) that connections call."""

    def watch_connecting(self, dsn: str) -> AbstractContextManager[None]:
        """Watch an attempt to connect.

        Raises OperationalError if the guard does not allow the attempt or cannot watch it.
        """

    def add(self, connection: "Connection") -> None:
        """Watch a connection."""

    def remove(self, connection: "Connection") -> None:
        """Stop watching a connection that is being closed."""


class Connection(extensions.connection):
    """A database connection that a guard watches.

    It keeps a duplicate of the socket's file descriptor. libpq may close its own descriptor at any
    time, and the number may then be reused for a file that must not be shut down.
    """

    def __init__(self, guard: Watcher, dsn: str, **options: int) -> None:
        with guard.watch_connecting(dsn):
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
        """Return whether a statement is running on this connection.

        Any thread may call this, but the connection must not be closed during the call. libpq reads
        the status from memory, so a race can only return an outdated value.
        """
        status: int = self.info.transaction_status
        return status == extensions.TRANSACTION_STATUS_ACTIVE

    @property
    def is_dead(self) -> bool:
        """Return whether the server has closed this idle connection, or is closing it.

        The check sends nothing. A server writes to an idle connection only before closing it.
        """
        return bool(self._poller.poll(0))

    def shut_down(self) -> None:
        """Shut down the socket. A thread that is waiting for the server gets OperationalError."""
        if self._descriptor is None:
            return
        duplicate = socket.socket(fileno=self._descriptor)
        try:
            duplicate.shutdown(socket.SHUT_RDWR)
        except OSError:  # the connection is already closed
            pass
        finally:
            duplicate.detach()

    def close(self) -> None:
        """Close the connection and stop watching it."""
        self._guard.remove(self)
        self._descriptor = None
        self._close_descriptor()
        super().close()
