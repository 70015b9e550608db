"""SQL queries for export previews: the first rows, and the total number of tag sets."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import select

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
_COUNTER_FACETS = frozenset({"schema_id", "statuses"})


class TagSetCount(NamedTuple):
    """The number of tag sets in an export; if `is_exact` is false, the true number is higher."""

    value: int
    is_exact: bool


def read_first_rows(
    where: Mapping[str, Any], include: Mapping[str, Any], limit: int
) -> tuple[list[Version], list[bytes]]:
    """Return the schema versions of an export, and its first `limit` rows as JSON.

    `where` and `include` are described in `rows.open_snapshot`. Runs in the session's transaction.
    """
    organization_id = tenancy.current_organization_id()
    statements = Statements.build(organization_id, where, include, limit=limit)
    connection = db.session().connection()
    versions = rows.list_versions(connection, statements)
    json_rows: list[bytes] = []
    chunks: list[bytes] = []

    def receive(chunk: bytes, *, is_last: bool) -> None:
        chunks.append(chunk)
        if is_last:
            json_rows.append(b"".join(chunks))
            chunks.clear()

    lines = LineWriter(versions, receive, statements)
    for row in connection.exec_driver_sql(
        _SELECT_AS_TEXT.format(statements.rows), statements.values
    ):
        lines.write_values(*(value and value.encode() for value in row))
    lines.close()
    return versions, json_rows[:limit]


def count_tag_sets(where: Mapping[str, Any], include: Mapping[str, Any]) -> TagSetCount:
    """Count the tag sets in an export, excluding removed tag sets.

    Uses the stored counters if they cover the filter, and otherwise counts up to `MAX_COUNTED`.
    """
    conditions = {name: value for name, value in where.items() if value is not None}
    if conditions.keys() <= _COUNTER_FACETS and include["tags"] in ("accepted", "all"):
        return TagSetCount(_sum_counters(conditions), is_exact=True)
    statements = Statements.build(tenancy.current_organization_id(), where, include)
    values = {**statements.values, "max_count": MAX_COUNTED + 1}
    count = db.session().connection().exec_driver_sql(statements.total, values).scalar_one()
    return TagSetCount(min(count, MAX_COUNTED), is_exact=count <= MAX_COUNTED)


def _sum_counters(conditions: Mapping[str, Any]) -> int:
    facets: dict[str, Any] = {"status": conditions["statuses"]}
    if "schema_id" in conditions:
        facets["schema_id"] = conditions["schema_id"]
    total = counters.build_total(TAG_SETS, facets)
    return int(db.session().execute(select(total)).scalar_one())
