"""SQL queries for export previews: the first rows, and the total number of tag sets."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from psycopg2 import extensions
from sqlalchemy import Connection, select

from app.delivery.exports.queries import rows
from app.delivery.exports.queries.rows import LineWriter, Version
from app.delivery.exports.queries.statements import Statements
from app.kit import counters, db, tenancy
from app.workflow.tag_sets.counters import TAG_SETS

MAX_COUNTED = 10_000
"""The maximum number of tag sets to count one by one if no stored counter has the total."""
_SELECT_AS_TEXT = """
SELECT CAST(line AS text), CAST(version_id AS text), CAST(tags AS text) FROM ({}) AS export_rows
"""
_PROPERTIES_WITH_COUNTERS = frozenset({"schema_id", "statuses"})


class TagSetCount(NamedTuple):
    """The number of tag sets in an export; if `is_exact` is false, the true number is higher."""

    value: int
    is_exact: bool


class _RowCollector:
    """Collects rows until there are `limit` rows, or no more rows fit into `max_bytes`.

    The first row is always collected. If its revisions exceed `max_bytes`, only the first revisions
    are kept.
    """

    def __init__(self, limit: int, max_bytes: int) -> None:
        self.rows: list[bytes] = []
        self.is_full = False
        self._limit = limit
        self._remaining_bytes = max_bytes
        self._chunks: list[bytes] = []

    def receive(self, chunk: bytes, *, is_last: bool) -> None:
        """Receive the next chunk of a row; see `rows.ChunkReceiver`."""
        if self.is_full and self.rows:
            return
        is_required = not self.rows and (is_last or not self._chunks)
        if len(chunk) > self._remaining_bytes and not is_required:
            self.is_full = True
            return
        self._remaining_bytes -= len(chunk)
        self._chunks.append(chunk)
        if is_last:
            self.rows.append(b"".join(self._chunks))
            self._chunks.clear()
            self.is_full = self.is_full or len(self.rows) == self._limit


def read_first_rows(
    filter_: Mapping[str, Any], include: Mapping[str, Any], *, limit: int, max_bytes: int
) -> tuple[list[Version], list[bytes]]:
    """Return the schema versions of an export's first `limit` tag sets, and the first rows as JSON.

    Returns at most `limit` rows, and only as many rows as fit into `max_bytes`, but always the
    first row. If the first row is too large, its history ends with the last revision that fits.
    `filter_` and `include` are described in `rows.open_snapshot`. Runs in a separate transaction.
    """
    organization_id = tenancy.current_organization_id()
    statements = Statements.build(organization_id, filter_, include, limit=limit)
    with rows.connect(rows.DISABLE_PARALLEL_WORKERS, rows.DISABLE_PARALLEL_WORKERS) as connection:
        versions = rows.list_versions(connection, statements)
        collector = _RowCollector(limit, max_bytes)
        lines = LineWriter(versions, collector.receive, statements)
        for line in _iterate_lines(connection, statements):
            lines.write_values(*line)
            if collector.is_full:
                break
        lines.close()
    return versions, collector.rows


def _iterate_lines(
    connection: Connection, statements: Statements
) -> Iterator[tuple[bytes, bytes | None, bytes | None]]:
    """Yield row JSON, version id and tags of each line. Fetches single lines, which may be big."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, extensions.connection)
    with driver.cursor(name="export_preview") as cursor:
        cursor.itersize = 1
        cursor.execute(_SELECT_AS_TEXT.format(statements.rows), statements.values)
        for row_json, version_id, tags in cursor:
            yield row_json.encode(), version_id and version_id.encode(), tags and tags.encode()


def count_tag_sets(filter_: Mapping[str, Any], include: Mapping[str, Any]) -> TagSetCount:
    """Count the tag sets in an export, and the removed tag sets if `include` selects them.

    Uses the stored counters if they cover the filter, and otherwise counts up to `MAX_COUNTED`.
    """
    conditions = {name: value for name, value in filter_.items() if value is not None}
    if conditions.keys() <= _PROPERTIES_WITH_COUNTERS and include["tags"] in ("accepted", "all"):
        return TagSetCount(_sum_counters(conditions), is_exact=True)
    statements = Statements.build(tenancy.current_organization_id(), filter_, include)
    values = {**statements.values, "max_count": MAX_COUNTED + 1}
    count = db.session().connection().exec_driver_sql(statements.total, values).scalar_one()
    return TagSetCount(min(count, MAX_COUNTED), is_exact=count <= MAX_COUNTED)


def _sum_counters(conditions: Mapping[str, Any]) -> int:
    facets: dict[str, Any] = {"status": conditions["statuses"]}
    if "schema_id" in conditions:
        facets["schema_id"] = conditions["schema_id"]
    total = counters.build_total(TAG_SETS, facets)
    return int(db.session().execute(select(total)).scalar_one())
