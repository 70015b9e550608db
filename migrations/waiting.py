"""Retry migration steps while tables are locked, and wait for migrations by other processes."""

import logging
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

MAX_RETRY_SECONDS = 600.0
"""The number of seconds for which locks are requested before a step fails."""

LOCK_TIMEOUT = "500ms"
"""The maximum time that a migration waits for a table or a row at a time.

Other sessions that need the table queue behind the migration. A session checks for deadlocks when
it has waited for `deadlock_timeout` (1 s), and fails if it finds one. By then, the migration has
stopped waiting, so no request fails. The remaining risk is a migration on a slow machine that locks
one table and pauses before it waits for the next table.
"""

# Row-level security applies to the owner too, so `app.all_organizations` must be on. If the client
# disconnects, the server must stop the statement, so that it does not run at the same time as a
# second attempt.
OPTIONS = (
    f"-c lock_timeout={LOCK_TIMEOUT} -c statement_timeout=15min -c timezone=UTC"
    " -c app.all_organizations=on -c client_connection_check_interval=2s"
)
"""The PostgreSQL options for the connection of a migration."""

_TRY_LOCK = text("SELECT pg_try_advisory_lock(:key)")
_LOCK_ERRORS = {"55P03", "40P01"}  # lock_not_available, deadlock_detected
_MAX_PAUSE_SECONDS = 5.0

log = logging.getLogger("migrations")
T = TypeVar("T")


def retry_while_locked(attempt: Callable[[], T], *, max_seconds: float = MAX_RETRY_SECONDS) -> T:
    """Run `attempt` until it gets its locks, and return its result.

    `attempt` must have no effect when it fails. Raises the exception of the last attempt after
    `max_seconds`, or at once if the cause is not a lock.
    """
    deadline = time.monotonic() + max_seconds
    for pause in _generate_pauses():
        try:
            return attempt()
        except OperationalError as failure:
            is_locked = getattr(failure.orig, "pgcode", None) in _LOCK_ERRORS
            if not is_locked or time.monotonic() > deadline:
                raise
            log.warning(
                "Another session holds a lock on the rows or tables to change; retrying in %.1f s",
                pause,
            )
        time.sleep(pause)
    raise AssertionError("the pauses never end")


def _generate_pauses() -> Iterator[float]:
    pause = 0.2
    while True:
        yield pause
        pause = min(2 * pause, _MAX_PAUSE_SECONDS)


def acquire_advisory_lock(connection: Connection, key: int) -> None:
    """Acquire the session's advisory lock `key` without a time limit; commit after each attempt.

    The lock is polled, because a session that waits inside a statement holds a snapshot, and an
    index build with CONCURRENTLY waits for all snapshots, which would cause a deadlock.
    """
    for pause in _generate_pauses():
        locked = connection.scalar(_TRY_LOCK, {"key": key})
        connection.commit()
        if locked:
            return
        log.warning("Another process is migrating the database; waiting for it")
        time.sleep(pause)
