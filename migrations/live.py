"""Provide migration steps that are safe on tables in use.

A plain migration is one transaction: it is applied completely or not at all. It may hold exclusive
locks, so it must be short. Work that takes long is done by the steps in this module, in a separate
migration after the plain migration:

* each step commits its own changes, and does not block sessions that read or write rows;

* each step can be repeated after a failure, and skips work that is already done.

If a migration that consists of steps fails, the same command runs it again from its beginning. A
step refuses to run if the migration has uncommitted changes, because they would be committed with
the step, and would fail when the migration is repeated.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, Protocol

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Connection, text
from sqlalchemy.schema import CreateColumn

from devserver.progress import Progress
from migrations.waiting import retry_while_locked
from migrations.walking import Walk

BATCH_SIZE = 1000

# An index build waits for older transactions, but blocks no sessions, so it may take long.
_LONG_TIMEOUTS = "SET lock_timeout = '1h'; SET statement_timeout = 0"
_SHORT_TIMEOUTS = "RESET lock_timeout; RESET statement_timeout"
_HAS_CHANGES = text("SELECT pg_current_xact_id_if_assigned() IS NOT NULL")
_IS_INVALID_INDEX = text(
    "SELECT EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass(:name) AND NOT indisvalid)"
)
_HAS_CONSTRAINT = text(
    "SELECT EXISTS (SELECT FROM pg_constraint"
    " WHERE conrelid = CAST(:table AS regclass) AND conname = :name)"
)
_IS_NOT_NULL = text(
    "SELECT attnotnull FROM pg_attribute"
    " WHERE attrelid = CAST(:table AS regclass) AND attname = :column"
)
_ORGANIZATION_IDS = text("SELECT id FROM organizations ORDER BY id")
_RECOUNT = text("SELECT repair_counts(CAST(:organization AS uuid), :source)")
_FILL_METERS = text(
    "SELECT repair_usage(CAST(:organization AS uuid), meter) FROM usage_sources ORDER BY meter"
)
_BUILD_PROGRESS = text(
    "SELECT CASE WHEN blocks_total > 0 THEN blocks_done ELSE tuples_done END AS done,"
    " CASE WHEN blocks_total > 0 THEN blocks_total ELSE tuples_total END AS total"
    " FROM pg_stat_progress_create_index WHERE pid = :pid"
)


def add_column(table: str, column: sa.Column[Any]) -> None:
    """Add a column unless it exists.

    A default must be a constant, so that PostgreSQL need not rewrite the table.
    """
    with _step(f"{table}.{column.name}") as (connection, _):
        definition = CreateColumn(column).compile(dialect=connection.dialect)
        _run_with_short_timeouts(f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS {definition}")


def create_index(
    name: str,
    table: str,
    columns: Sequence[str | sa.TextClause | sa.ColumnElement[Any]],
    *,
    unique: bool = False,
    **options: Any,
) -> None:
    """Build an index CONCURRENTLY unless it exists; `options` are those of `op.create_index`.

    An INVALID index left by an interrupted build is dropped and built again. To change an index,
    create an index with a new name, and then drop the old index. So one of the two always exists,
    and a second run can distinguish them.
    """
    with _step(name) as (connection, _):
        if connection.scalar(_IS_INVALID_INDEX, {"name": name}):
            _drop_concurrently(name)
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
    """Drop an index CONCURRENTLY if it exists."""
    with _step(name):
        _drop_concurrently(name)


def validate(name: str, table: str) -> None:
    """Check existing rows against the constraint `name`, added with `postgresql_not_valid`."""
    with _step(name):
        op.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {name}")


def set_not_null(table: str, column: str) -> None:
    """Set a column NOT NULL. Rows are checked without a lock that blocks other sessions.

    Fails if the column is null in any row; run `backfill` first.
    """
    name = f"ck_{table}_{column}_filled"
    column_params = {"table": table, "column": column}
    with _step(f"{table}.{column}") as (connection, _):
        if connection.scalar(_IS_NOT_NULL, column_params):
            return
        if not connection.scalar(_HAS_CONSTRAINT, {"table": table, "name": name}):
            _run_with_short_timeouts(
                f"ALTER TABLE {table} ADD CONSTRAINT {name} CHECK ({column} IS NOT NULL) NOT VALID"
            )
        op.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {name}")
        # PostgreSQL uses the valid check as proof and reads no rows.
        _run_with_short_timeouts(
            "-- squawk-ignore adding-not-nullable-field, ban-drop-constraint\n"
            f"ALTER TABLE {table} ALTER COLUMN {column} SET NOT NULL, DROP CONSTRAINT {name}"
        )


def backfill(table: str, change: str, *, pending: str, size: int = BATCH_SIZE) -> None:
    """Change the rows of `table` that meet the SQL condition `pending`.

    The table is read in primary key order, `size` rows per transaction. `change` is an UPDATE,
    INSERT or DELETE that refers to `batch`, the keys of the pending rows in the transaction. These
    rows are locked in key order before `change` runs, so that it sees what previous lock holders
    have written. A changed row must no longer meet the condition `pending`, so that a second run
    skips it. Rows of all organizations are processed.
    """
    with _step(f"filling {table}") as (connection, progress):
        walk = Walk(connection.engine, table, change, pending, size)
        done = 0
        while retry_while_locked(walk.step):
            done += size
            progress.advance(done, walk.total)


def recount(*sources: str) -> None:
    """Correct the counts of these sources so that they include the rows that already exist.

    Run this after the migration that creates the triggers. Rows that the triggers have counted are
    not counted twice, and a second run changes nothing. Organizations are processed one by one.
    """
    with _step(f"counting {', '.join(sources)}") as (connection, progress):
        organization_ids = connection.scalars(_ORGANIZATION_IDS).all()
        for done, organization_id in enumerate(organization_ids, start=1):
            for source in sources:
                connection.execute(_RECOUNT, {"organization": organization_id, "source": source})
            progress.advance(done, len(organization_ids))


def fill_meters() -> None:
    """Correct all usage meters so that they include the rows that already exist.

    Run this after the migration that creates the triggers. Rows that the triggers have metered are
    not metered twice, and a second run changes nothing. Organizations are processed one by one.
    """
    with _step("metering") as (connection, progress):
        organization_ids = connection.scalars(_ORGANIZATION_IDS).all()
        for done, organization_id in enumerate(organization_ids, start=1):
            connection.execute(_FILL_METERS, {"organization": organization_id})
            progress.advance(done, len(organization_ids))


class Reporter(Protocol):
    """The receiver of progress reports; see `devserver.progress.Progress`."""

    def begin(self, step: str) -> None:
        """Report the start of a step."""

    def advance(self, done: int, total: int) -> None:
        """Report how much of the step is done."""

    def done(self, note: str) -> None:
        """Report the end of the step."""

    def failed(self) -> None:
        """Report the failure of the step."""


def _get_reporter() -> Reporter:
    """Return the reporter in `config.attributes["progress"]`, or one that writes to stderr."""
    config = op.get_context().config
    reporter: Reporter | None = config.attributes.get("progress") if config else None
    return reporter or Progress(sys.stderr)


@contextmanager
def _step(name: str) -> Iterator[tuple[Connection, Reporter]]:
    """Run the `with` block without a transaction, with long timeouts; report its start and end."""
    if op.get_bind().scalar(_HAS_CHANGES):
        raise RuntimeError(
            f"{name}: move this step before all other changes, or to a separate migration"
        )
    progress = _get_reporter()
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        connection.exec_driver_sql(_LONG_TIMEOUTS)
        progress.begin(name)
        try:
            with _report_build_progress(connection, progress):
                yield connection, progress
        except BaseException:
            progress.failed()
            raise
        finally:
            connection.exec_driver_sql(_SHORT_TIMEOUTS)
        progress.done("")


@contextmanager
def _report_build_progress(connection: Connection, progress: Reporter) -> Iterator[None]:
    """Report the progress of index builds on `connection` while the `with` block is running."""
    pid = {"pid": connection.scalar(text("SELECT pg_backend_pid()"))}
    finished = Event()

    def watch() -> None:
        while not finished.wait(0.5):
            with connection.engine.connect() as observer:
                row = observer.execute(_BUILD_PROGRESS, pid).first()
            if row is not None and row.total:
                progress.advance(row.done, row.total)

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        finished.set()
        watcher.join()


def _drop_concurrently(name: str) -> None:
    op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")


def _run_with_short_timeouts(statement: str) -> None:
    """Run a statement that takes an exclusive lock, with short timeouts and retries."""
    connection = op.get_bind()

    def attempt() -> None:
        connection.exec_driver_sql(_SHORT_TIMEOUTS)
        try:
            op.execute(statement)
        finally:
            connection.exec_driver_sql(_LONG_TIMEOUTS)

    retry_while_locked(attempt)
