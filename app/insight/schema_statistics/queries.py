"""SQL of the statistics of a schema."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Float,
    Row,
    Select,
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

from app.documents.artifacts.models import Artifact
from app.kit import counters, db, tenancy
from app.kit.counters import Between
from app.kit.counters.sql import Statement
from app.schemas.artifact_schemas.models import SchemaVersion
from app.workflow.tag_sets.models import TagSet
from app.workflow.tag_sets.transitions import TagSetStatus

_STATUSES = tuple(TagSetStatus)
_ARTIFACTS = Artifact.__table__
_TAG_SETS = TagSet.__table__


def artifacts(schema_id: UUID, *, first: datetime | None, end: datetime | None) -> dict[str, int]:
    """How many of the schema's documents there are of each status; archived ones aside."""
    rows = _rows(
        _ARTIFACTS,
        schema_id,
        _ARTIFACTS.c.status,
        cast(_ARTIFACTS.c.archived, Text).label("archived"),
    )
    cells = _cells("artifacts", ("status", "archived"), schema_id, _ARTIFACTS, rows, first, end)
    state = case((cells.c.archived == "true", "archived"), else_=cells.c.status)
    counted = select(state.label("state"), func.sum(cells.c.n).label("n")).group_by(state)
    return {row.state: int(row.n) for row in db.session().execute(counted)}


def label_sets(
    schema_id: UUID, *, first: datetime | None, end: datetime | None
) -> Sequence[Row[Any]]:
    """What became of the label sets: the whole first (id null), then each version, newest first.

    The counts of a version that nothing was labeled with are null.
    """
    sets = _TAG_SETS.c
    rows = _rows(
        _TAG_SETS,
        schema_id,
        cast(sets.schema_version_id, Text).label("version_id"),
        sets.status,
        cast(sets.reviewer_id.is_not(None), Text).label("reviewed"),
        sets.rejections.label("measure"),
    )
    shown = ("version_id", "status", "reviewed")
    counted = _by_version(_cells("tag_sets", shown, schema_id, _TAG_SETS, rows, first, end))
    speed = _speed(schema_id, first, end)
    versions = union_all(
        select(SchemaVersion.id, SchemaVersion.number).where(SchemaVersion.schema_id == schema_id),
        select(cast(null(), Uuid), null()),
    ).subquery()
    same, as_fast = (
        one.c.version_id.is_not_distinct_from(versions.c.id) for one in (counted, speed)
    )
    statement = (
        select(
            counted, speed.c.timed, speed.c.mean, speed.c.median, versions.c.id, versions.c.number
        )
        .select_from(versions)
        .outerjoin(counted, same)
        .outerjoin(speed, as_fast)
        .order_by(versions.c.number.desc())
    )
    return db.session().execute(statement).all()


def _by_version(cells: Any) -> Subquery:
    """Add up cells of tag sets: all of them (version_id null), and those of each version."""
    accepted = cells.c.status == TagSetStatus.ACCEPTED
    counts: dict[str, Any] = {
        **{status: cells.c.status == status for status in _STATUSES},
        "total": literal(True),  # noqa: FBT003 - SQL's
        "auto_accepted": accepted & (cells.c.reviewed == "false"),
    }
    numbers = [
        cast(func.sum(case((which, cells.c.n), else_=0)), BigInteger).label(name)
        for name, which in counts.items()
    ]
    rejections = cast(func.sum(cells.c.total), BigInteger).label("rejections")
    version = cast(cells.c.version_id, Uuid)
    by_version = select(version.label("version_id"), *numbers, rejections).group_by(version)
    whole = select(cast(null(), Uuid), *numbers, rejections).having(func.count() > 0)
    return union_all(by_version, whole).subquery()


# How many took how many seconds tells the median, whatever their number.
_SPEED = """
    WITH told AS (
        SELECT CAST(version_id AS uuid) AS version_id, CAST(seconds AS int) AS seconds, sum(n) AS n
        FROM ({cells}) AS cells
        GROUP BY GROUPING SETS ((version_id, seconds), (seconds)) HAVING sum(n) > 0
    ), placed AS (
        SELECT version_id, seconds, n,
               sum(n) OVER (PARTITION BY version_id ORDER BY seconds) AS upto,
               sum(n) OVER (PARTITION BY version_id) AS whole
        FROM told
    )
    SELECT version_id, CAST(sum(n) AS bigint) AS timed,
           CAST(sum(seconds * n) / sum(n) AS float8) AS mean,
           (min(seconds) FILTER (WHERE upto >= floor((whole + 1) / 2))
            + min(seconds) FILTER (WHERE upto >= floor((whole + 2) / 2))) / 2.0 AS median
    FROM placed GROUP BY version_id
"""
# Those of a period are looked at one by one.
_SECONDS = """
    SELECT CAST(schema_version_id AS text) AS version_id,
           CAST(seconds_spent AS text) AS seconds, 1 AS n
    FROM tag_sets
    WHERE organization_id = {organization} AND schema_id = CAST({schema} AS uuid)
      AND status IN ('draft', 'submitted', 'accepted', 'rejected')
      AND (CAST({first} AS timestamptz) IS NULL OR created_at >= {first})
      AND (CAST({end} AS timestamptz) IS NULL OR created_at < {end})
      AND submitted_at IS NOT NULL AND seconds_spent > 0 AND source = 'human'
"""


def _speed(schema_id: UUID, first: datetime | None, end: datetime | None) -> Any:
    statement = Statement(tenancy.current_organization_id())
    if first is None and end is None:
        source = counters.SOURCES["labeling_seconds"]
        cells = statement.select_cells(
            source, ("version_id", "seconds"), {"schema_id": schema_id}, None
        )
    else:
        cells = _SECONDS.format(
            organization=statement.organization,
            schema=statement.add(str(schema_id)),
            first=statement.add(first),
            end=statement.add(end),
        )
    columns = {"version_id": Uuid(), "timed": BigInteger(), "mean": Float(), "median": Float()}
    return statement.as_select(_SPEED.format(cells=cells), columns).subquery()


def _rows(of: Any, schema_id: UUID, *columns: Any) -> Select[Any]:
    ours = of.c.organization_id == tenancy.current_organization_id()
    return select(*columns).where(ours, of.c.schema_id == schema_id)


def _cells(
    source: str,
    shown: Sequence[str],
    schema_id: UUID,
    of: Any,
    rows: Select[Any],
    first: datetime | None,
    end: datetime | None,
) -> Any:
    where = {"schema_id": schema_id}
    if first is None and end is None:
        return counters.cells(counters.SOURCES[source], shown, where)
    between = Between("created", of.c.created_at, first, end, rows)
    return counters.cells_between(counters.SOURCES[source], shown, where, between)
