"""A database of its own for each test, and Alembic as an operator runs it: in a process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from app.kit.ids import uuid7
from devserver.postgres import EmbeddedPostgres
from migrations import waiting

ROOT = Path(__file__).parents[2]
DEADLINE = 120.0
BEFORE = "202611211100"
"""The last revision that had shipped when migrations had to leave the service at work."""
_RUN = """
import sys
from alembic import command
from alembic.config import Config
config = Config("migrations/alembic.ini")
config.set_main_option("script_location", "migrations")
getattr(command, sys.argv[1])(config, sys.argv[2])
"""


def until(check: Callable[[], bool], what: str) -> None:
    """Wait for `check` in short steps; fails after `DEADLINE` seconds."""
    end = time.monotonic() + DEADLINE
    while not check():
        assert time.monotonic() < end, f"waited {DEADLINE} s for: {what}"
        time.sleep(0.05)


@dataclass
class Migrating:
    """A database, and migrations of it."""

    url: str
    environ: dict[str, str]

    def start(self, command: str, revision: str) -> subprocess.Popen[str]:
        """Begin a command of Alembic in a process."""
        return subprocess.Popen(
            [sys.executable, "-c", _RUN, command, revision],
            cwd=ROOT,
            env={**os.environ, **self.environ, "DATABASE_URL": self.url, "PYTHONPATH": str(ROOT)},
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, command: str, revision: str) -> None:
        """Run a command of Alembic to its good end."""
        self.ended(self.start(command, revision))

    def ended(self, process: subprocess.Popen[str]) -> None:
        """Wait for the good end of a command."""
        _, said = process.communicate(timeout=DEADLINE)
        assert process.returncode == 0, said[-3000:]

    def kill(self, process: subprocess.Popen[str]) -> None:
        """End a command by SIGKILL, and wait until PostgreSQL has noticed."""
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=DEADLINE)
        until(lambda: not self.migrating(), "the end of the killed process's connections")

    def migrating(self) -> list[str]:
        """The last statements of the connections that migrate."""
        return [
            row[0]
            for row in self.rows(
                "SELECT query FROM pg_stat_activity WHERE datname = current_database()"
                " AND application_name = 'labeling-migrate'"
            )
        ]

    def connect(self, options: str = waiting.OPTIONS) -> Any:
        """A connection, without more options that of a migration: it sees all organizations."""
        return psycopg2.connect(self.url, options=options)

    def rows(self, statement: str, values: Any = None) -> list[Any]:
        """What a statement answers."""
        with closing(self.connect()) as connection, connection, connection.cursor() as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def invalid(self) -> list[str]:
        """Indexes and constraints that PostgreSQL does not vouch for."""
        found = self.rows(
            "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid"
            " UNION SELECT conname FROM pg_constraint WHERE NOT convalidated"
        )
        return [row[0] for row in found]


@pytest.fixture
def migrating(postgres: EmbeddedPostgres, environ: dict[str, str]) -> Iterator[Migrating]:
    """A new database."""
    name = f"migrated_{uuid7().hex}"
    yield Migrating(postgres.create_database(name), environ)
    postgres.drop_database(name)
