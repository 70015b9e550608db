"""A circuit breaker for a database that does not respond.

A thread checks the connections of the process. When a statement or an attempt to connect takes a
long time, the thread sends `SELECT 1` on a separate connection. If no response arrives in time, the
circuit opens: all sockets are shut down, so that waiting threads get an error immediately, and new
connections are refused. The thread then tries to connect, and the first success closes the circuit.
The guard adds no work to a statement.
"""

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import psycopg2
from psycopg2.extensions import make_dsn

from app.kit import metrics
from app.kit.db_guard.connections import Connection
from app.kit.db_guard.deadlines import CONNECT_SECONDS
from app.kit.db_guard.probe import Probe, ProbeResult
from app.kit.logging import get_logger

log = get_logger(__name__)

PROBE_SECONDS = 2.5
"""The time in seconds after which a server that has not responded to `SELECT 1` counts as down."""
_POLL_SECONDS = 0.5
RETRY_SECONDS = 0.1
"""The minimum pause in seconds after a failed attempt to connect."""
_KEEP_PROBE_SECONDS = 30.0
"""The time in seconds after which the connection of an unused probe is closed."""
_APPLICATION_NAME = "labeling-probe"

OUTAGES = metrics.Counter(
    "labeling_database_outages",
    "The number of times that a process found the database unreachable.",
)
_all_guards: "weakref.WeakSet[Guard]" = weakref.WeakSet()


