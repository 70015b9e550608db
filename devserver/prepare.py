"""The child that brings the database up to date and fills a new one with the demo organization.

It runs and ends before the service starts, so that the supervisor never loads the application.
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
    """Migrate the database of DATABASE_URL; with DEMO on, load the demo into one without data.

    Tells of its progress in lines on the descriptor named by PROGRESS_FD, if there is one:
    `migrating <done> <total>` as often as a long step of a migration moves, `migrated`, then
    `demo <done> <total>` as often as it moves and `demo loaded`; or `demo present` when the demo
    organization is there already, `demo refused` when others are and it is not.
    """
    from app.kit.db import upgrade  # noqa: PLC0415 - loads SQLAlchemy

    tell = _teller()
    if tell is not _nobody:
        # The supervisor shows how far the migrations have come.
        logging.getLogger("alembic").setLevel(logging.WARNING)
    upgrade(progress=None if tell is _nobody else _Steps(tell))
    tell("migrated")
    if os.environ.get("DEMO", "").strip().lower() not in {"on", "true", "yes", "1"}:
        return 0
    if (found := _organizations(os.environ["DATABASE_URL"])) != (0, 0):
        tell("demo present" if found[1] else "demo refused")
        return 0
    from demo.load import load  # noqa: PLC0415 - loads the application

    load(progress=lambda done, total: tell(f"demo {done} {total}"))
    tell("demo loaded")
    return 0


def _teller() -> Callable[[str], None]:
    number = os.environ.pop(PROGRESS_FD, "")
    return partial(_tell, int(number)) if number else _nobody


def _nobody(_: str) -> None:
    """Nobody listens."""


class _Steps:
    """Passes on how far the long steps of a migration have come."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell

    def begin(self, _: str) -> None:
        """A step starts."""

    def advance(self, done: int, total: int) -> None:
        """So much of it is done."""
        self._tell(f"migrating {done} {total}")

    def done(self, _: str) -> None:
        """It has ended well."""

    def failed(self) -> None:
        """It has failed; the reason follows on the terminal."""


def _tell(descriptor: int, line: str) -> None:
    os.write(descriptor, f"{line}\n".encode("ascii"))


def _organizations(url: str) -> tuple[int, int]:
    """How many organizations a migrated database has, and how many of them are the demo's.

    One that a cut-off load of the demo left behind does not count: the next load replaces it.
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
