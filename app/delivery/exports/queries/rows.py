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
from typing import Any, NamedTuple, Protocol
from uuid import UUID

import orjson
from psycopg2 import extensions
from sqlalchemy import Connection

from app.delivery.exports.queries.pages import PageReader
from app.engines.formats import build_labels
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

FILTER_CONDITIONS = {
    "schema_id": "{t}.schema_id = CAST(%(schema_id)s AS uuid)",
    "statuses": "{t}.status = ANY(CAST(%(statuses)s AS text[]))",
    "artifact_ids": "{t}.artifact_id = ANY(CAST(%(artifact_ids)s AS uuid[]))",
    "labeler_id": "{t}.labeler_id = CAST(%(labeler_id)s AS uuid)",
    "created_after": "{t}.created_at >= CAST(%(created_after)s AS timestamptz)",
    "created_before": "{t}.created_at < CAST(%(created_before)s AS timestamptz)",
    "decided_after": "{t}.decided_at >= CAST(%(decided_after)s AS timestamptz)",
    "decided_before": "{t}.decided_at < CAST(%(decided_before)s AS timestamptz)",
}
"""The condition of each member of an export's filter; `{t}` is the alias of the tag sets."""
_CONDITIONS = {**FILTER_CONDITIONS, "status": "{t}.status = %(status)s"}
_ALL_TAG_SETS = "tag_sets t WHERE {conditions}"
_LATEST_TAG_SETS = """(
        SELECT DISTINCT ON (n.artifact_id) n.* FROM tag_sets n WHERE {conditions}
        ORDER BY n.artifact_id, n.created_at DESC, n.id DESC
    ) t"""
# The final tag set of a document is the accepted merge, else the one accepted last. It is looked up
# by document, so that it is never planned as a join (see below).
_IS_FINAL = """{t}.status = 'accepted' AND {t}.id = (
        SELECT o.id FROM tag_sets o
        WHERE o.organization_id = {t}.organization_id AND o.artifact_id = {t}.artifact_id
          AND o.status = 'accepted'
        ORDER BY o.source = 'merge' DESC, coalesce(o.decided_at, o.created_at) DESC, o.id DESC
        LIMIT 1)"""

