"""Migrate the database, and load the demo organization into an empty database.

This runs in a child process that exits before the service starts, so that the supervisor never
loads the application.
"""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial

import psycopg2

from app.kit.db_guard.deadlines import LIBPQ_TIMEOUTS

PROGRESS_FD = "PROGRESS_FD"


def main() -> int:
    """Migrate the database at DATABASE_URL; if DEMO is on, load the demo into an empty database.

    If PROGRESS_FD is set, progress is written to this descriptor as lines: `migrating <done>
    <total>` during a long step, then `migrated`, `demo <done> <total>` and `demo loaded`. If the
    demo organization already exists, `demo present` replaces the last two lines, or `demo changed`
    if its owner has a password other than DEMO_PASSWORD. If only other organizations exist,
    `demo refused` replaces them.
    """
    from app.kit.db import upgrade  # noqa: PLC0415 - loads SQLAlchemy

    report = _build_progress_reporter()
    if report is not _discard:
        # The supervisor shows the progress of migrations, so Alembic does not log it.
        logging.getLogger("alembic").setLevel(logging.WARNING)
    upgrade(progress=None if report is _discard else _MigrationProgress(report))
    report("migrated")
    if os.environ.get("DEMO", "").strip().lower() not in {"on", "true", "yes", "1"}:
        return 0
    if (counts := _count_organizations()) != (0, 0):
        report(find_demo_state() if counts[1] else "demo refused")
        return 0
    from demo.load import load  # noqa: PLC0415 - loads the application

    load(progress=lambda done, total: report(f"demo {done} {total}"))
    report("demo loaded")
    return 0


def _build_progress_reporter() -> Callable[[str], None]:
    """Return a function that writes a progress line to PROGRESS_FD, or does nothing without it."""
    descriptor = os.environ.pop(PROGRESS_FD, "")
    return partial(_write_line, int(descriptor)) if descriptor else _discard


def _discard(_: str) -> None:
    """Ignore a progress line, because nobody reads it."""


class _MigrationProgress:
    """Reports the progress of long migration steps to the supervisor."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report

    def begin(self, _: str) -> None:
        """Do nothing at the start of a step."""

    def advance(self, done: int, total: int) -> None:
        """Report how much of the current step is done."""
        self._report(f"migrating {done} {total}")

    def done(self, _: str) -> None:
        """Do nothing at the end of a step."""

    def failed(self) -> None:
        """Do nothing; the terminal shows the error."""


def _write_line(descriptor: int, line: str) -> None:
    os.write(descriptor, f"{line}\n".encode("ascii"))


@contextmanager
def _open_cursor() -> Iterator["psycopg2.extensions.cursor"]:
    """Open a cursor on the database at DATABASE_URL that can read every organization's rows."""
    options = "-c app.all_organizations=on"
    with (
        closing(
            psycopg2.connect(os.environ["DATABASE_URL"], options=options, **LIBPQ_TIMEOUTS)
        ) as connection,
        connection.cursor() as cursor,
    ):
        yield cursor


def _count_organizations() -> tuple[int, int]:
    """Return the number of all organizations, and of demo organizations (0 or 1).

    An incomplete demo organization is not counted, because the next load replaces it.
    """
    with _open_cursor() as cursor:
        cursor.execute(
            "SELECT count(*), count(*) FILTER (WHERE slug = 'demo') FROM organizations"
            " WHERE slug <> 'demo-loading'"
        )
        total, demo = cursor.fetchone() or (0, 0)
        return total, demo


def find_demo_state() -> str:
    """Return the progress line for a database that has the demo organization."""
    from app.kit.secrets import verify_password  # noqa: PLC0415 - loads the application
    from demo.people import build_address  # noqa: PLC0415 - only services with the demo have it

    with _open_cursor() as cursor:
        cursor.execute("SELECT password_hash FROM users WHERE email = %s", [build_address("owner")])
        (password_hash,) = cursor.fetchone() or (None,)
    is_current = verify_password(password_hash or "", os.environ.get("DEMO_PASSWORD", ""))
    return "demo present" if is_current else "demo changed"
