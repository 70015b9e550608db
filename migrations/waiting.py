"""How a migration waits: for tables briefly and again, for another migration until it is done."""

import logging
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

PATIENCE = 600.0
"""Seconds after which a step that never gets its locks fails."""

LOCK_TIMEOUT = "800ms"
"""How long a migration waits for a table or a row at a time.

Everybody who wants the table after it waits too. And whoever has waited for `deadlock_timeout`
(1 s) looks for a deadlock and is the one that fails: a migration that has given up by then never
makes a request fail.
"""

# Row-level security binds the owner too. And when nobody waits for an answer any more, the server
# is to stop, so that what was begun is not ended beside a second attempt.
OPTIONS = (
    f"-c lock_timeout={LOCK_TIMEOUT} -c statement_timeout=15min -c timezone=UTC"
    " -c app.all_organizations=on -c client_connection_check_interval=2s"
)
"""Start-up options of a migrating connection."""

_TRY = text("SELECT pg_try_advisory_lock(:key)")
_BUSY = {"55P03", "40P01"}  # lock_not_available, deadlock_detected
_LONGEST_PAUSE = 5.0

log = logging.getLogger("migrations")
T = TypeVar("T")


def patiently(attempt: Callable[[], T], *, patience: float = PATIENCE) -> T:
    """Do `attempt`, which leaves nothing behind when it fails, until it gets its locks.

    Raises what it raised when it did not within `patience` seconds, or for another reason.
    """
    give_up = time.monotonic() + patience
    for pause in _pauses():
        try:
            return attempt()
        except OperationalError as failure:
            busy = getattr(failure.orig, "pgcode", None) in _BUSY
            if not busy or time.monotonic() > give_up:
                raise
            log.warning("Somebody holds what is to be changed; trying again in %.1f s", pause)
        time.sleep(pause)
    raise AssertionError("there is always another pause")


def _pauses() -> Iterator[float]:
    pause = 0.2
    while True:
        yield pause
        pause = min(2 * pause, _LONGEST_PAUSE)


def alone(connection: Connection, key: int) -> None:
    """Take the advisory lock `key` for the session, however long another process holds it.

    Asked for again and again: who waits inside a statement holds a snapshot, and whoever builds an
    index CONCURRENTLY waits for every snapshot, so that the two would wait for each other.
    """
    for pause in _pauses():
        taken = connection.scalar(_TRY, {"key": key})
        connection.commit()
        if taken:
            return
        log.warning("Another process migrates; waiting for it")
        time.sleep(pause)