_FORMAT_TIME = """to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
_DOCUMENT_TEXT = """(
    SELECT x.text FROM artifact_texts x
    WHERE x.organization_id = s.organization_id AND x.artifact_id = s.artifact_id
    ) AS text"""
# Revisions are separate lines after the row: without a version, and with the tag set's id as tags.
_HISTORY = """
    UNION ALL (
    SELECT row_to_json(h), NULL, to_jsonb(s.tag_set_id) FROM (
        SELECT r.number, r.kind, r.note, r.author_id, {created_at} AS created_at, r.tags
        FROM tag_set_revisions r
        WHERE r.organization_id = s.organization_id AND r.tag_set_id = s.tag_set_id
        ORDER BY r.number) h)"""

# Documents are looked up one by one, never joined, and the organization is compared as a column, so
# that the planner plans for any value. For an organization created an hour ago there are no
# statistics; the planner would guess a handful of rows, and that plan is quadratic for thousands.
# An index returns the tag sets in the order of creation without a sort, so the first row comes at
# once, however many there are.
_ROWS = """
SELECT part.line, part.version_id, part.tags
FROM (
    SELECT t.id AS tag_set_id, t.status, t.source, t.labeler_id, t.reviewer_id, t.submitted_at,
        t.decided_at, t.schema_version_id AS version_id, t.tags, t.artifact_id, t.organization_id
    FROM {tag_sets}
    ORDER BY t.created_at, t.id
) s, LATERAL (
    SELECT row_to_json(head) AS line, s.version_id, s.tags FROM (
        SELECT s.tag_set_id, s.status, s.source,
            (SELECT row_to_json(a) FROM (
                SELECT d.id, d.name, d.external_id, d.media_type, d.sha256, d.metadata,
                    d.page_count, d.language, d.gold, d.archived
                FROM artifacts d
                WHERE d.organization_id = s.organization_id AND d.id = s.artifact_id) a
            ) AS artifact,
            s.labeler_id, s.reviewer_id, {submitted_at} AS submitted_at,
            {decided_at} AS decided_at{text}
    ) head{history}
) part
"""
_VERSIONS = """
SELECT CAST(v.id AS text), v.number, v.fields, CAST(s.id AS text), s.name, c.count
FROM (SELECT t.schema_version_id AS id, count(*) FROM {tag_sets} GROUP BY 1) c
JOIN schema_versions v ON v.organization_id = %(organization_id)s AND v.id = c.id
JOIN schemas s ON s.organization_id = v.organization_id AND s.id = v.schema_id
ORDER BY v.published_at DESC, v.id DESC
"""


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

    def __init__(self, connection: Connection, statements: "_Statements") -> None:
        self._connection = connection
        self._statements = statements
        rows = connection.exec_driver_sql(statements.versions, statements.values)
        self.versions = [Version(*row) for row in rows]
        """Newest first."""
        self.total = sum(version.count for version in self.versions)

    def copy(self, receive: ReceivePiece) -> None:
        """Pass every tag set as JSON to `receive`, in one or more pieces (see `engines.formats`).

        The order is that of creation. Exceptions of `receive` are propagated.
        """
        statements = self._statements
        lines = _LineWriter(self.versions, receive, statements)
        connection = self._connection.connection.driver_connection
        assert isinstance(connection, extensions.connection)
        with connection.cursor() as cursor:
            sql = cursor.mogrify(statements.rows, statements.values).decode()
            cursor.copy_expert(_COPY.format(sql), lines)
        lines.close()

    @contextmanager
    def open_pages(self) -> Iterator["PageReader"]:
        """Open a second connection on the same snapshot, to read pages while `copy` runs."""
        snapshot_id = self._connection.exec_driver_sql("SELECT pg_export_snapshot()").scalar_one()
        with _connect(f"SET TRANSACTION SNAPSHOT '{snapshot_id}'") as connection:
            yield PageReader(connection)


@contextmanager
def open_snapshot(where: Mapping[str, Any], include: Mapping[str, Any]) -> Iterator[Snapshot]:
    """Open a snapshot of the bound organization on a separate connection.

    `where` has members of `FILTER_CONDITIONS`, with ids and times as text; None means no condition.
    `include` has `tags` (accepted, final, latest or all), `evidence`, `text` and `history`.
    """
    statements = _Statements.build(tenancy.current_organization_id(), where, include)
    with _connect("SET LOCAL statement_timeout = 0") as connection:
        yield Snapshot(connection, statements)


@contextmanager
def _connect(first_statement: str) -> Iterator[Connection]:
    """Open a connection of the bound organization for one long read-only transaction."""
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


class _LineWriter:
    """The file object that COPY writes to; each write is one whole line."""

    def __init__(
        self, versions: Sequence[Version], receive: ReceivePiece, statements: "_Statements"
    ) -> None:
        self._receive = receive
        self._statements = statements
        self._open: bytes | None = None
        """The id of the tag set whose history is being passed on, as JSON."""
        self._separator = b""
        self._versions = {
            version.id.encode(): (b',"schema":%b,"labels":' % version.to_json(), version.fields)
            for version in versions
        }

    def write(self, data: bytes) -> None:
        """Convert a line of COPY and pass it to `receive`."""
        head, version, tags = data[:-1].split(_DELIMITER)
        if not version:
            self._write_revision(head, tags)
            return
        self.close()
        schema, fields = self._versions[version]
        labels = orjson.dumps(build_labels(fields, orjson.loads(tags)))
        row = head[:-1] + schema + labels
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


class _Statements(NamedTuple):
    rows: str
    versions: str
    values: dict[str, Any]
    with_tags: bool
    with_history: bool

    @classmethod
    def build(
        cls, organization_id: UUID, where: Mapping[str, Any], include: Mapping[str, Any]
    ) -> "_Statements":
        values = {name: value for name, value in where.items() if value is not None}
        if len(values.get("statuses", ())) == 1:
            # With one status compared by equality, the index also provides the order.
            values["status"] = values.pop("statuses")[0]
        tag_sets = _select_tag_sets(values, include["tags"])
        history = _HISTORY.format(created_at=_FORMAT_TIME.format("r.created_at"))
        rows = _ROWS.format(
            tag_sets=tag_sets,
            submitted_at=_FORMAT_TIME.format("s.submitted_at"),
            decided_at=_FORMAT_TIME.format("s.decided_at"),
            text=f", {_DOCUMENT_TEXT}" if include["text"] else "",
            history=history if include["history"] else "",
        )
        versions = _VERSIONS.format(tag_sets=tag_sets)
        bound = {**values, "organization_id": str(organization_id)}
        return cls(rows, versions, bound, bool(include["evidence"]), bool(include["history"]))


def _select_tag_sets(values: Mapping[str, Any], selection: str) -> str:
    latest = selection == "latest"
    alias = "n" if latest else "t"
    parts = [f"{alias}.organization_id = %(organization_id)s"]
    parts += [_CONDITIONS[name].format(t=alias) for name in values]
    if selection == "final":
        parts.append(_IS_FINAL.format(t=alias))
    return (_LATEST_TAG_SETS if latest else _ALL_TAG_SETS).format(conditions=" AND ".join(parts))
