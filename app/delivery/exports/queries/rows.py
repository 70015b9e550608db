"""Label sets out of one snapshot of the database, as fast as PostgreSQL sends them.

COPY carries three values a line: the row's JSON without its labels, the id of its schema version,
and its tags. JSON has no raw control characters, so with one of them as the delimiter and another
as the quote nothing is ever quoted, and the bytes go into the file as they came. Only the tags are
read, to make the labels of them, while PostgreSQL works on the next rows.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Connection

from app.engines.formats import labels_from_tags
from app.kit import db, tenancy

Receive = Callable[[bytes], None]

_DELIMITER = b"\x02"
_COPY = "COPY ({}) TO STDOUT WITH (FORMAT csv, DELIMITER e'\\x02', QUOTE e'\\x01')"

# As long as it takes, on one core: the others are for requests, and for this side of the COPY.
_LONG_AND_ALONE = "SET LOCAL statement_timeout = 0; SET LOCAL max_parallel_workers_per_gather = 0"

_CONDITIONS = {
    "schema_id": "{t}.schema_id = CAST(%(schema_id)s AS uuid)",
    "statuses": "{t}.status = ANY(CAST(%(statuses)s AS text[]))",
    "status": "{t}.status = %(status)s",
    "artifact_ids": "{t}.artifact_id = ANY(CAST(%(artifact_ids)s AS uuid[]))",
    "labeler_id": "{t}.labeler_id = CAST(%(labeler_id)s AS uuid)",
    "created_after": "{t}.created_at >= CAST(%(created_after)s AS timestamptz)",
    "created_before": "{t}.created_at < CAST(%(created_before)s AS timestamptz)",
    "decided_after": "{t}.decided_at >= CAST(%(decided_after)s AS timestamptz)",
    "decided_before": "{t}.decided_at < CAST(%(decided_before)s AS timestamptz)",
}
_EVERY = "tag_sets t WHERE {conditions}"
_NEWEST = """(
        SELECT DISTINCT ON (n.artifact_id) n.* FROM tag_sets n WHERE {conditions}
        ORDER BY n.artifact_id, n.created_at DESC, n.id DESC
    ) t"""

_TIME = """to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
_TEXT = """(
    SELECT x.text FROM artifact_texts x
    WHERE x.organization_id = s.organization_id AND x.artifact_id = s.artifact_id
    ) AS text"""
# Aggregated as JSON: of rows, json_agg would put each on a line of its own.
_HISTORY = """(
    SELECT coalesce(json_agg(row_to_json(h) ORDER BY h.number), '[]') FROM (
        SELECT r.number, r.kind, r.note, r.author_id, {created_at} AS created_at, r.tags
        FROM tag_set_revisions r
        WHERE r.organization_id = s.organization_id AND r.tag_set_id = s.tag_set_id) h
    ) AS history"""

# Documents are looked up one by one, never joined, and by the organization as a column: to whoever
# plans the statement that is any value. Of an organization that came an hour ago nobody has counted
# the rows, and a plan for the handful that is guessed then is quadratic for thousands.
# In the order of creation an index hands the label sets over as they are, so that the first row
# comes at once, however many there are.
_ROWS = """
SELECT row_to_json(head), s.version_id, s.tags
FROM (
    SELECT t.id AS tag_set_id, t.status, t.labeler_id, t.reviewer_id, t.submitted_at, t.decided_at,
        t.schema_version_id AS version_id, t.tags, t.artifact_id, t.organization_id
    FROM {tag_sets}
    ORDER BY t.created_at, t.id
) s, LATERAL (
    SELECT s.tag_set_id, s.status,
        (SELECT row_to_json(a) FROM (
            SELECT d.id, d.name, d.external_id, d.media_type, d.sha256, d.metadata, d.page_count,
                d.language
            FROM artifacts d
            WHERE d.organization_id = s.organization_id AND d.id = s.artifact_id) a) AS artifact,
        s.labeler_id, s.reviewer_id, {submitted_at} AS submitted_at,
        {decided_at} AS decided_at{extra}
) head
"""
_VERSIONS = """
SELECT CAST(v.id AS text), v.number, v.fields, CAST(s.id AS text), s.name, c.count
FROM (SELECT t.schema_version_id AS id, count(*) FROM {tag_sets} GROUP BY 1) c
JOIN schema_versions v ON v.organization_id = %(organization_id)s AND v.id = c.id
JOIN schemas s ON s.organization_id = v.organization_id AND s.id = v.schema_id
ORDER BY v.published_at DESC, v.id DESC
"""


