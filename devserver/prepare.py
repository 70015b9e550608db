"""Migrate the database, and load the demo organization into an empty one.

This runs in a child that ends before the service starts, so that the supervisor never loads the
application.
"""

import logging
import os
from collections.abc import Callable
from contextlib import closing
from functools import partial

import psycopg2

from app.kit.db_guard.deadlines import LIBPQ

PROGRESS_FD = "PROGRESS_FD"


def main() -> int:
    """Migrate the database of DATABASE_URL; with DEMO on, load the demo into an empty one.

    Progress is written as lines to the descriptor PROGRESS_FD, if set: `migrating <done> <total>`
    during a long step, `migrated`, then `demo <done> <total>` and `demo loaded`. Instead of the
    last two, `demo present` if the demo organization exists, or `demo refused` if only others
    exist.
    """
    from app.kit.db import upgrade  # noqa: PLC0415 - loads SQLAlchemy

    tell = _open_progress()
    if tell is not _ignore:
        # The supervisor shows how far the migrations have come.
        logging.getLogger("alembic").setLevel(logging.WARNING)
    upgrade(progress=None if tell is _ignore else _MigrationProgress(tell))
    tell("migrated")
    if os.environ.get("DEMO", "").strip().lower() not in {"on", "true", "yes", "1"}:
        return 0
    if (found := _count_organizations(os.environ["DATABASE_URL"])) != (0, 0):
        tell("demo present" if found[1] else "demo refused")
        return 0
    from demo.load import load  # noqa: PLC0415 - loads the application

    load(progress=lambda done, total: tell(f"demo {done} {total}"))
    tell("demo loaded")
    return 0


def _open_progress() -> Callable[[str], None]:
    number = os.environ.pop(PROGRESS_FD, "")
    return partial(_tell, int(number)) if number else _ignore


def _ignore(_: str) -> None:
    """Discard a line of progress."""


class _MigrationProgress:
    """Reports the progress of long steps of migrations."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell

    def begin(self, _: str) -> None:
        """Do nothing at the start of a step."""

    def advance(self, done: int, total: int) -> None:
        """Report how much of the step is done."""
        self._tell(f"migrating {done} {total}")

    def done(self, _: str) -> None:
        """Do nothing at the end of a step."""

    def failed(self) -> None:
        """Do nothing; the terminal shows the error."""


def _tell(descriptor: int, line: str) -> None:
    os.write(descriptor, f"{line}\n".encode("ascii"))


def _count_organizations(url: str) -> tuple[int, int]:
    """Return the number of organizations of a database, and that of demo organizations.

    An incomplete demo organization does not count, because the next load replaces it.
    """
    with (
        closing(
            psycopg2.connect(url, options="-c app.all_organizations=on", **LIBPQ)
        ) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(
            "SELECT count(*), count(*) FILTER (WHERE slug = 'demo') FROM organizations"
            " WHERE slug <> 'demo-loading'"
        )
        total, demo = cursor.fetchone() or (0, 0)
        return total, demo