class Guard:
    """The circuit breaker of a process for one database, shared by all pools."""

    def __init__(self) -> None:
        self._reset()
        _all_guards.add(self)

    def _reset(self) -> None:
        """Initialize the state, also in a forked child, which has no connections and no thread."""
        # Reentrant, because the garbage collector may close a connection while the lock is held.
        self._lock = threading.RLock()
        self._connections: dict[int, weakref.ref[Connection]] = {}
        self._previously_waiting: set[int] = set()
        self._thread: threading.Thread | None = None
        self._connecting_count = 0
        self._is_open = False
        self._failed_at = 0.0
        self._dsn = ""
        self._needs_probe = False
        self._probe: Probe | None = None
        self._probe_used_at = 0.0

    @property
    def connection_factory(self) -> Callable[..., Connection]:
        """Return a `connection_factory` for psycopg2 whose connections this guard watches."""
        return partial(Connection, self)

    @property
    def is_open(self) -> bool:
        """Return whether the circuit is open, because the database is known to be unreachable."""
        return self._is_open

    @contextmanager
    def watch_connecting(self, dsn: str) -> Iterator[None]:
        """Watch an attempt to connect.

        Raises OperationalError if the database is known to be unreachable, if the last attempt
        failed less than RETRY_SECONDS ago, or if the watching thread cannot be started.
        """
        started_at = time.monotonic()
        if self._is_open or started_at - self._failed_at < RETRY_SECONDS:
            raise psycopg2.OperationalError(
                "the database does not respond; the connection will be retried"
            )
        with self._lock:
            self._dsn = dsn
            self._start()
            self._connecting_count += 1
        try:
            yield
        except psycopg2.OperationalError:
            self._on_connect_failure(time.monotonic() - started_at)
            raise
        finally:
            with self._lock:
                self._connecting_count -= 1

    def _on_connect_failure(self, seconds: float) -> None:
        # An immediate retry would be futile and could delay the recovery of the server.
        self._failed_at = time.monotonic()
        if seconds < PROBE_SECONDS:
            return
        with self._lock:
            self._needs_probe = bool(self._connections)
        if not self._needs_probe:
            self._open_circuit()

    def add(self, connection: Connection) -> None:
        """Watch a new connection."""
        key, connections = id(connection), self._connections
        with self._lock:
            connections[key] = weakref.ref(connection, lambda _: connections.pop(key, None))
            self._start()

    def remove(self, connection: Connection) -> None:
        """Stop watching a connection. The caller must close the connection only after this call."""
        with self._lock:
            self._connections.pop(id(connection), None)

    def _list_connections(self) -> list[Connection]:
        """Return the open connections. The caller has the lock, so no other thread closes them."""
        connections = (reference() for reference in list(self._connections.values()))
        return [connection for connection in connections if connection is not None]

    def _start(self) -> None:
        """Start the watching thread if it is not running. Raises OperationalError if that fails."""
        if self._thread is None:
            thread = threading.Thread(target=self._watch, name="database-guard", daemon=True)
            try:
                thread.start()
            except RuntimeError:
                # Without the thread, nothing would end the wait for a server that hangs.
                message = "cannot start the thread that watches the connection"
                raise psycopg2.OperationalError(message) from None
            self._thread = thread

    def _watch(self) -> None:
        while True:
            time.sleep(_POLL_SECONDS)
            try:
                if self._is_open:
                    self._try_to_close_circuit()
                elif (suspect := self._find_suspect()) is not None:
                    self._probe_server(suspect)
                elif self._stop_if_idle():
                    return
            except Exception:
                # This thread must continue. Without it, a hanging server would block other threads.
                log.exception("database.guard_failed")

    def _find_suspect(self) -> Connection | None:
        """Return a connection that is waiting now and was also waiting at the previous check.

        After an attempt to connect timed out, return any connection. Return None if no connection
        needs to be checked.
        """
        with self._lock:
            connections = self._list_connections()
            waiting_connections = {id(conn): conn for conn in connections if conn.is_waiting}
        previously_waiting, self._previously_waiting = (
            self._previously_waiting,
            set(waiting_connections),
        )
        if self._needs_probe:
            self._needs_probe = False
            return connections[0] if connections else None
        return next(
            (conn for key, conn in waiting_connections.items() if key in previously_waiting), None
        )

    def _probe_server(self, suspect: Connection) -> None:
        if self._probe is None:
            self._probe = Probe(_build_dsn(self._dsn, suspect))
        result = self._probe.run(PROBE_SECONDS)
        self._probe_used_at = time.monotonic()
        if result is ProbeResult.TIMEOUT:
            self._open_circuit()
        elif result is ProbeResult.ERROR:
            self._probe = None

    def _stop_if_idle(self) -> bool:
        """Close an unused probe. Return whether this thread has nothing to watch and must stop."""
        is_unused = time.monotonic() - self._probe_used_at > _KEEP_PROBE_SECONDS
        if is_unused:
            self._drop_probe()
        with self._lock:
            if self._connections or self._connecting_count or self._probe is not None:
                return False
            self._thread = None
            return True

    def _drop_probe(self) -> None:
        probe, self._probe = self._probe, None
        if probe is not None:
            probe.close()

    def _open_circuit(self) -> None:
        """Open the circuit: refuse new connections, and interrupt threads that are waiting."""
        with self._lock:
            if self._is_open:
                return
            self._is_open = True
            connections = self._list_connections()
            for connection in connections:
                connection.shut_down()
            self._start()
        OUTAGES.inc()
        log.error("database.unreachable", connections=len(connections))

    def _try_to_close_circuit(self) -> None:
        """Try to connect, and close the circuit on success."""
        self._drop_probe()
        try:
            psycopg2.connect(self._dsn, connect_timeout=CONNECT_SECONDS).close()
        except psycopg2.OperationalError:
            return
        self._failed_at = 0.0
        self._is_open = False
        log.warning("database.reachable")


def _build_dsn(dsn: str, connection: Connection) -> str:
    """Return `dsn` with only the server that `connection` uses. `dsn` may list several servers."""
    server = {"host": connection.info.host, "port": connection.info.port}
    return str(make_dsn(dsn, application_name=_APPLICATION_NAME, **server))


def _reset_in_child() -> None:
    for guard in list(_all_guards):
        guard._reset()  # noqa: SLF001 - a class of this module


os.register_at_fork(after_in_child=_reset_in_child)
