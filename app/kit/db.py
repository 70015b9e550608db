"""Database access: base classes for models, sessions, transactions and engine options."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import orjson
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from flask_sqlalchemy.session import Session as FlaskSession
from sqlalchemy import (
    Connection,
    DateTime,
    Engine,
    Executable,
    MetaData,
    Result,
    SQLColumnExpression,
    String,
    UpdateBase,
    Uuid,
    event,
    make_url,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from app.kit import tenancy
from app.kit.db_guard.connections import Connection as GuardedConnection
from app.kit.db_guard.deadlines import LIBPQ_TIMEOUTS
from app.kit.db_guard.guard import Guard
from app.kit.ids import uuid7

RELEASE = 2
"""The value of the PostgreSQL setting `app.release` in the connections of this release. A trigger
that writes data for instances of the previous release does nothing if the setting has this value.
Before adding another such trigger, increase the value by one (docs/contributors/migrations.md)."""

_MAX_OVERFLOW = 8
"""The maximum number of connections that a pool opens in addition to its size. Only the processes
for background jobs need them: they have more threads, which mostly wait for other hosts."""
JSON = dict[str, Any]
_Row = TypeVar("_Row")
Checkpoint = Callable[[], None]
"""A function that commits a batch of long work, or raises if the work must stop."""
ReportProgress = Callable[[int, int], None]  # receives the finished and the total number of items
PositionCheckpoint = Callable[[str], None]
"""A `Checkpoint` that also stores the position from which the next run of the work continues."""


def utc_now() -> datetime:
    """Return the current time as an aware datetime in UTC."""
    return datetime.now(UTC)


class Base(DeclarativeBase):
    """Base class of every model. It defines constraint names and default column types."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {
        datetime: DateTime(timezone=True),
        UUID: Uuid(),
        dict[str, Any]: JSONB(),
        list[Any]: JSONB(),
        str: String(),
    }


def build_columns(
    names: Sequence[str], model: type[Base], /, **expressions: SQLColumnExpression[Any]
) -> list[Any]:
    """Build the columns of a SELECT whose rows are named tuples with the fields `names`.

    The columns are those of `model` with the same names, except those in `expressions`.
    """
    assert expressions.keys() <= set(names)
    return [
        expressions[name].label(name) if name in expressions else getattr(model, name)
        for name in names
    ]


class Record:
    """Mixin with a UUIDv7 as primary key, a creation time and the time of the last update."""

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7, sort_order=-90)
    created_at: Mapped[datetime] = mapped_column(default=utc_now, sort_order=90)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now, sort_order=91)


class Revised(Record):
    """Mixin for records with a revision number.

    Saving a record raises StaleDataError if another transaction has changed it since it was read.
    """

    revision: Mapped[int] = mapped_column(default=1, sort_order=92)

    __mapper_args__ = {"version_id_col": revision}


def _encode_json(value: object) -> str:
    return orjson.dumps(value).decode()


def get_timeouts(url: str) -> JSON:
    """Return the libpq timeouts for connections to `url`, except timeouts that the URL sets."""
    query = make_url(url).query
    return {name: value for name, value in LIBPQ_TIMEOUTS.items() if name not in query}


def build_engine_options(url: str, threads: int, role: str) -> JSON:
    """Return the SQLAlchemy engine options of the application.

    `threads` is the number of threads that use an engine at the same time. `role` is the database
    role of the application: it is not a superuser, owns no tables, and every row-level security
    policy applies to it.
    """
    return {
        # Each thread may keep one extra connection of the read pool (see `app.kit.prepared`).
        "pool_size": 2 * threads + 1,
        "max_overflow": _MAX_OVERFLOW,
        "pool_timeout": 10,
        # The connection used last is used next: its server process has cached plans and triggers.
        "pool_use_lifo": True,
        "pool_recycle": 1800,
        "json_serializer": _encode_json,
        "json_deserializer": orjson.loads,
        # Error texts are written to logs and jobs. Parameters may be hashes, tokens or addresses.
        "hide_parameters": True,
        "connect_args": {
            **get_timeouts(url),
            "connection_factory": Guard().connection_factory,
            "application_name": "labeling",
            "options": f"-c role={role} -c app.release={RELEASE}"
            " -c timezone=UTC -c statement_timeout=30s -c lock_timeout=10s"
            " -c idle_in_transaction_session_timeout=120s -c jit=off",
        },
    }


_read_only: ContextVar[bool] = ContextVar("read_only", default=False)


