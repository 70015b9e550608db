"""Prepared statements for hot paths: parsed once per connection, without SQLAlchemy's overhead.

They are for the few most frequent requests. For these requests, SQLAlchemy's compile cache and
result objects take several times as long as PostgreSQL. Prepared statements must contain a
condition for the organization: the ORM's tenant filter does not apply to them, but row-level
security does. Errors are raised as SQLAlchemy errors, so that they result in the same responses.
"""

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import psycopg2
from psycopg2 import extensions
from psycopg2.errors import FeatureNotSupported
from psycopg2.extensions import adapt
from sqlalchemy import Select
from sqlalchemy.dialects.postgresql.psycopg2 import PGDialect_psycopg2
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import PoolProxiedConnection

from app.kit import db, tenancy

Rows = list[tuple[Any, ...]]
_local = threading.local()
_MAX_NAME_LENGTH = 63
_DIALECT = PGDialect_psycopg2()  # type: ignore[no-untyped-call]


REGISTRY: dict[str, "Prepared"] = {}
"""All prepared statements by name."""


class Prepared:
    """A prepared statement with `$1`-style parameters.

    `types` contains their SQL types in order, separated by commas.
    """

    def __init__(self, name: str, types: str, sql: str) -> None:
        assert len(name) <= _MAX_NAME_LENGTH, name  # PostgreSQL would truncate it
        self.name = name
        self.prepare_sql = f"PREPARE {name}{f' ({types})' if types else ''} AS {sql}"
        type_count = len(types.split(",")) if types else 0
        placeholders = f" ({', '.join(['%s'] * type_count)})" if type_count else ""
        self.execute_sql = f"EXECUTE {name}{placeholders}"
        self.build_row: Callable[[Any], Any] | None = None
        REGISTRY[name] = self

    @classmethod
    def from_select(cls, name: str, statement: Select[Any], **types: str) -> "Prepared":
        """Return a prepared statement for a `select`. Its `first` and `all` return named tuples.

        `types` maps the named parameters to their SQL types, in the order in which the values are
        passed.
        """
        compiled = statement.compile(dialect=_DIALECT)
        sql = str(compiled)
        for number, parameter in enumerate(types, start=1):
            sql = sql.replace(f"%({parameter})s", f"${number}")
        for constant, value in compiled.params.items():
            if constant not in types:
                quoted_value = str(adapt(value)) if not isinstance(value, bool) else str(value)
                sql = sql.replace(f"%({constant})s", quoted_value)
        prepared = cls(name, ", ".join(types.values()), sql.replace("%%", "%"))
        columns = [(str(column.key), Any) for column in statement.selected_columns]
        prepared.build_row = NamedTuple(name, columns)._make
        return prepared

    def execute(self, *values: object) -> Rows:
        """Run the statement, and return its rows as plain tuples.

        It runs in the request's transaction, or in autocommit if the request is read-only. Values
        must have types that psycopg2 can adapt. Pass UUIDs and JSON as strings.
        """
        if not db.is_read_only():
            connection = db.session().connection()
            return self._run(connection.connection, connection.info, values, connection.invalidate)
        try:
            pooled_connection = _get_thread_connection()
        except psycopg2.Error as failure:
            # The pool does not wrap the error of psycopg2 if connecting fails.
            raise _wrap_error(self.execute_sql, failure, is_broken=True) from failure
        return self._run(
            pooled_connection, pooled_connection.info, values, lambda _: drop_connection()
        )

    def first(self, *values: object) -> Any:
        """Run the statement, and return the first row or None.

        The row is a named tuple if `from_select` created the statement.
        """
        rows = self.execute(*values)
        if not rows:
            return None
        return rows[0] if self.build_row is None else self.build_row(rows[0])

    def all(self, *values: object) -> list[Any]:
        """Run the statement, and return all rows.

        The rows are named tuples if `from_select` created the statement.
        """
        rows = self.execute(*values)
        return rows if self.build_row is None else [self.build_row(row) for row in rows]

    def _run(
        self,
        pooled_connection: PoolProxiedConnection,
        info: dict[Any, Any],
        values: tuple[object, ...],
        invalidate: Callable[[BaseException], None],
    ) -> Rows:
        """Run the statement on a connection. Call `invalidate` if the connection is broken."""
        dbapi_connection = pooled_connection.dbapi_connection
        assert isinstance(dbapi_connection, extensions.connection)
        try:
            with dbapi_connection.cursor() as cursor:
                if self.name not in info:
                    cursor.execute(self.prepare_sql)
                    info[self.name] = True
                cursor.execute(
                    tenancy.build_scope_prefix(dbapi_connection, info) + self.execute_sql, values
                )
                return cursor.fetchall() if cursor.description is not None else []
        except psycopg2.Error as failure:
            is_broken = _must_reconnect(pooled_connection, failure)
            if is_broken:
                invalidate(failure)
            raise _wrap_error(self.execute_sql, failure, is_broken=is_broken) from failure


def _must_reconnect(pooled_connection: PoolProxiedConnection, failure: psycopg2.Error) -> bool:
    """Return whether the connection is closed, or has outdated prepared statements.

    Statements that were prepared before the type of a column changed must be prepared again on a
    new connection.
    """
    dbapi_connection = pooled_connection.dbapi_connection
    is_closed = dbapi_connection is None or bool(dbapi_connection.closed)
    return is_closed or isinstance(failure, FeatureNotSupported)


def _get_thread_connection() -> PoolProxiedConnection:
    """Return this thread's autocommit connection. The thread keeps it after the first use."""
    connection: PoolProxiedConnection | None = getattr(_local, "connection", None)
    if connection is not None and _is_dead(connection):
        drop_connection()
        connection = None
    if connection is None:
        connection = db.db.engines["read"].raw_connection()
        _local.connection = connection
    return connection


def _is_dead(connection: PoolProxiedConnection) -> bool:
    dbapi_connection = connection.dbapi_connection
    return dbapi_connection is None or bool(dbapi_connection.is_dead)


def drop_connection() -> None:
    """Close this thread's autocommit connection, if any. Call this after a failure or a fork."""
    connection: PoolProxiedConnection | None = getattr(_local, "connection", None)
    if connection is not None:
        _local.connection = None
        connection.invalidate()


def _wrap_error(sql: str, failure: psycopg2.Error, *, is_broken: bool) -> BaseException:
    return DBAPIError.instance(
        sql,
        None,
        failure,
        psycopg2.Error,
        hide_parameters=True,
        connection_invalidated=is_broken,
    )
