"""The database: base classes of the models, the session, and the engine's settings."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from flask_sqlalchemy.session import Session as FlaskSession
from sqlalchemy import Connection, DateTime, Engine, MetaData, String, Uuid, event, make_url
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from app.kit import tenancy
from app.kit.db_guard.deadlines import LIBPQ
from app.kit.db_guard.guard import Guard
from app.kit.ids import uuid7

RELEASE = 2
"""Told to PostgreSQL as `app.release`. Raised by one when a migration's trigger is to do for
instances of the release before what those of this one do themselves."""

JSON = dict[str, Any]


def utc_now() -> datetime:
    """Now, in UTC, aware."""
    return datetime.now(UTC)


class Base(DeclarativeBase):
    """Base of every model."""

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


class Record:
    """Mixin: a UUIDv7 key and the two times that every record shows."""

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7, sort_order=-90)
    created_at: Mapped[datetime] = mapped_column(default=utc_now, sort_order=90)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now, sort_order=91)


class Revised(Record):
    """Mixin: a record that can be updated. A write over a stale one raises StaleDataError."""

    revision: Mapped[int] = mapped_column(default=1, sort_order=92)

    __mapper_args__ = {"version_id_col": revision}


def _dumps(value: Any) -> str:
    return orjson.dumps(value).decode()


def deadlines_for(url: str) -> JSON:
    """Return libpq's deadlines for the connections of `url`; those that it sets itself win."""
    query = make_url(url).query
    return {name: value for name, value in LIBPQ.items() if name not in query}


def engine_options(url: str, threads: int, role: str) -> JSON:
    """Return the options of the application's engines.

    `threads` is how many use one at once. `role` is whom the application works as: no superuser,
    owner of nothing, bound by every policy.
    """
    return {
        # A thread of the reading pool may hold one of its own (see `app.kit.prepared`).
        "pool_size": 2 * threads + 1,
        "max_overflow": 4,
        "pool_timeout": 10,
        "pool_recycle": 1800,
        "json_serializer": _dumps,
        "json_deserializer": orjson.loads,
        # An error's text gets into logs and jobs; the values may be hashes, tokens or addresses.
        "hide_parameters": True,
        "connect_args": {
            **deadlines_for(url),
            "connection_factory": Guard().connection_factory,
            "application_name": "labeling",
            "options": f"-c role={role} -c app.release={RELEASE}"
            " -c timezone=UTC -c statement_timeout=30s -c lock_timeout=10s"
            " -c idle_in_transaction_session_timeout=120s -c jit=off",
        },
    }


_reading: ContextVar[bool] = ContextVar("reading", default=False)


class RoutedSession(FlaskSession):
    """Sends a request that only reads to the pool in autocommit, all else to the other one."""

    def get_bind(self, *_: Any, **__: Any) -> Engine:
        """The engine of this session's statements."""
        return db.engines["read" if _reading.get() else None]


db = SQLAlchemy(
    metadata=Base.metadata,
    session_options={"expire_on_commit": False, "class_": RoutedSession},
)


def init(app: Flask, url: str, threads: int, role: str) -> None:
    """Bind the database to `app`.

    Two pools: setting autocommit anew on each request's connection would cost more than the check
    of its token.
    """
    options = engine_options(url, threads, role)
    app.config["SQLALCHEMY_DATABASE_URI"] = url
    app.config["SQLALCHEMY_ENGINE_OPTIONS"] = options
    read = {"url": url, "isolation_level": "AUTOCOMMIT", "pool_reset_on_return": None}
    app.config["SQLALCHEMY_BINDS"] = {"read": {**options, **read}}
    db.init_app(app)
    with app.app_context():
        for engine in db.engines.values():
            tenancy.guard(engine)
            event.listen(engine, "checkout", replace_dead)


def replace_dead(connection: Any, *_: Any) -> None:
    """Have the pool replace a connection that the server has closed, and look at all others.

    It costs a microsecond, and spares an error to the first that takes each one after an outage.
    """
    if connection.is_dead:
        raise InvalidatePoolError


def session() -> Session:
    """The session of the running request or job."""
    return db.session()


def engine() -> Engine:
    """The application's engine."""
    return db.engine


def set_reading(*, reading: bool) -> None:
    """Say whether the running request only reads: then its statements run in autocommit."""
    _reading.set(reading)


def reading() -> bool:
    """Whether the running request only reads."""
    return _reading.get()


@contextmanager
def transaction() -> Iterator[Session]:
    """Commit at the end of the block, roll back on an error. For jobs and commands."""
    current = session()
    try:
        yield current
        current.commit()
    except BaseException:
        current.rollback()
        raise


def checkpoint() -> None:
    """Commit what was done so far, so that it stands whatever comes after it.

    For the few operations whose first half must not be undone by a failure of the second (a
    sign-in that was begun is used up by its answer, whatever the answer), or that wait for another
    host in between: no transaction stays open over that.
    """
    session().commit()


def discard() -> None:
    """Undo what was done since the last checkpoint, where a failure is told by an answer."""
    session().rollback()


@contextmanager
def at_once() -> Iterator[Connection]:
    """A connection in autocommit beside the request's transaction: for what must stand although the
    request is refused."""
    with db.engines["read"].connect() as connection:
        yield connection


def dispose() -> None:
    """Forget connections that a fork copied: the child must open its own."""
    for engine in db.engines.values():
        engine.dispose(close=False)


def upgrade(revision: str = "head", *, progress: object = None) -> None:
    """Bring the database of DATABASE_URL to `revision`; a no-op when it is there.

    `progress` is told how far long steps have come (`migrations.live.Reporter`); the terminal is,
    without one.
    """
    from alembic import command  # noqa: PLC0415 - only the migrating process needs alembic
    from alembic.config import Config  # noqa: PLC0415

    migrations = Path(__file__).parents[2] / "migrations"
    config = Config(str(migrations / "alembic.ini"))
    config.set_main_option("script_location", str(migrations))
    if progress is not None:
        config.attributes["progress"] = progress
    command.upgrade(config, revision)
