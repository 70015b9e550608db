"""Notices a database that does not answer, and answers for it until it is back.

A thread looks at the connections of the process. When a statement or a connection attempt has been
under way for a while, it asks the server `SELECT 1` on a connection of its own. If there is no
answer in time the circuit opens: all sockets are shut down, so that the threads which wait get an
error at once, and so does whoever wants a connection. The thread goes on trying to connect, and the
first success closes the circuit. Nothing is done per statement.
"""

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import psycopg2
from psycopg2.extensions import make_dsn

from app.kit import metrics
from app.kit.db_guard.connections import Connection
from app.kit.db_guard.deadlines import CONNECT_SECONDS
from app.kit.db_guard.probe import Answer, Probe
from app.kit.logging import get_logger

log = get_logger(__name__)

PROBE_SECONDS = 2.5
"""A server that has not answered `SELECT 1` by then is down."""
_LOOK_SECONDS = 0.5
_REFUSED_SECONDS = 0.1
"""So long after an attempt to connect failed, no other one is made."""
_KEEP_PROBE_SECONDS = 30.0
_APPLICATION_NAME = "labeling-probe"

OUTAGES = metrics.Counter(
    "labeling_database_outages", "Times that a process found the database not answering."
)
_all_guards: "weakref.WeakSet[Guard]" = weakref.WeakSet()


class Guard:
    """The circuit between a process and its database; one for all pools of a database."""

    def __init__(self) -> None:
        self._reset()
        _all_guards.add(self)

    def _reset(self) -> None:
        """Forget everything: the child of a fork has no connections and no thread."""
        # Reentrant: the garbage collector may close a connection in the middle of a look.
        self._lock = threading.RLock()
        self._connections: dict[int, weakref.ref[Connection]] = {}
        self._waiting: set[int] = set()
        self._thread: threading.Thread | None = None
        self._connecting = 0
        self._is_open = False
        self._refused_at = 0.0
        self._dsn = ""
        self._is_doubtful = False
        self._probe: Probe | None = None
        self._probe_used_at = 0.0

    @property
    def connection_factory(self) -> Callable[..., Any]:
        """For `connect`'s argument of this name."""
        return partial(Connection, self)

    @property
    def is_open(self) -> bool:
        """Whether the database is known not to answer."""
        return self._is_open

    @contextmanager
    def connecting(self, dsn: str) -> Iterator[None]:
        """Watch over an attempt to connect; refuse it when it would be in vain."""
        started = time.monotonic()
        if self._is_open or started - self._refused_at < _REFUSED_SECONDS:
            raise psycopg2.OperationalError("the database does not answer; it is being asked again")
        with self._lock:
            self._dsn = dsn
            self._start()
            self._connecting += 1
        try:
            yield
        except psycopg2.OperationalError:
            self._on_refusal(time.monotonic() - started)
            raise
        finally:
            with self._lock:
                self._connecting -= 1

    def _on_refusal(self, seconds: float) -> None:
        # Nobody gains by asking at once again, and the server may need the time to recover.
        self._refused_at = time.monotonic()
        if seconds < PROBE_SECONDS:
            return
        with self._lock:
            self._is_doubtful = bool(self._connections)
        if not self._is_doubtful:
            self._open()

    def add(self, connection: Connection) -> None:
        """Watch a new connection."""
        key, connections = id(connection), self._connections
        with self._lock:
            connections[key] = weakref.ref(connection, lambda _: connections.pop(key, None))
            self._start()

    def remove(self, connection: Connection) -> None:
        """Watch a connection no more. It must not be closed before this returns."""
        with self._lock:
            self._connections.pop(id(connection), None)

    def _watched(self) -> list[Connection]:
        """Return the open connections; none is closed by another thread under the lock."""
        found = (reference() for reference in list(self._connections.values()))
        return [connection for connection in found if connection is not None]

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="database-guard", daemon=True)
            self._thread.start()

    def _watch(self) -> None:
        while True:
            time.sleep(_LOOK_SECONDS)
            try:
                if self._is_open:
                    self._try_to_close()
                elif (suspect := self._suspect()) is not None:
                    self._ask(suspect)
                elif self._rest():
                    return
            except Exception:
                # Without this thread a hanging server would block all others.
                log.exception("database.guard_failed")

    def _suspect(self) -> Connection | None:
        """Return a connection that waited for the server at this look and at the one before.

        Any will do when the server did not answer somebody who wanted to connect.
        """
        with self._lock:
            connections = self._watched()
            waiting = {id(one): one for one in connections if one.is_waiting}
        before, self._waiting = self._waiting, set(waiting)
        if self._is_doubtful:
            self._is_doubtful = False
            return connections[0] if connections else None
        return next((one for key, one in waiting.items() if key in before), None)

    def _ask(self, suspect: Connection) -> None:
        if self._probe is None:
            self._probe = Probe(_dsn_of(self._dsn, suspect))
        answer = self._probe.ask(PROBE_SECONDS)
        self._probe_used_at = time.monotonic()
        if answer is Answer.NONE:
            self._open()
        elif answer is Answer.REFUSED:
            self._probe = None

    def _rest(self) -> bool:
        """Give up what is not needed; return whether this thread is not needed either."""
        idle = time.monotonic() - self._probe_used_at > _KEEP_PROBE_SECONDS
        if idle:
            self._drop_probe()
        with self._lock:
            if self._connections or self._connecting or self._probe is not None:
                return False
            self._thread = None
            return True

    def _drop_probe(self) -> None:
        probe, self._probe = self._probe, None
        if probe is not None:
            probe.close()

    def _open(self) -> None:
        """Refuse new connections and wake whoever waits on an old one."""
        with self._lock:
            if self._is_open:
                return
            self._is_open = True
            connections = self._watched()
            for connection in connections:
                connection.shut_down()
            self._start()
        OUTAGES.inc()
        log.error("database.unreachable", connections=len(connections))

    def _try_to_close(self) -> None:
        """Let connections be made again once one succeeds."""
        self._drop_probe()
        try:
            psycopg2.connect(self._dsn, connect_timeout=CONNECT_SECONDS).close()
        except psycopg2.OperationalError:
            return
        self._refused_at = 0.0
        self._is_open = False
        log.warning("database.reachable")


def _dsn_of(dsn: str, connection: Connection) -> str:
    """Return a DSN of the very server of a connection: `dsn` may name several."""
    server = {"host": connection.info.host, "port": connection.info.port}
    return str(make_dsn(dsn, application_name=_APPLICATION_NAME, **server))


def _forget_in_child() -> None:
    for guard in list(_all_guards):
        guard._reset()  # noqa: SLF001 - this module's own


os.register_at_fork(after_in_child=_forget_in_child)
