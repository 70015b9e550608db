"""Stop processes in the middle of a transaction, before they write to a table, to kill them there.

PostgreSQL's locks show which statement a process has reached, so the tests need not sleep or rely
on chance.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil
from sqlalchemy import Connection, Engine, text

from tests.factories.waiting import wait_until

_WAITING = text(
    """
    SELECT pid, client_port FROM pg_stat_activity
    WHERE :holder = ANY (pg_blocking_pids(pid)) AND application_name = 'labeling'
      AND strpos(query, :sql_part) > 0
    """
)
_WAITS = text("SELECT cardinality(pg_blocking_pids(:pid)) > 0")
_CONNECTED = text("SELECT 1 FROM pg_stat_activity WHERE pid = ANY (:pids)")


class Turnstile:
    """Makes writers of `table` wait during the block.

    They wait until `step`, which lets one transaction through, until `kill`, or until the block
    ends. `processes` finds processes by words, as `Service.processes` does. Only statements that
    contain `sql_part` count, because other processes may write to the table at any time. A
    transaction of the service waits for a lock for at most 10 s.
    """

    def __init__(
        self,
        processes: Callable[..., list[psutil.Process]],
        engine: Engine,
        table: str,
        sql_part: str = "",
    ) -> None:
        self._processes = processes
        self._engine = engine
        self._table = table
        self._sql_part = sql_part
        self._holder: Connection | None = None

    def __enter__(self) -> Self:
        self._holder = self._connect()
        self._lock(self._holder)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.open()

    def open(self) -> None:
        """Let all writers through from now on. Works even if PostgreSQL was killed."""
        if self._holder is not None:
            with suppress(Exception):
                self._holder.rollback()
            self._holder.close()
            self._holder = None

    def _connect(self) -> Connection:
        # Each lock needs its own connection, because it is released at the end of a transaction.
        return self._engine.connect()

    def _lock(self, connection: Connection) -> None:
        # This blocks writers, but neither readers nor row locks.
        connection.execute(text(f"LOCK TABLE {self._table} IN SHARE ROW EXCLUSIVE MODE"))

    def _get_pid(self, connection: Connection) -> int:
        return int(connection.execute(text("SELECT pg_backend_pid()")).scalar_one())

    def _list_waiting(self) -> list[Any]:
        assert self._holder is not None
        holder = self._holder.connection.driver_connection.info.backend_pid  # type: ignore[union-attr]
        with self._engine.connect() as connection:
            values = {"holder": holder, "sql_part": self._sql_part}
            return list(connection.execute(_WAITING, values))

    def change(self, statement: str, **values: Any) -> None:
        """Commit a change to the table, and make all later writers wait.

        Writers that were already waiting are let through.
        """
        assert self._holder is not None
        self._holder.execute(text("SET LOCAL app.all_organizations = 'on'"))
        self._holder.execute(text(statement), values)
        self._admit_waiting()

    def wait_for_arrival(self, *words: str) -> psutil.Process:
        """Wait for a process with `words` to wait here in a transaction, and return it."""
        waiting: list[psutil.Process] = []

        def has_arrived() -> bool:
            ports = {row.client_port for row in self._list_waiting()}
            # Looking at all processes is expensive.
            processes = self._processes(*words) if ports else []
            sockets = _list_sockets(ports)
            waiting[:] = [process for process in processes if _has_socket(process, sockets)]
            return bool(waiting)

        wait_until(has_arrived, f"a process that waits to write to {self._table}")
        return waiting[0]

    def step(self, *words: str) -> psutil.Process:
        """Let the waiting transactions through; then wait for the next process, and return it."""
        self.wait_for_arrival()
        self._admit_waiting()
        return self.wait_for_arrival(*words)

    def _admit_waiting(self) -> None:
        """End the transaction that holds the lock, and lock the table in another transaction."""
        before, after = self._holder, self._connect()
        assert before is not None
        with ThreadPoolExecutor(1) as pool:
            pid = self._get_pid(after)
            # PostgreSQL grants conflicting locks in order, so this one follows the waiting writers.
            locked = pool.submit(self._lock, after)
            wait_until(lambda: self._is_queued(pid), "the lock request to be queued")
            before.commit()
            before.close()
            self._holder = after
            locked.result()

    def _is_queued(self, pid: int) -> bool:
        with self._engine.connect() as connection:
            return bool(connection.execute(_WAITS, {"pid": pid}).scalar_one())

    def kill(self, process: psutil.Process) -> None:
        """Kill a process that waits here, open the turnstile, and wait for the rollback."""
        pids = [
            row.pid
            for row in self._list_waiting()
            if _has_socket(process, _list_sockets({row.client_port}))
        ]
        assert pids, "the process does not wait here any more"
        process.kill()
        self.open()

        def is_closed() -> bool:
            with self._engine.connect() as connection:
                return connection.execute(_CONNECTED, {"pids": pids}).first() is None

        wait_until(is_closed, "PostgreSQL to close the connections")


def _list_sockets(ports: set[int]) -> set[str]:
    """Return the TCP sockets with these local ports, in the form of the links in /proc/PID/fd.

    This does not use psutil, which would read the long table of connections for each process.
    """
    sockets = set()
    for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:] if ports else ():
        fields = line.split()
        if int(fields[1].rpartition(":")[2], 16) in ports:
            sockets.add(f"socket:[{fields[9]}]")
    return sockets


def _has_socket(process: psutil.Process, sockets: set[str]) -> bool:
    """Return whether a process has one of the sockets open."""
    with suppress(OSError):
        for descriptor in Path(f"/proc/{process.pid}/fd").iterdir():
            with suppress(OSError):  # closed meanwhile
                if str(descriptor.readlink()) in sockets:
                    return True
    return False
