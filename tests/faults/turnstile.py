"""Stopping whoever writes to a table in the middle of their transaction, to end them there.

PostgreSQL's own locks say where a process stands: nothing is slept over, nothing is left to luck.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import psutil
from sqlalchemy import Connection, Engine, text

from tests.factories.waiting import wait_until

_WAITING = text(
    """
    SELECT pid, client_port FROM pg_stat_activity
    WHERE :holder = ANY (pg_blocking_pids(pid)) AND application_name = 'labeling'
      AND strpos(query, :saying) > 0
    """
)
_WAITS = text("SELECT cardinality(pg_blocking_pids(:pid)) > 0")
_THERE = text("SELECT 1 FROM pg_stat_activity WHERE pid = ANY (:pids)")


class Turnstile:
    """Within its block who writes to `table` waits: until `step`, which lets one transaction
    through, `kill`, or the end of the block.

    `processes` finds processes by words, as `Service.processes` does. Who waits with a statement
    that does not say `saying` is not looked for: to a table of the kit, others write at any time.
    The service waits for no lock longer than 10 s.
    """

    def __init__(
        self,
        processes: Callable[..., list[psutil.Process]],
        engine: Engine,
        table: str,
        saying: str = "",
    ) -> None:
        self._processes = processes
        self._engine = engine
        self._table = table
        self._saying = saying
        self._held: Connection | None = None

    def __enter__(self) -> Self:
        self._held = self._connect()
        self._lock(self._held)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.open()

    def open(self) -> None:
        """Let all through from now on. It may be that PostgreSQL, and the lock, are gone."""
        if self._held is not None:
            with suppress(Exception):
                self._held.rollback()
            self._held.close()
            self._held = None

    def _connect(self) -> Connection:
        # A connection of its own for each: the ends of transactions are what it works by.
        return self._engine.connect()

    def _lock(self, connection: Connection) -> None:
        # Readers and the lockers of rows get past it, writers do not.
        connection.execute(text(f"LOCK TABLE {self._table} IN SHARE ROW EXCLUSIVE MODE"))

    def _pid(self, connection: Connection) -> int:
        return int(connection.execute(text("SELECT pg_backend_pid()")).scalar_one())

    def _waiting(self) -> list[Any]:
        assert self._held is not None
        holder = self._held.connection.driver_connection.info.backend_pid  # type: ignore[union-attr]
        with self._engine.connect() as connection:
            return list(connection.execute(_WAITING, {"holder": holder, "saying": self._saying}))

    def arrived(self, *words: str) -> psutil.Process:
        """The process with `words` that waits here in a transaction, once there is one."""
        found: list[psutil.Process] = []

        def look() -> bool:
            ports = {row.client_port for row in self._waiting()}
            found[:] = [one for one in self._processes(*words) if _ports(one) & ports]
            return bool(found)

        wait_until(look, f"a process that waits to write to {self._table}")
        return found[0]

    def step(self, *words: str) -> psutil.Process:
        """Let through the transactions that wait; who with `words` comes next (see `arrived`)."""
        self.arrived()
        before, after = self._held, self._connect()
        assert before is not None
        with ThreadPoolExecutor(1) as pool:
            pid = self._pid(after)
            # It comes behind those who wait: of locks that exclude each other the first is first.
            locked = pool.submit(self._lock, after)
            wait_until(lambda: self._queued(pid), "the turnstile to close behind who waits")
            before.rollback()
            before.close()
            self._held = after
            locked.result()
        return self.arrived(*words)

    def _queued(self, pid: int) -> bool:
        with self._engine.connect() as connection:
            return bool(connection.execute(_WAITS, {"pid": pid}).scalar_one())

    def kill(self, process: psutil.Process) -> None:
        """SIGKILL a process that waits here, and open: returns once what it had begun is undone."""
        pids = [row.pid for row in self._waiting() if row.client_port in _ports(process)]
        assert pids, "it does not wait here any more"
        process.kill()
        self.open()

        def gone() -> bool:
            with self._engine.connect() as connection:
                return connection.execute(_THERE, {"pids": pids}).first() is None

        wait_until(gone, "PostgreSQL to notice that its client is gone")


def _ports(process: psutil.Process) -> set[int]:
    """The local ports of a process's connections."""
    try:
        return {one.laddr.port for one in process.net_connections("tcp") if one.raddr}
    except psutil.Error:
        return set()
