"""Steps of a migration on tables that others are using meanwhile.

A plain migration is one transaction: it happens or it does not. It may hold locks that keep
everybody out, so nothing in it may take long. What takes long is a step of this module, in a
migration of its own that follows the plain one:

* each step commits by itself, and none keeps out whoever reads or writes rows;
* each can be run again after it failed in its middle, and passes over what is done already.

So a migration of steps that failed is run again from its beginning, by the same command. A step
refuses to run where the migration has changed something in its own transaction before: that would
be committed half-done, and fail the second time.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, Protocol

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Connection, text

from devserver.progress import Progress
from migrations.waiting import patiently
from migrations.walking import Walk

BATCH = 1000

# A build queues behind older transactions and nobody queues behind it: it may wait, and take long.
_UNHURRIED = "SET lock_timeout = '1h'; SET statement_timeout = 0"
_HURRIED = "RESET lock_timeout; RESET statement_timeout"
_CHANGED = text("SELECT pg_current_xact_id_if_assigned() IS NOT NULL")
_INVALID = text(
    "SELECT EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass(:name) AND NOT indisvalid)"
)
_CONSTRAINED = text(
    "SELECT EXISTS (SELECT FROM pg_constraint"
    " WHERE conrelid = CAST(:table AS regclass) AND conname = :name)"
)
_REQUIRED = text(
    "SELECT attnotnull FROM pg_attribute"
    " WHERE attrelid = CAST(:table AS regclass) AND attname = :column"
)
_ORGANIZATIONS = text("SELECT id FROM organizations ORDER BY id")
_RECOUNT = text("SELECT repair_counts(CAST(:organization AS uuid), :source)")
_BUILT = text(
    "SELECT CASE WHEN blocks_total > 0 THEN blocks_done ELSE tuples_done END AS done,"
    " CASE WHEN blocks_total > 0 THEN blocks_total ELSE tuples_total END AS total"
    " FROM pg_stat_progress_create_index WHERE pid = :pid"
)


def create_index(
    name: str,
    table: str,
    columns: Sequence[str | sa.TextClause | sa.ColumnElement[Any]],
    *,
    unique: bool = False,
    **options: Any,
) -> None:
    """Build an index CONCURRENTLY, or do nothing where it is; `options` as of `op.create_index`.

    What a build that was cut off left behind (an INVALID index) is dropped and built again. An
    index that changes gets a new name: then no moment is without either, and the second run can
    tell them apart.
    """
    with _step(name) as (connection, _):
        if connection.scalar(_INVALID, {"name": name}):
            _drop(name)
        op.create_index(
            name,
            table,
            columns,
            unique=unique,
            if_not_exists=True,
            postgresql_concurrently=True,
            **options,
        )


def drop_index(name: str) -> None:
    """Drop an index CONCURRENTLY, or do nothing where it is gone."""
    with _step(name):
        _drop(name)


def validate(name: str, table: str) -> None:
    """Check the rows of before against a constraint that was added with `postgresql_not_valid`."""
    with _step(name):
        op.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {name}")


def set_not_null(table: str, column: str) -> None:
    """Let a column be NOT NULL, once every row was seen to have a value without keeping it locked.

    Fails where one has none: `backfill` comes first.
    """
    name = f"ck_{table}_{column}_filled"
    column_is = {"table": table, "column": column}
    with _step(f"{table}.{column}") as (connection, _):
        if connection.scalar(_REQUIRED, column_is):
            return
        if not connection.scalar(_CONSTRAINED, {"table": table, "name": name}):
            _briefly(
                f"ALTER TABLE {table} ADD CONSTRAINT {name} CHECK ({column} IS NOT NULL) NOT VALID"
            )
        op.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {name}")
        # PostgreSQL takes the valid check for proof and reads no row.
        _briefly(
            "-- squawk-ignore adding-not-nullable-field, ban-drop-constraint\n"
            f"ALTER TABLE {table} ALTER COLUMN {column} SET NOT NULL, DROP CONSTRAINT {name}"
        )


def backfill(table: str, change: str, *, pending: str, size: int = BATCH) -> None:
    """Change the rows of `table` for which the condition `pending` holds.

    The table is walked in the order of its primary key, `size` rows to a transaction. `change` is
    an UPDATE, INSERT or DELETE that names `batch`: the keys of the rows among them that are
    pending. They are locked, in the order of the key, before it runs, so that it sees what whoever
    held them before has written. `pending` must not hold any more of what `change` has come to;
    so a second run passes over what the first has done. Rows of all organizations are seen.
    """
    with _step(f"filling {table}") as (connection, progress):
        walk = Walk(connection.engine, table, change, pending, size)
        done = 0
        while patiently(walk.step):
            done += size
            progress.advance(done, walk.total)


def recount(*sources: str) -> None:
    """Count the rows of before by these sources, organization by organization.

    Comes after the migration whose triggers count what is written meanwhile. A row is counted once,
    whoever counted it: only what differs from the rows of that moment is added. A second run finds
    no differences.
    """
    with _step(f"counting {', '.join(sources)}") as (connection, progress):
        organizations = connection.scalars(_ORGANIZATIONS).all()
        for done, organization in enumerate(organizations, start=1):
            for source in sources:
                connection.execute(_RECOUNT, {"organization": organization, "source": source})
            progress.advance(done, len(organizations))


class Reporter(Protocol):
    """Who is told how far a step has come; see `devserver.progress.Progress`."""

    def begin(self, step: str) -> None: ...
    def advance(self, done: int, total: int) -> None: ...
    def done(self, note: str) -> None: ...
    def failed(self) -> None: ...


def _reporter() -> Reporter:
    """Who is told: what the command has in `config.attributes["progress"]`, or the terminal."""
    config = op.get_context().config
    found: Reporter | None = config.attributes.get("progress") if config else None
    return found or Progress(sys.stderr)


@contextmanager
def _step(name: str) -> Iterator[tuple[Connection, Reporter]]:
    """Outside of a transaction, with time; tells of the step's beginning and end."""
    if op.get_bind().scalar(_CHANGED):
        raise RuntimeError(f"{name}: steps come before all else of a migration, or in another one")
    progress = _reporter()
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        connection.exec_driver_sql(_UNHURRIED)
        progress.begin(name)
        try:
            with _watched(connection, progress):
                yield connection, progress
        except BaseException:
            progress.failed()
            raise
        finally:
            connection.exec_driver_sql(_HURRIED)
        progress.done("")


@contextmanager
def _watched(connection: Connection, progress: Reporter) -> Iterator[None]:
    """Tell meanwhile, by another connection, how far PostgreSQL says that a build has come."""
    pid = {"pid": connection.scalar(text("SELECT pg_backend_pid()"))}
    over = Event()

    def watch() -> None:
        while not over.wait(0.5):
            with connection.engine.connect() as other:
                row = other.execute(_BUILT, pid).first()
            if row is not None and row.total:
                progress.advance(row.done, row.total)

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _drop(name: str) -> None:
    op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")


def _briefly(statement: str) -> None:
    """Run a statement that keeps everybody out, and for which everybody would queue."""
    connection = op.get_bind()

    def attempt() -> None:
        connection.exec_driver_sql(_HURRIED)
        try:
            op.execute(statement)
        finally:
            connection.exec_driver_sql(_UNHURRIED)

    patiently(attempt)
