"""SQL that streams tag sets from one database snapshot with COPY.

Each line of COPY has three values: the row's JSON without its labels, the id of its schema version,
and its tags. JSON contains no raw control characters. With one of them as the delimiter and another
as the quote character, nothing is ever quoted, and the bytes are written to the file unchanged.
Only the tags are parsed, to build the labels, while PostgreSQL works on the next rows.

If the history is included, a row is followed by one line for each of its revisions. They are passed
on piece by piece, because together they may exceed the largest value of PostgreSQL (1 GB) or the
memory.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

import orjson
from psycopg2 import extensions
from sqlalchemy import Connection

from app.delivery.exports.queries.pages import PageReader
from app.delivery.exports.queries.statements import Statements
from app.engines.formats import LabelBuilder
from app.kit import db, tenancy

_DELIMITER = b"\x02"
_ID_POSITION = slice(len('{"tag_set_id":'), len('{"tag_set_id":""') + 36)
"""The position of the tag set's id in a row, as a JSON string."""
_COPY = "COPY ({}) TO STDOUT WITH (FORMAT csv, DELIMITER e'\\x02', QUOTE e'\\x01')"

# No time limit, and one core only: the others serve requests and this side of the COPY.
_SETTINGS = (
    "SET LOCAL statement_timeout = 0; SET LOCAL max_parallel_workers_per_gather = 0;"
    " SET LOCAL idle_in_transaction_session_timeout = 0"
)
_NOW = "SELECT now()"


class ReceivePiece(Protocol):
    """A callback that receives rows piece by piece."""

    def __call__(self, piece: bytes, /, *, is_last: bool) -> None:
        """ReceivePiece the next piece of a row; `is_last` ends the row."""


@dataclass(frozen=True)
class Version:
    """A schema version of the exported tag sets, and how many of them use it."""

    id: str
    number: int
    fields: list[dict[str, Any]]
    schema_id: str
    schema_name: str
    count: int

    def to_json(self) -> bytes:
        """Return the member `schema` of a row as JSON."""
        schema = {"id": self.schema_id, "name": self.schema_name}
        return orjson.dumps({**schema, "version_id": self.id, "version": self.number})


class Snapshot:
    """The tag sets of one export, unaffected by what is saved while it is written."""

    def __init__(self, connection: Connection, statements: Statements) -> None:
        self._connection = connection
        self._statements = statements
        self.versions = list_versions(connection, statements)
        """Newest first."""
        self.total = sum(version.count for version in self.versions)
        self.at: datetime = connection.exec_driver_sql(_NOW).scalar_one()

    def copy(self, receive: ReceivePiece) -> int:
        """Pass every tag set as JSON to `receive`, in one or more pieces (see `engines.formats`).

        Returns how many of them are removed ones. The order is that of creation. Exceptions of
        `receive` are propagated.
        """
        return copy(self._connection, self._statements, self.versions, receive)

    @contextmanager
    def open_pages(self) -> Iterator["PageReader"]:
        """Open a second connection on the same snapshot, to read pages while `copy` runs."""
        snapshot_id = self._connection.exec_driver_sql("SELECT pg_export_snapshot()").scalar_one()
        with _connect(f"SET TRANSACTION SNAPSHOT '{snapshot_id}'") as connection:
            yield PageReader(connection)


def list_versions(connection: Connection, statements: Statements) -> list[Version]:
    """Return the schema versions of the tag sets, newest first."""
    rows = connection.exec_driver_sql(statements.versions, statements.values)
    return [Version(*row) for row in rows]


def copy(
    connection: Connection,
    statements: Statements,
    versions: Sequence[Version],
    receive: ReceivePiece,
) -> int:
    """Pass every tag set to `receive`, and return how many of them are removed ones."""
    lines = LineWriter(versions, receive, statements)
    driver = connection.connection.driver_connection
    assert isinstance(driver, extensions.connection)
    with driver.cursor() as cursor:
        sql = cursor.mogrify(statements.rows, statements.values).decode()
        cursor.copy_expert(_COPY.format(sql), lines)
    lines.close()
    return lines.removed


@contextmanager
def open_snapshot(where: Mapping[str, Any], include: Mapping[str, Any]) -> Iterator[Snapshot]:
    """Open a snapshot of the current organization on a separate connection.

    `where` has members of `FILTER_CONDITIONS`, with ids and times as text; None means no condition.
    `include` has `tags` (accepted, final, latest or all), `evidence`, `text` and `history`.
    """
    statements = Statements.build(tenancy.current_organization_id(), where, include)
    with _connect("SET LOCAL statement_timeout = 0") as connection:
        yield Snapshot(connection, statements)


@contextmanager
def _connect(first_statement: str) -> Iterator[Connection]:
    """Open a connection of the current organization for one long read-only transaction."""
    connection = db.engine().connect()
    try:
        connection = connection.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )
        connection.exec_driver_sql(first_statement)
        tenancy.apply(connection)
        connection.exec_driver_sql(_SETTINGS)
        yield connection
    except BaseException:
        # An aborted COPY leaves the connection in the middle of the protocol.
        connection.invalidate()
        raise
    finally:
        connection.close()


class LineWriter:
    """The file object that COPY writes to; each write is one whole line."""

    removed: int
    """How many removed tag sets were passed on."""

    def __init__(
        self, versions: Sequence[Version], receive: ReceivePiece, statements: Statements
    ) -> None:
        self._receive = receive
        self._statements = statements
        self._open: bytes | None = None
        """The id of the tag set whose history is being passed on, as JSON."""
        self._separator = b""
        self.removed = 0
        self._versions = {
            version.id.encode(): (version.to_json(), LabelBuilder(version.fields))
            for version in versions
        }

    def write(self, data: bytes) -> None:
        """Convert a line of COPY and pass it to `receive`."""
        self.write_values(*data[:-1].split(_DELIMITER))

    def write_values(self, head: bytes, version: bytes | None, tags: bytes | None) -> None:
        """Convert the values of a line, and pass them to `receive`."""
        if not version and tags:
            self._write_revision(head, tags)
            return
        self.close()
        if not version:
            self.removed += 1
            self._receive(head, is_last=True)
            return
        assert tags is not None
        schema, builder = self._versions[version]
        labels = orjson.dumps(builder.build(orjson.loads(tags)))
        row = b'%b,"schema":%b,"labels":%b' % (head[:-1], schema, labels)
        if self._statements.with_tags:
            row += b',"tags":%b' % tags
        if self._statements.with_history:
            self._receive(row + b',"history":[', is_last=False)
            self._open, self._separator = head[_ID_POSITION], b""
        else:
            self._receive(row + b"}", is_last=True)

    def close(self) -> None:
        """End the last row, if its history is still open."""
        if self._open is not None:
            self._receive(b"]}", is_last=True)
        self._open = None

    def _write_revision(self, revision: bytes, tag_set_id: bytes) -> None:
        if tag_set_id != self._open:
            raise RuntimeError("a revision came after the row of another tag set")
        self._receive(self._separator + revision, is_last=False)
        self._separator = b","