class RoutedSession(FlaskSession):
    """Session that uses the autocommit pool for read-only requests, else the default pool."""

    def get_bind(self, *_: object, **__: object) -> Engine:
        """Return the autocommit engine if the request is read-only, else the default engine."""
        return db.engines["read" if _read_only.get() else None]


db = SQLAlchemy(
    metadata=Base.metadata,
    session_options={"expire_on_commit": False, "class_": RoutedSession},
)


def init(app: Flask, url: str, threads: int, role: str) -> None:
    """Set up the database engines and connection pools of `app`.

    There are two pools because setting autocommit on the connection of each request would take
    longer than checking the request's token.
    """
    options = build_engine_options(url, threads, role)
    app.config["SQLALCHEMY_DATABASE_URI"] = url
    app.config["SQLALCHEMY_ENGINE_OPTIONS"] = options
    read = {"url": url, "isolation_level": "AUTOCOMMIT", "pool_reset_on_return": None}
    app.config["SQLALCHEMY_BINDS"] = {"read": {**options, **read}}
    db.init_app(app)
    with app.app_context():
        for engine in db.engines.values():
            tenancy.send_scope_on_connections(engine)
            event.listen(engine, "checkout", replace_dead_connection)


def replace_dead_connection(connection: GuardedConnection, *_: object) -> None:
    """Make the pool replace a connection that the server has closed.

    The check costs a microsecond and prevents an error at the first use of each connection after
    an outage. InvalidatePoolError also makes the pool replace its older connections.
    """
    if connection.is_dead:
        raise InvalidatePoolError


def session() -> Session:
    """Return the session of the running request or job."""
    return db.session()


def find_row(
    row_type: Callable[..., _Row], statement: Executable, values: JSON | None = None
) -> _Row | None:
    """Return the only row of a query as a `row_type`, or None if there is no row."""
    row = session().execute(statement, values).one_or_none()
    return None if row is None else row_type(*row)


def execute_bulk(statement: UpdateBase) -> Result[*tuple[Any, ...]]:
    """Execute an UPDATE or DELETE without applying its changes to the objects in the session."""
    return session().execute(statement.execution_options(synchronize_session=False))


def disable_statement_timeout() -> None:
    """Disable the statement timeout for the rest of the transaction."""
    session().execute(text("SET LOCAL statement_timeout = 0"))


def engine() -> Engine:
    """Return the default engine, whose statements run in transactions."""
    return db.engine


def set_read_only(*, read_only: bool) -> None:
    """Set whether the running request is read-only. Read-only requests run in autocommit mode."""
    _read_only.set(read_only)


def is_read_only() -> bool:
    """Return whether the running request is read-only."""
    return _read_only.get()


@contextmanager
def transaction() -> Iterator[Session]:
    """Commit at the end of a `with` block in a job or command, or roll back on an error."""
    current = session()
    try:
        yield current
        current.commit()
    except BaseException:
        current.rollback()
        raise


def checkpoint() -> None:
    """Commit the changes so far, so that a later failure does not undo them.

    Use it if a failure in the second part of an operation must not undo the first part. For
    example, a response from an identity provider ends the sign-in attempt, even if the response is
    invalid. Also use it before waiting for another host, so that no transaction stays open.
    """
    session().commit()


def roll_back() -> None:
    """Roll back the changes since the last checkpoint. Use it if the response reports a failure."""
    session().rollback()


def open_autocommit_connection() -> Connection:
    """Open a connection in autocommit mode, separate from the transaction of the request.

    Use it for changes that must persist even if the request is rejected.
    """
    return db.engines["read"].connect()


def discard_parent_connections() -> None:
    """Dispose of the parent's connections in a forked child, but do not close them."""
    for engine in db.engines.values():
        engine.dispose(close=False)


def close_unused_connections() -> None:
    """Close the idle connections now, and connections in use when they return to the pool."""
    for engine in db.engines.values():
        engine.dispose()


def upgrade(revision: str = "head", *, progress: object = None) -> None:
    """Upgrade the database at DATABASE_URL to `revision`, unless it already has this revision.

    `progress` receives the progress of long steps (`migrations.live.Reporter`). If it is None, the
    progress is shown on the terminal.
    """
    from alembic import command  # noqa: PLC0415 - only the migrating process needs alembic
    from alembic.config import Config  # noqa: PLC0415

    migrations = Path(__file__).parents[2] / "migrations"
    config = Config(str(migrations / "alembic.ini"))
    config.set_main_option("script_location", str(migrations))
    if progress is not None:
        config.attributes["progress"] = progress
    command.upgrade(config, revision)
