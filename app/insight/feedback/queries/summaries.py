"""SQL queries that add up the feedback counters for summaries of feedback."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import BigInteger, ColumnElement, Select, Subquery, cast, func, select

from app.engines.calibration import Outcomes
from app.insight.feedback.counters import CONFIDENCES, OUTCOMES
from app.insight.feedback.models import FeedbackOutcome
from app.kit import counters, db, tenancy
from app.kit.counters.spans import DAY, MONTH
from app.kit.counters.sql import (
    BucketSpan,
    Parameter,
    PreparedSpan,
    list_bound_names,
    list_bound_values,
)
from app.kit.prepared import Prepared

BUCKET_LENGTHS = {"day": DAY, "month": MONTH}
"""The number of characters of a bucket name, by interval: for example, `2026-11` has 7."""


@dataclass(frozen=True, slots=True)
class SummaryCriteria:
    """Filters of a summary. `first` is inclusive and `end` is exclusive; None means no limit.

    `schema_id` and `model` are one value, or a list of values, any of which may match.
    """

    schema_id: UUID | Sequence[UUID] | None = None
    model: str | Sequence[str] | None = None
    field: str | None = None
    labeler_id: UUID | None = None
    first: date | None = None
    end: date | None = None

    def build_where(self) -> dict[str, Any]:
        """Return the facet values that counted rows must have, by facet name."""
        names = ("schema_id", "model", "field", "labeler_id")
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    def build_span(self) -> BucketSpan | None:
        """Return the span of days, or None for all time."""
        if self.first is None and self.end is None:
            return None
        return BucketSpan("day", _to_datetime(self.first), _to_datetime(self.end))


def _to_datetime(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), UTC)


class OutcomeRow(NamedTuple):
    """The number of values by outcome, for one combination of facet values."""

    facets: tuple[str, ...]
    outcomes: Outcomes


def sum_outcomes(
    criteria: SummaryCriteria, group_by: Sequence[str], *, interval: str | None = None
) -> list[OutcomeRow]:
    """Sum the outcomes for each combination of the facets `group_by`, sorted by these facets.

    With `interval` (`day` or `month`), the day or the month is added as the last facet.
    """
    span = criteria.build_span()
    facet_names = [*group_by, "outcome"]
    if interval is not None:
        facet_names.append("day")
        span = span or BucketSpan("day", None, None)
        if interval == "day":
            span = span._replace(level=BUCKET_LENGTHS["day"])
    cells = counters.select_cells(OUTCOMES, facet_names, criteria.build_where(), span=span)
    columns: list[ColumnElement[Any]] = [cells.c[name] for name in group_by]
    if interval is not None:
        # Some cells are days. For the interval `month`, their names are cut to months.
        columns.append(func.left(cells.c.day, BUCKET_LENGTHS[interval]).label("bucket"))
    return _build_rows(db.session().execute(_build_sum(cells, columns)), len(columns))


def _build_sum(cells: Subquery, columns: Sequence[ColumnElement[Any]]) -> Select[Any]:
    """Build the statement that sums the outcomes of counter cells, grouped by `columns`."""
    sum_columns: list[Any] = [
        cast(
            func.coalesce(func.sum(cells.c.n).filter(cells.c.outcome == outcome), 0), BigInteger
        ).label(outcome)
        for outcome in FeedbackOutcome
    ]
    statement = select(*columns, *sum_columns).group_by(*columns).having(func.sum(cells.c.n) > 0)
    return statement.order_by(*columns)


def _build_rows(rows: Iterable[Any], width: int) -> list[OutcomeRow]:
    return [OutcomeRow(tuple(row[:width]), Outcomes(*row[width:])) for row in rows]


_LEVELS = (MONTH, DAY)
BY_FIELD = ("schema_id", "field")


def _prepare_field_query(name: str, where: Mapping[str, Any], **types: str) -> Prepared:
    cells = counters.select_prepared_cells(
        OUTCOMES, (*BY_FIELD, "outcome"), where, PreparedSpan("day")
    )
    bounds = dict.fromkeys(list_bound_names(_LEVELS), "text")
    statement = _build_sum(cells, [cells.c[name] for name in BY_FIELD])
    return Prepared.from_select(name, statement, organization_id="uuid", **bounds, **types)


_FIELDS_QUERY = _prepare_field_query("feedback_by_field", {})
_SCHEMA_FIELDS_QUERY = _prepare_field_query(
    "feedback_by_field_of_schema",
    {"schema_id": Parameter("schema_ids")},
    schema_ids="text[]",
)


def sum_outcomes_by_field(schema_id: UUID | None, first: date, end: date) -> list[OutcomeRow]:
    """Sum the outcomes by schema and field, for one schema or all schemas; `end` is exclusive."""
    bounds = list_bound_values(
        _LEVELS, datetime.combine(first, time(), UTC), datetime.combine(end, time(), UTC)
    )
    values = [str(tenancy.current_organization_id()), *bounds]
    if schema_id is None:
        rows = _FIELDS_QUERY.execute(*values)
    else:
        rows = _SCHEMA_FIELDS_QUERY.execute(*values, [str(schema_id)])
    return _build_rows(rows, len(BY_FIELD))


BinCounts = list[tuple[int, int, int, int]]
"""Counts of bins: the bin number, number of predictions, number of correct predictions, and sum of
confidences in millionths."""


def sum_bins(
    criteria: SummaryCriteria, group_by: Sequence[str]
) -> Mapping[tuple[str, ...], BinCounts]:
    """Sum the calibration bins for each combination of the facets `group_by`."""
    facet_names = [*group_by, "bin", "correct"]
    cells = counters.select_cells(
        CONFIDENCES, facet_names, criteria.build_where(), span=criteria.build_span()
    )
    columns = [cells.c[name] for name in (*group_by, "bin")]
    statement = (
        select(
            *columns,
            cast(func.sum(cells.c.n), BigInteger),
            cast(
                func.coalesce(func.sum(cells.c.n).filter(cells.c.correct == "true"), 0), BigInteger
            ),
            cast(func.sum(cells.c.total), BigInteger),
        )
        .group_by(*columns)
        .having(func.sum(cells.c.n) > 0)
    )
    bins: dict[tuple[str, ...], BinCounts] = {}
    width = len(group_by)
    for row in db.session().execute(statement):
        counts = (int(row[width]), *map(int, row[width + 1 :]))
        bins.setdefault(tuple(row[:width]), []).append((counts[0], counts[1], counts[2], counts[3]))
    return bins
