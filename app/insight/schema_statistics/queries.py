"""SQL queries for the statistics of a schema."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Float,
    FromClause,
    Subquery,
    Text,
    Uuid,
    case,
    cast,
    func,
    literal,
    null,
    select,
    union_all,
)

from app.documents.artifacts.models.documents import Artifact
from app.kit import counters, db, tenancy
from app.kit.counters import Between
from app.kit.counters.sources import SOURCES
from app.kit.counters.sql import StatementBuilder
from app.schemas.artifact_schemas.models import SchemaVersion
from app.workflow.tag_sets.models import TagSet
from app.workflow.tag_sets.transitions import TagSetStatus

_STATUSES = tuple(TagSetStatus)
_ARTIFACTS = Artifact.__table__
_TAG_SETS = TagSet.__table__
_MEASURE = "measure"
"""The name of the column whose sum `_select_cells` returns as `total`."""


def count_artifacts(
    schema_id: UUID, *, first: datetime | None, end: datetime | None
) -> dict[str, int]:
    """Count the documents of a schema that were created from `first` until `end`, by status.

    `end` is exclusive. Archived documents are counted as `archived`, regardless of their status.
    """
    columns = (_ARTIFACTS.c.status, cast(_ARTIFACTS.c.archived, Text).label("archived"))
    cells = _select_cells("artifacts", _ARTIFACTS, columns, schema_id, first, end)
    state = case((cells.c.archived == "true", "archived"), else_=cells.c.status)
    counts = select(state.label("state"), func.sum(cells.c.n).label("n")).group_by(state)
    return {row.state: int(row.n) for row in db.session().execute(counts)}


class TagSetCounts(NamedTuple):
    """Counts and labeling times of tag sets: of one version, or of all versions if `id` is None.

    `timed` is the number of tag sets with a recorded time; `mean` and `median` are in seconds. The
    counts and times are None for a version without tag sets.
    """

    id: UUID | None
    number: int | None
    draft: int | None
    submitted: int | None
    accepted: int | None
    rejected: int | None
    total: int | None
    auto_accepted: int | None
    rejections: int | None
    timed: int | None
    mean: float | None
    median: float | None


def count_tag_sets(
    schema_id: UUID, *, first: datetime | None, end: datetime | None
) -> list[TagSetCounts]:
    """Count a schema's tag sets of a period: the total first, then each version, newest first."""
    tag_sets = _TAG_SETS.c
    columns = (
        cast(tag_sets.schema_version_id, Text).label("version_id"),
        tag_sets.status,
        cast(tag_sets.reviewer_id.is_not(None), Text).label("reviewed"),
        tag_sets.rejections.label(_MEASURE),
    )
    cells = _select_cells("tag_sets", _TAG_SETS, columns, schema_id, first, end)
    counts = _sum_by_version(cells)
    times = _select_labeling_times(schema_id, first, end)
    versions = union_all(
        select(SchemaVersion.id, SchemaVersion.number).where(SchemaVersion.schema_id == schema_id),
        select(cast(null(), Uuid), null()),
    ).subquery()
    by_name = {column.key: column for table in (counts, times, versions) for column in table.c}
    statement = (
        select(*(by_name[name] for name in TagSetCounts._fields))
        .select_from(versions)
        .outerjoin(counts, counts.c.version_id.is_not_distinct_from(versions.c.id))
        .outerjoin(times, times.c.version_id.is_not_distinct_from(versions.c.id))
        .order_by(versions.c.number.desc())
    )
    return [TagSetCounts._make(row) for row in db.session().execute(statement)]


def _sum_by_version(cells: Subquery) -> Subquery:
    """Build a subquery that sums the cells by version, and for all versions (null `version_id`)."""
    is_accepted = cells.c.status == TagSetStatus.ACCEPTED
    counts: dict[str, ColumnElement[bool]] = {
        **{status: cells.c.status == status for status in _STATUSES},
        "total": literal(True),  # noqa: FBT003 - a SQL literal
        "auto_accepted": is_accepted & (cells.c.reviewed == "false"),
    }
    count_columns = [
        cast(func.sum(case((condition, cells.c.n), else_=0)), BigInteger).label(name)
        for name, condition in counts.items()
    ]
    rejections = cast(func.sum(cells.c.total), BigInteger).label("rejections")
    version = cast(cells.c.version_id, Uuid)
    by_version = select(version.label("version_id"), *count_columns, rejections).group_by(version)
    total = select(cast(null(), Uuid), *count_columns, rejections).having(func.count() > 0)
    return union_all(by_version, total).subquery()


