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
    """The rate of a metric in one bucket, with the days of the bucket."""

    first: date
    end: date
    value: float | None
    ci_low: float | None
    ci_high: float | None
    n: int


class TrendFilters(NamedTuple):
    """The filters of a trend, except for its period."""

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
    """Return a metric in each bucket of the period, for each group that has cases.

    `filters` are the fields of `TrendFilters`. Figures of teams and of other labelers require the
    reviewer role. Raises 400 if fields do not have the metric, if filters and group cannot be
    combined, or if `schema_id` is missing for fields; 403 if the caller may not see the figures;
    404 for an unknown schema; 422 for an invalid period or too many buckets.
    """
    period = get_period(caller, first, end)
    buckets = list_buckets(period, bucket)
    definition = METRICS[metric]
    cell_filter = _build_filter(caller, definition, group_by, period, TrendFilters(**filters))
    if hides_small := metric == gold.METRIC and gold.is_restricted(caller):
        gold.check_trend(caller, bucket, by_field=cell_filter.subject is Subject.FIELD)
        cell_filter = _limit_to_whole_buckets(cell_filter, period, buckets)
    cell_filter, warnings = _limit_to_current_types(cell_filter)
    groups = trends.sum_by_bucket(
        cell_filter, group_by, buckets, Unit(bucket), cases=definition.cases, sums=definition.sums
    )
    series = _build_series(groups, definition, buckets, hides_small=hides_small)
    return {
        **build_period(period),
        "metric": metric,
        "bucket": bucket,
        "group_by": group_by,
        "series": series[:MAX_SERIES],
        "warnings": warnings,
        "truncated": len(series) > MAX_SERIES,
    }


def _limit_to_whole_buckets(
    cell_filter: Filter, period: Period, buckets: Sequence[tuple[date, date]]
) -> Filter:
    """Return the filter limited to whole buckets that have ended."""
    whole = gold.list_visible(period, buckets) or [(period.first, period.first)]
    return replace(cell_filter, first=whole[0][0], end=whole[-1][1])


def _limit_to_current_types(cell_filter: Filter) -> tuple[Filter, list[dict[str, Any]]]:
    """Return the filter limited to the current field types, and warnings about omitted figures."""
    if cell_filter.subject is not Subject.FIELD or cell_filter.schema_id is None:
        return cell_filter, []
    types = list_types(reading.get_current_fields([cell_filter.schema_id]))
    _, warnings = split_by_type(reading.sum_by_field(cell_filter)[: reading.MAX_ROWS], types)
    type_by_name = {name: field_type for (_, name), field_type in types.items()}
    return replace(cell_filter, types=type_by_name), warnings


def _build_filter(
    caller: Caller, metric: Metric, group_by: str | None, period: Period, filters: TrendFilters
) -> Filter:
    """Return the filter for the cells to read. Raises 400, 403 and 404 like `get_trends`."""
    subject = _choose_subject(group_by, filters)
    if subject is Subject.FIELD and not metric.has_fields:
        raise errors.invalid("Fields do not have this metric.", "metric")
    if subject is Subject.FIELD and filters.schema_id is None:
        raise errors.invalid("Required with fields: send the schema of the fields.", "schema_id")
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


def _choose_subject(group_by: str | None, filters: TrendFilters) -> Subject:
    """Return the subject whose cells support all filters. Raises 400 on an invalid filter."""
    people_filter = next((n for n in ("team_id", "labeler_id") if getattr(filters, n)), None)
    field_filter = "field" if filters.field is not None else None
    subject = _SUBJECTS[group_by]
    if people_filter and (field_filter or subject is Subject.FIELD):
        raise errors.invalid("Cannot be combined with fields.", people_filter)
    if field_filter and subject is Subject.LABELER:
        raise errors.invalid("Cannot be combined with teams or labelers.", field_filter)
    if people_filter:
        return Subject.LABELER
    return Subject.FIELD if field_filter else subject


def _find_visible(caller: Caller, group_by: str | None, filters: TrendFilters) -> Visible:
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
    hides_small: bool,
) -> list[dict[str, Any]]:
    """Return the series of each group, in the same order, including buckets without cases.

    With `hides_small`, points with too few cases are emptied, and groups whose points are all empty
    are left out.
    """
    compute = cache(partial(_compute_rate, metric, hides_small=hides_small))
    empty = [compute((0,) * len(metric.counters))] * len(buckets)
    series = []
    for key, name, sums in groups:
        rates = empty.copy()
        for position, counts in sums.items():
            rates[position] = compute(counts)
        if hides_small and not any(rate.n for rate in rates):
            continue
        points = list(map(TrendPoint._make, map(add, buckets, rates)))
        series.append({"key": key or None, "name": name or key or None, "points": points})
    return series


def _compute_rate(metric: Metric, counts: tuple[int, ...], *, hides_small: bool) -> Rate:
    rate = metric.compute(dict(zip(metric.counters, counts, strict=True)))
    return gold.hide_small_sample(rate) if hides_small else rate


def draw_trends(result: dict[str, Any], kind: ImageKind) -> bytes:
    """Return a chart of the result of `get_trends`.

    Raises 503 `service_unavailable` if it cannot be drawn now.
    """
    metric = METRICS[result["metric"]]
    low, high = (0.0, 1.0) if metric.is_share else (0.0, None)
    series = [
        Series(
            group["name"] or result["metric"],
            [
                Point(point.first, point.value, point.ci_low, point.ci_high)
                for point in group["points"]
            ],
        )
        for group in result["series"]
    ]
    title = f"{metric.label} by {result['bucket']}"
    return charts.draw(TrendChart(title, metric.unit, series, low, high), kind)
