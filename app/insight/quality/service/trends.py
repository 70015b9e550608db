"""One metric over time, by schema, field, team or labeler."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import cache, partial
from operator import add
from typing import Any, NamedTuple, TypedDict, Unpack
from uuid import UUID

from app.engines.charts.model import PictureFormat, Point, Series, TrendChart
from app.insight.charts import service as charts
from app.insight.quality.models import CellSubject, SumUnit
from app.insight.quality.queries import reading, trends
from app.insight.quality.queries.selections import CellFilter
from app.insight.quality.queries.trends import MAX_SERIES, TrendGroup
from app.insight.quality.service import gold
from app.insight.quality.service.latest import (
    build_period_response,
    get_current_types,
    split_rows_by_type,
)
from app.insight.quality.service.periods import get_period, list_buckets
from app.insight.quality.service.rates import METRICS, QualityMetric, Rate
from app.insight.visibility.service import Visibility, get_visibility
from app.kit import errors
from app.kit.days import Period
from app.kit.permissions import Role, require_role
from app.kit.principal import Caller
from app.schemas.artifact_schemas.service import drafts as schemas

_SUBJECTS: dict[str | None, CellSubject] = {
    None: CellSubject.SCHEMA,
    "schema": CellSubject.SCHEMA,
    "field": CellSubject.FIELD,
    "team": CellSubject.LABELER,
    "labeler": CellSubject.LABELER,
}


class TrendPoint(NamedTuple):
    """The value of a metric in one bucket, from the day `first` to the day before `end`."""

    first: date
    end: date
    value: float | None
    ci_low: float | None
    ci_high: float | None
    n: int


class TrendFilters(TypedDict, total=False):
    """The filters of a trend, except for its period."""

    schema_id: UUID
    field: str
    team_id: UUID
    labeler_id: UUID


def get_trends(
    *,
    caller: Caller,
    metric: str,
    bucket: str,
    group_by: str | None = None,
    first: date | None = None,
    end: date | None = None,
    **filters: Unpack[TrendFilters],
) -> dict[str, Any]:
    """Return the trend of a metric: its value in each bucket, in one series for each group.

    At most `MAX_SERIES` groups are returned: those with the most cases. The metrics of teams and of
    other labelers require the reviewer role. Raises 400 if a trend of fields has no `schema_id` or
    a metric that fields do not have, if filters and group cannot be combined, for an invalid period
    or too many buckets; 403 if the caller may not see the metric; 404 for an unknown schema.
    """
    period = get_period(caller, first, end)
    buckets = list_buckets(period, bucket)
    definition = METRICS[metric]
    cell_filter = _build_filter(caller, definition, group_by, period, filters)
    if hide_small_samples := metric == gold.METRIC and gold.is_restricted(caller):
        gold.check_trend(caller, bucket, by_field=cell_filter.subject is CellSubject.FIELD)
        cell_filter = gold.limit_to_visible_weeks(cell_filter, period, buckets)
    cell_filter, warnings = _limit_to_current_types(cell_filter)
    sum_groups = partial(_sum_groups, cell_filter, definition, buckets, SumUnit(bucket))
    groups = sum_groups(group_by, MAX_SERIES + 1)
    if hide_small_samples and cell_filter.schema_id is None and group_by != "schema":
        sums = gold.sum_large_samples(sum_groups("schema", None))
        groups = [group._replace(sums=sums) for group in groups]
    series = _build_series(groups, definition, buckets, hide_small_samples=hide_small_samples)
    return {
        **build_period_response(period),
        "metric": metric,
        "bucket": bucket,
        "group_by": group_by,
        "series": series[:MAX_SERIES],
        "warnings": warnings,
        "truncated": len(series) > MAX_SERIES,
    }


def _limit_to_current_types(cell_filter: CellFilter) -> tuple[CellFilter, list[dict[str, Any]]]:
    """Return the filter, limited to the current field types, and warnings about omitted metrics."""
    if cell_filter.subject is not CellSubject.FIELD or cell_filter.schema_id is None:
        return cell_filter, []
    field_types = get_current_types(reading.get_current_schemas([cell_filter.schema_id]))
    rows = reading.sum_by_field(cell_filter)[: reading.MAX_ROWS]
    _, warnings = split_rows_by_type(rows, field_types)
    type_by_name = {name: field_type for (_, name), field_type in field_types.items()}
    return replace(cell_filter, field_types=type_by_name), warnings


def _build_filter(
    caller: Caller,
    metric: QualityMetric,
    group_by: str | None,
    period: Period,
    filters: TrendFilters,
) -> CellFilter:
    """Build the filter for the daily aggregates (cells) to read.

    Raises 400, 403 and 404 like `get_trends`.
    """
    subject = _choose_subject(group_by, filters)
    schema_id = filters.get("schema_id")
    if subject is CellSubject.FIELD and not metric.applies_to_fields:
        names = ", ".join(f"`{name}`" for name, item in METRICS.items() if item.applies_to_fields)
        raise errors.invalid(f"Must be one of these metrics for fields: {names}.", "metric")
    if subject is CellSubject.FIELD and schema_id is None:
        raise errors.invalid(
            "Required for metrics of fields. Send the id of the schema that has the fields.",
            "schema_id",
        )
    labeler_ids = team_ids = None
    if subject is CellSubject.LABELER:
        labeler_ids, team_ids = _choose_people(caller, group_by, filters)
    if schema_id is not None:
        schemas.check_exists(schema_id)
    return CellFilter(
        subject,
        period.first,
        period.end,
        schema_id=schema_id,
        field=filters.get("field"),
        team_id=filters.get("team_id"),
        user_ids=labeler_ids,
        group_team_ids=team_ids,
    )


def _choose_subject(group_by: str | None, filters: TrendFilters) -> CellSubject:
    """Choose the type of subject whose daily aggregates can be filtered and grouped as requested.

    Raises 400 if filters and group cannot be combined.
    """
    people_filter_name = next((n for n in ("team_id", "labeler_id") if filters.get(n)), None)
    has_field_filter = "field" in filters
    subject = _SUBJECTS[group_by]
    if people_filter_name and (has_field_filter or subject is CellSubject.FIELD):
        raise errors.invalid(
            "Cannot be combined with `field` or with grouping by field.", people_filter_name
        )
    if has_field_filter and subject is CellSubject.LABELER:
        raise errors.invalid("Cannot be combined with grouping by team or labeler.", "field")
    if people_filter_name:
        return CellSubject.LABELER
    return CellSubject.FIELD if has_field_filter else subject


def _choose_people(caller: Caller, group_by: str | None, filters: TrendFilters) -> Visibility:
    """Choose the labelers and teams to include in a trend; None means all.

    Raises 403 if the caller may not see the labeler or team in `filters`, or may not group by team.
    """
    visibility = get_visibility(caller)
    if group_by == "team" or "team_id" in filters:
        assert caller.role is not None
        require_role(caller.role, Role.reviewer)
    if "team_id" in filters:
        visibility.check_team(filters["team_id"])
        # The members may also belong to other teams, which the trend must not include.
        visibility = visibility._replace(team_ids=[filters["team_id"]])
    if "labeler_id" not in filters:
        return visibility
    visibility.check_labeler(filters["labeler_id"])
    return visibility._replace(labeler_ids=[filters["labeler_id"]])


def _sum_groups(
    cell_filter: CellFilter,
    metric: QualityMetric,
    buckets: Sequence[tuple[date, date]],
    unit: SumUnit,
    group_by: str | None,
    limit: int | None,
) -> list[TrendGroup]:
    return trends.sum_by_bucket(
        cell_filter, group_by, buckets, unit, cases=metric.cases, sums=metric.sums, limit=limit
    )


def _build_series(
    groups: Sequence[TrendGroup],
    metric: QualityMetric,
    buckets: Sequence[tuple[date, date]],
    *,
    hide_small_samples: bool,
) -> list[dict[str, Any]]:
    """Build one series per group, in the same order, including buckets without cases.

    With `hide_small_samples`, points with too few cases have no value, and groups without any value
    are left out.
    """
    compute = cache(partial(_compute_rate, metric, hide_small_samples=hide_small_samples))
    empty_rates = [compute((0,) * len(metric.counters))] * len(buckets)
    series = []
    for key, name, sums in groups:
        rates = empty_rates.copy()
        for position, counts in sums.items():
            rates[position] = compute(counts)
        if hide_small_samples and not any(rate.n for rate in rates):
            continue
        points = list(map(TrendPoint._make, map(add, buckets, rates)))
        series.append({"key": key or None, "name": name or key or None, "points": points})
    return series


def _compute_rate(
    metric: QualityMetric, counts: tuple[int, ...], *, hide_small_samples: bool
) -> Rate:
    rate = metric.compute(dict(zip(metric.counters, counts, strict=True)))
    return gold.hide_small_sample(rate) if hide_small_samples else rate


def render_trends(result: dict[str, Any], picture_format: PictureFormat) -> bytes:
    """Render the result of `get_trends` as a chart, and return the image.

    Raises 503 `service_unavailable` if the chart cannot be rendered now.
    """
    metric = METRICS[result["metric"]]
    low, high = (0.0, 1.0) if metric.is_fraction else (0.0, None)
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
    return charts.render_chart(TrendChart(title, metric.unit, series, low, high), picture_format)
