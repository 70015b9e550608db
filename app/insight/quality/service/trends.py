"""One metric over time, by schema, field, team or labeler."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import cache, partial
from operator import add
from typing import Any, NamedTuple
from uuid import UUID

from app.engines.charts import ImageKind, Point, Series, TrendChart
from app.insight.charts import service as charts
from app.insight.quality.models import Subject, Unit
from app.insight.quality.queries import reading, trends
from app.insight.quality.queries.selections import Filter
from app.insight.quality.queries.trends import MAX_SERIES, Group
from app.insight.quality.service import gold
from app.insight.quality.service.latest import build_period, list_types, split_by_type
from app.insight.quality.service.periods import Period, get_period, list_buckets
from app.insight.quality.service.rates import METRICS, Metric, Rate
from app.insight.visibility.service import Visible, find_visible
from app.kit import errors
from app.kit.permissions import Role, require_role
from app.kit.principal import Caller
from app.schemas.artifact_schemas import service as schemas

_SUBJECTS: dict[str | None, Subject] = {
    None: Subject.SCHEMA,
    "schema": Subject.SCHEMA,
    "field": Subject.FIELD,
    "team": Subject.LABELER,
    "labeler": Subject.LABELER,
}


class TrendPoint(NamedTuple):
    """A metric in one bucket; a `Rate` with the days of the bucket."""

    first: date
    end: date
    value: float | None
    ci_low: float | None
    ci_high: float | None
    n: int


class Narrowing(NamedTuple):
    """The filters of a trend besides its period."""

    schema_id: UUID | None = None
    field: str | None = None
    team_id: UUID | None = None
    labeler_id: UUID | None = None


def get_trends(
    *,
    caller: Caller,
    metric: str,
    bucket: str,
    group_by: str | None = None,
    first: date | None = None,
    end: date | None = None,
    **filters: Any,
) -> dict[str, Any]:
    """Return a metric in each bucket of the period, for each group with any case.

    `filters` are members of `Narrowing`. Figures of teams and labelers need the role of a reviewer;
    labelers see their own. Raises 400 on `metric` if the group has no such metric, or on a filter
    that does not fit the group, or on a field without its schema; 403 on hidden labelers or
    accuracy on gold documents; 404 for an unknown schema; 422 on the period or `bucket`.
    """
    period = get_period(caller, first, end)
    buckets = list_buckets(period, bucket)
    figure = METRICS[metric]
    cells = _choose_cells(caller, figure, group_by, period, Narrowing(**filters))
    if is_hidden := metric == gold.METRIC and gold.is_restricted(caller):
        gold.check_trend(caller, bucket, of_fields=cells.subject is Subject.FIELD)
        cells = _select_whole(cells, period, buckets)
    cells, warnings = _select_types(cells)
    groups = trends.sum_by_bucket(
        cells, group_by, buckets, Unit(bucket), cases=figure.cases, others=figure.sums
    )
    series = _build_series(groups, figure, buckets, is_hidden=is_hidden)
    return {
        **build_period(period),
        "metric": metric,
        "bucket": bucket,
        "group_by": group_by,
        "series": series[:MAX_SERIES],
        "warnings": warnings,
        "truncated": len(series) > MAX_SERIES,
    }


def _select_whole(cells: Filter, period: Period, buckets: Sequence[tuple[date, date]]) -> Filter:
    """Return the filter limited to whole buckets that have ended."""
    whole = gold.list_visible(period, buckets) or [(period.first, period.first)]
    return replace(cells, first=whole[0][0], end=whole[-1][1])


def _select_types(cells: Filter) -> tuple[Filter, list[dict[str, Any]]]:
    """Return the filter limited to the current types of fields, and warnings of what it omits."""
    if cells.subject is not Subject.FIELD or cells.schema_id is None:
        return cells, []
    types = list_types(reading.get_current_fields([cells.schema_id]))
    _, warnings = split_by_type(reading.sum_by_field(cells)[: reading.MAX_ROWS], types)
    return replace(cells, types={name: kind for (_, name), kind in types.items()}), warnings


def _choose_cells(
    caller: Caller, metric: Metric, group_by: str | None, period: Period, filters: Narrowing
) -> Filter:
    """Return the selection of cells. Raises 400, 403 and 404 like `get_trends`."""
    subject = _choose_subject(group_by, filters)
    if subject is Subject.FIELD and not metric.of_fields:
        raise errors.invalid("Fields do not have this metric.", "metric")
    if subject is Subject.FIELD and filters.schema_id is None:
        raise errors.invalid("Send the schema of the fields, too.", "schema_id")
    labelers = teams = None
    if subject is Subject.LABELER:
        labelers, teams = _find_visible(caller, group_by, filters)
    if filters.schema_id is not None:
        schemas.check(filters.schema_id)
    return Filter(
        subject,
        period.first,
        period.end,
        schema_id=filters.schema_id,
        field=filters.field,
        team_id=filters.team_id,
        labelers=labelers,
        teams=teams,
    )


def _choose_subject(group_by: str | None, filters: Narrowing) -> Subject:
    """Return the subject whose cells have all filters. Raises 400 on an invalid filter."""
    of_labelers = next((n for n in ("team_id", "labeler_id") if getattr(filters, n)), None)
    of_fields = "field" if filters.field is not None else None
    grouped = _SUBJECTS[group_by]
    if of_labelers and (of_fields or grouped is Subject.FIELD):
        raise errors.invalid("Cannot be combined with fields.", of_labelers)
    if of_fields and grouped is Subject.LABELER:
        raise errors.invalid("Cannot be combined with teams or labelers.", of_fields)
    if of_labelers:
        return Subject.LABELER
    return Subject.FIELD if of_fields else grouped


def _find_visible(caller: Caller, group_by: str | None, filters: Narrowing) -> Visible:
    """Return the labelers and teams whose cells are read. Raises 403."""
    visible = find_visible(caller)
    if group_by == "team" or filters.team_id is not None:
        assert caller.role is not None
        require_role(caller.role, Role.reviewer)
    if filters.team_id is not None:
        visible.check_team(filters.team_id)
    if filters.labeler_id is None:
        return visible
    visible.check_labeler(filters.labeler_id)
    return visible._replace(labelers=[filters.labeler_id])


def _build_series(
    groups: Sequence[Group],
    metric: Metric,
    buckets: Sequence[tuple[date, date]],
    *,
    is_hidden: bool,
) -> list[dict[str, Any]]:
    """Return the series of each group, in their order; buckets without cases included.

    With `is_hidden`, points of few cases have none, and groups without any other are left out.
    """
    compute = cache(partial(_compute_rate, metric, is_hidden=is_hidden))
    empty = [compute((0,) * len(metric.counters))] * len(buckets)
    series = []
    for key, name, sums in groups:
        rates = empty.copy()
        for position, counts in sums.items():
            rates[position] = compute(counts)
        if is_hidden and not any(rate.n for rate in rates):
            continue
        points = list(map(TrendPoint._make, map(add, buckets, rates)))
        series.append({"key": key or None, "name": name or key or None, "points": points})
    return series


def _compute_rate(metric: Metric, counts: tuple[int, ...], *, is_hidden: bool) -> Rate:
    rate = metric.compute(dict(zip(metric.counters, counts, strict=True)))
    return gold.hide_small(rate) if is_hidden else rate


def draw_trends(shown: dict[str, Any], kind: ImageKind) -> bytes:
    """Return the chart of a result of `get_trends`.

    Raises 503 `service_unavailable` if it cannot be drawn now.
    """
    metric = METRICS[shown["metric"]]
    low, high = (0.0, 1.0) if metric.is_share else (0.0, None)
    series = [
        Series(
            one["name"] or shown["metric"],
            [
                Point(point.first, point.value, point.ci_low, point.ci_high)
                for point in one["points"]
            ],
        )
        for one in shown["series"]
    ]
    title = f"{metric.label} by {shown['bucket']}"
    return charts.draw(TrendChart(title, metric.unit, series, low, high), kind)
