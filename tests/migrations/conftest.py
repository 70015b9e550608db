"""Fixtures that give each test its own database and run Alembic in a process, as operators do."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from app.kit.ids import uuid7
from devserver.postgres import EmbeddedPostgres
from migrations import waiting
from tests.factories.waiting import wait_until

ROOT = Path(__file__).parents[2]
DEADLINE = 120.0
BEFORE = "202611211100"
"""The last revision before migrations had to work while the service is running."""
_RUN = """
import sys
from alembic import command
from alembic.config import Config
config = Config("migrations/alembic.ini")
config.set_main_option("script_location", "migrations")
getattr(command, sys.argv[1])(config, sys.argv[2])
"""


@dataclass
class Migrating:
    """A database and its migrations."""

    url: str
    environ: dict[str, str]

    def start(self, command: str, revision: str) -> subprocess.Popen[str]:
        """Start an Alembic command in a process."""
        return subprocess.Popen(
            [sys.executable, "-c", _RUN, command, revision],
            cwd=ROOT,
            env={**os.environ, **self.environ, "DATABASE_URL": self.url, "PYTHONPATH": str(ROOT)},
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, command: str, revision: str) -> None:
        """Run an Alembic command, and check that it succeeds."""
        self.check_success(self.start(command, revision))

    def check_success(self, process: subprocess.Popen[str]) -> None:
        """Wait for a command, and check that it succeeds."""
        _, errors = process.communicate(timeout=DEADLINE)
        assert process.returncode == 0, errors[-3000:]

    def kill(self, process: subprocess.Popen[str]) -> None:
        """Kill a command, and wait until PostgreSQL has closed its connections."""
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=DEADLINE)
        wait_until(lambda: not self.migrating(), "the end of the killed process's connections")

    def migrating(self) -> list[str]:
        """Return the latest statements of the migrating connections."""
        return [
            row[0]
            for row in self.rows(
                "SELECT query FROM pg_stat_activity WHERE datname = current_database()"
                " AND application_name = 'labeling-migrate'"
            )
        ]

    def connect(self, options: str = waiting.OPTIONS) -> Any:
        """Connect, by default with the options of a migration, which sees all organizations."""
        return psycopg2.connect(self.url, options=options)

    def rows(self, statement: str, values: Any = None) -> list[Any]:
        """Run a statement, commit, and return its rows."""
        with closing(self.connect()) as connection, connection, connection.cursor() as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def invalid(self) -> list[str]:
        """Return the names of invalid indexes and constraints."""
        names = self.rows(
            "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid"
            " UNION SELECT conname FROM pg_constraint WHERE NOT convalidated"
        )
        return [row[0] for row in names]


@pytest.fixture
def migrating(postgres: EmbeddedPostgres, environ: dict[str, str]) -> Iterator[Migrating]:
    """Create a database, and drop it after the test."""
    name = f"migrated_{uuid7().hex}"
    yield Migrating(postgres.create_database(name), environ)
    postgres.drop_database(name)
