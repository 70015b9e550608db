"""One metric over time, by schema, field, team or labeler."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement

from app.engines import charts
from app.engines.charts import ImageKind, Point, Series, TrendChart
from app.insight.quality.models import Subject
from app.insight.quality.queries import reading
from app.insight.quality.queries.reading import Filter
from app.insight.quality.service.latest import build_period
from app.insight.quality.service.people import check_visible, find_visible_labelers
from app.insight.quality.service.periods import get_period, list_buckets
from app.insight.quality.service.rates import METRICS, Metric
from app.kit import errors
from app.kit.permissions import Role, require_role
from app.kit.principal import Caller
from app.schemas.artifact_schemas import service as schemas

MAX_SERIES = 20
"""The maximum number of groups in one response: those with the most cases."""
GROUPS: dict[str | None, tuple[Subject, ColumnElement[str]]] = {
    None: (Subject.SCHEMA, reading.ALL),
    "schema": (Subject.SCHEMA, reading.SCHEMA),
    "field": (Subject.FIELD, reading.NAME),
    "team": (Subject.LABELER, reading.TEAM),
    "labeler": (Subject.LABELER, reading.NAME),
}


def get_trends(
    *,
    caller: Caller,
    metric: str,
    bucket: str,
    group_by: str | None = None,
    first: date | None = None,
    end: date | None = None,
    schema_id: UUID | None = None,
    field: str | None = None,
    team_id: UUID | None = None,
    labeler_id: UUID | None = None,
) -> dict[str, Any]:
    """Return a metric in each bucket of the period, for each group with any case.

    Figures of teams and labelers need the role of a reviewer; labelers see their own. Raises 400 on
    `metric` if the group has no such metric, or on a filter that does not fit the group; 403 on
    labelers that the caller may not see; 404 for an unknown schema; 422 on the period or `bucket`.
    """
    period = get_period(caller, first, end)
    buckets = list_buckets(period, bucket)
    chosen = _choose_group(group_by, field, team_id, labeler_id)
    measured = METRICS[metric]
    subject, column = GROUPS[chosen]
    if subject is Subject.FIELD and not measured.of_fields:
        raise errors.invalid("Fields do not have this metric.", "metric")
    labelers = _find_labelers(caller, subject, column, team_id, labeler_id)
    if schema_id is not None:
        schemas.get(schema_id)
    cells = Filter(
        subject,
        period.first,
        period.end,
        schema_id=schema_id,
        field=field,
        team_id=team_id,
        labelers=labelers,
    )
    # Filters without a group narrow down one series.
    rows = reading.sum_by_bucket(cells, column if group_by else reading.ALL, buckets, MAX_SERIES)
    series = _build_series(rows, measured, buckets)
    names = reading.get_names(group_by or "", [key for key, _ in series])
    return {
        **build_period(period),
        "metric": metric,
        "bucket": bucket,
        "group_by": group_by,
        "series": [
            {"key": key or None, "name": names.get(key, key) or None, "points": points}
            for key, points in series[:MAX_SERIES]
        ],
        "truncated": len(series) > MAX_SERIES,
    }


def _choose_group(
    group_by: str | None, field: str | None, team_id: UUID | None, labeler_id: UUID | None
) -> str | None:
    """Return the group whose cells are read. Raises 400 on a filter that does not fit it."""
    subjects = {"field": field, "team": team_id, "labeler": labeler_id}
    needed = {
        "labeler" if name == "team" and labeler_id is not None else name
        for name, value in subjects.items()
        if value is not None
    }
    group = group_by if group_by not in (None, "schema") else None
    for name in needed:
        cells = GROUPS[name][0]
        if group is not None and GROUPS[group][0] is not cells:
            raise errors.invalid(f"Cannot be combined with the group {group}.", _PARAMETERS[name])
    if group is not None:
        return group
    if len({GROUPS[name][0] for name in needed}) > 1:
        raise errors.invalid("Cannot be combined with a team or a labeler.", "field")
    if not needed:
        return group_by
    return "labeler" if needed & {"labeler", "team"} else "field"


_PARAMETERS = {"field": "field", "team": "team_id", "labeler": "labeler_id"}


def _find_labelers(
    caller: Caller,
    subject: Subject,
    column: ColumnElement[str],
    team_id: UUID | None,
    labeler_id: UUID | None,
) -> Sequence[UUID] | None:
    """Return the labelers whose cells are read, or None for all. Raises 403."""
    if subject is not Subject.LABELER:
        return None
    if column is reading.TEAM or team_id is not None:
        assert caller.role is not None
        require_role(caller.role, Role.reviewer)
    labelers = find_visible_labelers(caller)
    if labeler_id is None:
        return labelers
    check_visible(labeler_id, labelers)
    return [labeler_id]


def _build_series(
    rows: Sequence[Any], metric: Metric, buckets: Sequence[tuple[date, date]]
) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the points of each group, in the order of the rows; buckets without cases included."""
    by_key: dict[str, dict[int, dict[str, int]]] = defaultdict(dict)
    for row in rows:
        by_key[row.key][row.bucket] = reading.get_counts(row)
    zeros = dict.fromkeys(reading.COUNTERS, 0)
    series = []
    for key, counts in by_key.items():
        rates = [metric.compute(counts.get(number, zeros)) for number in range(len(buckets))]
        if not any(rate.n for rate in rates):
            continue
        points = [
            {"first": start, "end": stop, **rate._asdict()}
            for (start, stop), rate in zip(buckets, rates, strict=True)
        ]
        series.append((key, points))
    return series


def draw_trends(trends: dict[str, Any], kind: ImageKind) -> bytes:
    """Return the chart of a result of `get_trends`."""
    metric = METRICS[trends["metric"]]
    low, high = (0.0, 1.0) if metric.is_share else (0.0, None)
    series = [
        Series(
            one["name"] or trends["metric"],
            [
                Point(point["first"], point["value"], point["ci_low"], point["ci_high"])
                for point in one["points"]
            ],
        )
        for one in trends["series"]
    ]
    title = f"{metric.label} by {trends['bucket']}"
    return charts.render(TrendChart(title, metric.unit, series, low, high), kind)
