"""SQL queries that stream tag sets from one database snapshot with COPY.

Each COPY line has three values: the row's JSON without its labels, the id of its schema version,
and its tags. JSON contains no raw control characters, so two control characters are used as the
delimiter and the quote character. No value is ever quoted, and the bytes are written to the file
unchanged. Only the tags are parsed, to build the labels, while PostgreSQL reads the next rows.

If the history is included, a row is followed by one line for each of its revisions. The revisions
are passed on one by one, because all revisions of a row together may exceed the maximum size of a
PostgreSQL value (1 GB) or the available memory.
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
from app.engines.formats.labels import LabelBuilder
from app.kit import db, tenancy

_DELIMITER = b"\x02"
_ID_SLICE = slice(len('{"tag_set_id":'), len('{"tag_set_id":""') + 36)
"""The slice of a row's JSON that contains the tag set's id as a JSON string."""
_COPY = "COPY ({}) TO STDOUT WITH (FORMAT csv, DELIMITER e'\\x02', QUOTE e'\\x01')"

# There are no timeouts, because an export may run for hours. There are no parallel workers, because
# the other cores serve requests and run the Python code that receives the COPY lines.
DISABLE_PARALLEL_WORKERS = "SET LOCAL max_parallel_workers_per_gather = 0"
_SETTINGS = (
    f"SET LOCAL statement_timeout = 0; {DISABLE_PARALLEL_WORKERS};"
    " SET LOCAL idle_in_transaction_session_timeout = 0"
)


class ChunkReceiver(Protocol):
    """A callback that receives each row in one or more chunks."""

    def __call__(self, chunk: bytes, /, *, is_last: bool) -> None:
        """Receive the next chunk of a row; `is_last` is true for the last chunk of the row."""


@dataclass(frozen=True)
class Version:
    """A schema version, and the number of exported tag sets that use it."""

    id: str
    number: int
    fields: list[dict[str, Any]]
    schema_id: str
    schema_name: str
    count: int

    def to_json(self) -> bytes:
        """Return the schema and this version as JSON, for the `schema` property of rows."""
        schema = {"id": self.schema_id, "name": self.schema_name}
        return orjson.dumps({**schema, "version_id": self.id, "version": self.number})


class Snapshot:
    """A database snapshot of the tag sets of one export; concurrent changes do not affect it."""

    def __init__(self, connection: Connection, statements: Statements) -> None:
        self._connection = connection
        self._statements = statements
        self.versions = list_versions(connection, statements)
        """The schema versions of the tag sets, newest first."""
        self.total = sum(version.count for version in self.versions)
        self.taken_at: datetime = connection.exec_driver_sql("SELECT now()").scalar_one()

    def copy_rows(self, receive: ChunkReceiver) -> int:
        """Pass every tag set as JSON to `receive`, in one or more chunks (see `engines.formats`).

        Tag sets are passed in the order of their creation, followed by removed tag sets. Returns
        the number of removed tag sets. Exceptions that `receive` raises are propagated.
        """
        lines = LineWriter(self.versions, receive, self._statements)
        driver = self._connection.connection.driver_connection
        assert isinstance(driver, extensions.connection)
        with driver.cursor() as cursor:
            sql = cursor.mogrify(self._statements.rows, self._statements.values).decode()
            cursor.copy_expert(_COPY.format(sql), lines)
        lines.close()
        return lines.removed_count

    @contextmanager
    def open_page_reader(self) -> Iterator["PageReader"]:
        """Open a second connection with the same snapshot, to read pages during `copy_rows`."""
        snapshot_id = self._connection.exec_driver_sql("SELECT pg_export_snapshot()").scalar_one()
        with connect(f"SET TRANSACTION SNAPSHOT '{snapshot_id}'") as connection:
            yield PageReader(connection)


def list_versions(connection: Connection, statements: Statements) -> list[Version]:
    """Return the schema versions of an export's tag sets, newest first."""
    rows = connection.exec_driver_sql(statements.versions, statements.values)
    return [Version(*row) for row in rows]


@contextmanager
def open_snapshot(filter_: Mapping[str, Any], include: Mapping[str, Any]) -> Iterator[Snapshot]:
    """Open a snapshot of the current organization's tag sets on a separate connection.

    `filter_` maps keys of `FILTER_CONDITIONS` to values, with ids and times as text; None means no
    condition. `include` has `tags` (accepted, final, latest or all), `evidence`, `text`, `history`
    and optionally `removed`.
    """
    statements = Statements.build(tenancy.current_organization_id(), filter_, include)
    with connect("SET LOCAL statement_timeout = 0") as connection:
        yield Snapshot(connection, statements)


@contextmanager
def connect(first_statement: str, settings: str = _SETTINGS) -> Iterator[Connection]:
    """Open a connection for one read-only transaction of the current organization.

    `first_statement` is executed before all other statements, as `SET TRANSACTION SNAPSHOT`
    requires. The default `settings` are for a long transaction.
    """
    connection = db.engine().connect()
    try:
        connection = connection.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )
        connection.exec_driver_sql(first_statement)
        tenancy.send_scope(connection)
        connection.exec_driver_sql(settings)
        yield connection
    except BaseException:
        # After an aborted COPY, the connection cannot be used again.
        connection.invalidate()
        raise
    finally:
        connection.close()


class LineWriter:
    """Converts COPY lines to JSON for `receive`. COPY uses it as a file, and writes whole lines."""

    removed_count: int
    """The number of removed tag sets passed to `receive`."""

    def __init__(
        self, versions: Sequence[Version], receive: ChunkReceiver, statements: Statements
    ) -> None:
        self._receive = receive
        self._statements = statements
        self._open_tag_set_id: bytes | None = None
        """The id, as JSON, of the tag set whose history is still being written, or None."""
        self._separator = b""
        self.removed_count = 0
        self._versions = {
            version.id.encode(): (version.to_json(), LabelBuilder(version.fields))
            for version in versions
        }

    def write(self, data: bytes) -> None:
        """Split a COPY line into its values, convert them and pass the JSON to `receive`."""
        self.write_values(*data[:-1].split(_DELIMITER))

    def write_values(self, row_json: bytes, version_id: bytes | None, tags: bytes | None) -> None:
        """Convert the three values of a line to JSON, and pass the JSON to `receive`."""
        if not version_id and tags:
            self._write_revision(row_json, tags)
            return
        self.close()
        if not version_id:
            self.removed_count += 1
            self._receive(row_json, is_last=True)
            return
        assert tags is not None
        schema, builder = self._versions[version_id]
        labels = orjson.dumps(builder.build(orjson.loads(tags)))
        row = b'%b,"schema":%b,"labels":%b' % (row_json[:-1], schema, labels)
        if self._statements.with_tags:
            row += b',"tags":%b' % tags
        if self._statements.with_history:
            self._receive(row + b',"history":[', is_last=False)
            self._open_tag_set_id, self._separator = row_json[_ID_SLICE], b""
        else:
            self._receive(row + b"}", is_last=True)

    def close(self) -> None:
        """Close the JSON of the last row if its history is still open."""
        if self._open_tag_set_id is not None:
            self._receive(b"]}", is_last=True)
        self._open_tag_set_id = None

    def _write_revision(self, revision: bytes, tag_set_id: bytes) -> None:
        if tag_set_id != self._open_tag_set_id:
            raise RuntimeError("a revision came after the row of another tag set")
        self._receive(self._separator + revision, is_last=False)
        self._separator = b","