@dataclass(frozen=True)
class Version:
    """A schema version that occurs, and how many of the label sets are of it."""

    id: str
    number: int
    fields: list[dict[str, Any]]
    schema_id: str
    schema_name: str
    count: int

    def json(self) -> bytes:
        """The row's member `schema`."""
        about = {"id": self.schema_id, "name": self.schema_name}
        return orjson.dumps({**about, "version_id": self.id, "version": self.number})


class Snapshot:
    """What one export holds: nothing that is saved while it is written changes it."""

    def __init__(self, connection: Connection, wanted: "_Wanted") -> None:
        self._connection = connection
        self._wanted = wanted
        found = connection.exec_driver_sql(wanted.versions, wanted.values)
        self.versions = [Version(*row) for row in found]
        """The newest first."""
        self.total = sum(version.count for version in self.versions)

    def copy(self, receive: Receive) -> None:
        """Hand over every label set, as a line of JSON without its end (see `engines.formats`).

        In the order of creation. What `receive` raises comes out of here.
        """
        lines = _Lines(self.versions, receive, with_tags=self._wanted.with_tags)
        raw: Any = self._connection.connection
        with raw.cursor() as cursor:
            sql = cursor.mogrify(self._wanted.rows, self._wanted.values).decode()
            cursor.copy_expert(_COPY.format(sql), lines)


@contextmanager
def snapshot(where: Mapping[str, Any], include: Mapping[str, Any]) -> Iterator[Snapshot]:
    """A snapshot of the bound organization, on a connection of its own.

    `where` has members of `_CONDITIONS`, ids and times as text, null where they narrow nothing;
    `include` has `tags` (accepted, latest or all), `evidence`, `text` and `history`.
    """
    wanted = _Wanted.of(tenancy.current_organization_id(), where, include)
    connection = db.engine().connect()
    try:
        connection = connection.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )
        tenancy.apply(connection)
        connection.exec_driver_sql(_LONG_AND_ALONE)
        yield Snapshot(connection, wanted)
    except BaseException:
        # A COPY that was broken off leaves the connection in the middle of it.
        connection.invalidate()
        raise
    finally:
        connection.close()


class _Lines:
    """The file that COPY writes to; it gets whole lines."""

    def __init__(self, versions: Sequence[Version], receive: Receive, *, with_tags: bool) -> None:
        self._receive = receive
        self._versions = {
            version.id.encode(): (b',"schema":%b,"labels":' % version.json(), version.fields)
            for version in versions
        }
        self._with_tags = with_tags

    def write(self, data: bytes) -> None:
        head, version, tags = data[:-1].split(_DELIMITER)
        schema, fields = self._versions[version]
        labels = orjson.dumps(labels_from_tags(fields, orjson.loads(tags)))
        end = b',"tags":%b}' % tags if self._with_tags else b"}"
        self._receive(head[:-1] + schema + labels + end)


@dataclass(frozen=True)
class _Wanted:
    rows: str
    versions: str
    values: dict[str, Any]
    with_tags: bool

    @classmethod
    def of(
        cls, organization_id: UUID, where: Mapping[str, Any], include: Mapping[str, Any]
    ) -> "_Wanted":
        values = {name: value for name, value in where.items() if value is not None}
        if len(values.get("statuses", ())) == 1:
            # One status, by equality: then the index gives the order as well.
            values["status"] = values.pop("statuses")[0]
        tag_sets = _tag_sets(values, newest=include["tags"] == "latest")
        history = _HISTORY.format(created_at=_TIME.format("r.created_at"))
        parts = [_TEXT if include["text"] else "", history if include["history"] else ""]
        rows = _ROWS.format(
            tag_sets=tag_sets,
            submitted_at=_TIME.format("s.submitted_at"),
            decided_at=_TIME.format("s.decided_at"),
            extra="".join(f", {part}" for part in parts if part),
        )
        versions = _VERSIONS.format(tag_sets=tag_sets)
        bound = {**values, "organization_id": str(organization_id)}
        return cls(rows, versions, bound, bool(include["evidence"]))


def _tag_sets(values: Mapping[str, Any], *, newest: bool) -> str:
    alias = "n" if newest else "t"
    parts = [f"{alias}.organization_id = %(organization_id)s"]
    parts += [_CONDITIONS[name].format(t=alias) for name in values]
    return (_NEWEST if newest else _EVERY).format(conditions=" AND ".join(parts))
