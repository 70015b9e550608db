"""The connection class of the pools: it can be given up by another thread."""

import os
import select
import socket
import weakref
from contextlib import AbstractContextManager
from typing import Any, Protocol

from psycopg2 import extensions


class Watcher(Protocol):
    """The guard, as far as its connections call it."""

    def connecting(self, dsn: str) -> AbstractContextManager[None]:
        """Watch an attempt to connect; refuse it when the database is known not to answer."""

    def add(self, connection: "Connection") -> None:
        """Watch a connection."""

    def remove(self, connection: "Connection") -> None:
        """Stop watching a connection that is being closed."""


class Connection(extensions.connection):
    """A connection that its guard watches.

    It keeps a second descriptor of its socket. libpq may close its own at any time, and another
    thread's file may get that number: shutting that one down would hit a stranger.
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
        """Whether a statement is under way. May be asked by any thread that keeps it from closing.

        libpq says so from memory; its answer to a race is only an old one.
        """
        status: int = self.info.transaction_status
        return status == extensions.TRANSACTION_STATUS_ACTIVE

    @property
    def is_dead(self) -> bool:
        """Whether the server has closed this idle connection, or is about to.

        Nothing is sent: a server that says something unasked says good-bye.
        """
        return bool(self._poller.poll(0))

    def shut_down(self) -> None:
        """Wake the thread that waits for the server; it gets an OperationalError."""
        if self._descriptor is None:
            return
        wire = socket.socket(fileno=self._descriptor)
        try:
            wire.shutdown(socket.SHUT_RDWR)
        except OSError:  # it is gone already
            pass
        finally:
            wire.detach()

    def close(self) -> None:
        """Close the connection; the guard watches it no more."""
        self._guard.remove(self)
        self._descriptor = None
        self._close_descriptor()
        super().close()