# The median is computed from the number of tag sets for each duration, so that its cost does not
# grow with the number of tag sets.
_LABELING_TIMES = """
    WITH durations AS (
        SELECT CAST(version_id AS uuid) AS version_id, CAST(seconds AS int) AS seconds, sum(n) AS n
        FROM ({cells}) AS cells
        GROUP BY GROUPING SETS ((version_id, seconds), (seconds)) HAVING sum(n) > 0
    ), ranked AS (
        SELECT version_id, seconds, n,
               sum(n) OVER (PARTITION BY version_id ORDER BY seconds) AS cumulative,
               sum(n) OVER (PARTITION BY version_id) AS total
        FROM durations
    )
    SELECT version_id, CAST(sum(n) AS bigint) AS timed,
           CAST(sum(seconds * n) / sum(n) AS float8) AS mean,
           (min(seconds) FILTER (WHERE cumulative >= floor((total + 1) / 2))
            + min(seconds) FILTER (WHERE cumulative >= floor((total + 2) / 2))) / 2.0 AS median
    FROM ranked GROUP BY version_id
"""
# The counters do not have durations by period, so the tag sets of a period are read row by row.
_SECONDS_OF_PERIOD = """
    SELECT CAST(schema_version_id AS text) AS version_id,
           CAST(seconds_spent AS text) AS seconds, 1 AS n
    FROM tag_sets
    WHERE organization_id = {organization} AND schema_id = CAST({schema} AS uuid)
      AND status IN ('draft', 'submitted', 'accepted', 'rejected')
      AND (CAST({first} AS timestamptz) IS NULL OR created_at >= {first})
      AND (CAST({end} AS timestamptz) IS NULL OR created_at < {end})
      AND submitted_at IS NOT NULL AND seconds_spent > 0 AND source = 'human'
"""


def _select_labeling_times(
    schema_id: UUID, first: datetime | None, end: datetime | None
) -> Subquery:
    statement = StatementBuilder(tenancy.current_organization_id())
    if first is None and end is None:
        source = SOURCES["labeling_seconds"]
        cells = statement.select_cells(
            source, ("version_id", "seconds"), {"schema_id": schema_id}, None
        )
    else:
        cells = _SECONDS_OF_PERIOD.format(
            organization=statement.organization,
            schema=statement.add(str(schema_id)),
            first=statement.add(first),
            end=statement.add(end),
        )
    columns = {"version_id": Uuid(), "timed": BigInteger(), "mean": Float(), "median": Float()}
    return statement.as_select(_LABELING_TIMES.format(cells=cells), columns).subquery()


def _select_cells(
    source: str,
    table: FromClause,
    columns: Sequence[ColumnElement[Any]],
    schema_id: UUID,
    first: datetime | None,
    end: datetime | None,
) -> Subquery:
    """Build a subquery that counts, by `columns`, the rows of a schema in `table`.

    Only rows created at or after `first` and before `end` are counted. The column `n` is the number
    of rows, and `total` is the sum of the column `_MEASURE`. Several result rows may have the same
    values of `columns`, so callers must add them.
    """
    facet_names = [str(column.key) for column in columns if column.key != _MEASURE]
    where = {"schema_id": schema_id}
    if first is None and end is None:
        return counters.select_cells(SOURCES[source], facet_names, where)
    is_in_organization = table.c.organization_id == tenancy.current_organization_id()
    rows = select(*columns).where(is_in_organization, table.c.schema_id == schema_id)
    between = Between("created", table.c.created_at, first, end, rows)
    return counters.select_cells_between(SOURCES[source], facet_names, where, between)
