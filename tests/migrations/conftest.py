"""Fixtures that give each test its own database and run Alembic in a process, as operators do."""

import os
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
from tests.migrations.commands import Command, Commands

ROOT = Path(__file__).parents[2]
DEADLINE_SECONDS = 120.0
BEFORE = "202611211100"
"""The last revision before migrations had to work while the service is running."""


@dataclass
class Migrating:
    """A database on which Alembic commands run."""

    url: str
    environ: dict[str, str]
    commands: Commands

    def start(self, command: str, revision: str) -> Command:
        """Start an Alembic command in a process."""
        environ = {**os.environ, **self.environ, "DATABASE_URL": self.url}
        return self.commands.start(command, revision, environ)

    def run(self, command: str, revision: str) -> None:
        """Run an Alembic command, and check that it succeeds."""
        self.check_success(self.start(command, revision))

    def check_success(self, process: Command) -> None:
        """Wait for a command, and check that it succeeds."""
        errors = process.wait(DEADLINE_SECONDS)
        assert process.returncode == 0, errors[-3000:]

    def kill(self, process: Command) -> None:
        """Kill a command, and wait until PostgreSQL has closed its connections."""
        process.kill()
        process.wait(DEADLINE_SECONDS)
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


class Databases:
    """Creates databases of old releases; the migrations to each release run only once."""

    def __init__(
        self, postgres: EmbeddedPostgres, environ: dict[str, str], commands: Commands
    ) -> None:
        self._postgres = postgres
        self._environ = environ
        self._commands = commands
        self._names: list[str] = []
        self._releases: dict[str, Migrating] = {}

    def create(self, template: Migrating | None = None) -> Migrating:
        """Create an empty database, or a copy of a database that nobody is connected to."""
        name = f"migrated_{uuid7().hex}"
        source = template and template.url.rpartition("/")[2]
        self._names.append(name)
        url = self._postgres.create_database(name, source)
        return Migrating(url, self._environ, self._commands)

    def create_at(self, revision: str) -> Migrating:
        """Create a database with the empty tables of a revision."""
        if revision not in self._releases:
            earlier = [known for known in self._releases if known < revision]
            template = self.create(self._releases[max(earlier)] if earlier else None)
            template.run("upgrade", revision)
            self._releases[revision] = template
        return self.create(self._releases[revision])

    def drop(self, migrating: Migrating) -> None:
        """Drop a database."""
        name = migrating.url.rpartition("/")[2]
        self._postgres.drop_database(name)
        self._names.remove(name)

    def drop_all(self) -> None:
        """Drop all remaining databases."""
        for name in self._names:
            self._postgres.drop_database(name)


@pytest.fixture(scope="session")
def commands() -> Iterator[Commands]:
    with Commands() as found:
        yield found


@pytest.fixture(scope="session")
def databases(
    postgres: EmbeddedPostgres, environ: dict[str, str], commands: Commands
) -> Iterator[Databases]:
    created = Databases(postgres, environ, commands)
    yield created
    created.drop_all()


@pytest.fixture
def migrating(databases: Databases, request: pytest.FixtureRequest) -> Iterator[Migrating]:
    """Create a database, empty or at the REVISION of the test's module; drop it after the test."""
    revision = getattr(request.module, "REVISION", None)
    created = databases.create_at(revision) if revision else databases.create()
    yield created
    databases.drop(created)
