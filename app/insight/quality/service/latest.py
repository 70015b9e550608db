"""The latest metrics of schemas and of their fields."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any
from uuid import UUID

from app.engines.agreement.tag_keys import build_field_specs
from app.insight.feedback.service import summaries
from app.insight.quality.models import CellSubject
from app.insight.quality.queries import reading, trends
from app.insight.quality.queries.reading import FieldRow, SchemaRow
from app.insight.quality.queries.selections import CellFilter
from app.insight.quality.service import gold
from app.insight.quality.service.periods import get_period, list_buckets
from app.insight.quality.service.rates import (
    METRICS,
    QualityMetric,
    Rate,
    build_speed,
    compute_rate,
    compute_rates,
)
from app.kit.days import Period
from app.kit.principal import Caller
from app.schemas.artifact_schemas.service import drafts as schemas

_SCHEMA_METRICS = ("agreement", "acceptance_rate", "correction_rate", "gold_accuracy")


def get_latest_metrics(
    *,
    caller: Caller,
    first: date | None = None,
    end: date | None = None,
    schema_id: UUID | None = None,
) -> dict[str, Any]:
    """Return the latest metrics of each schema that was worked on in the period.

    For callers below the reviewer role, `gold_accuracy` includes only whole weeks that have ended
    and have at least `gold.MIN_CASES` tag sets, and only the `trends.MAX_SERIES` schemas with the
    most tag sets on gold documents have a value. Raises 404 for an unknown schema; 400 for an
    invalid period.
    """
    period = get_period(caller, first, end)
    if schema_id is not None:
        schemas.check_exists(schema_id)
    cell_filter = CellFilter(CellSubject.SCHEMA, period.first, period.end, schema_id=schema_id)
    rows = reading.sum_by_schema(cell_filter)
    gold_rates = _compute_gold_rates(cell_filter, period) if gold.is_restricted(caller) else None
    return {
        **build_period_response(period),
        "schemas": [_build_schema(row, gold_rates) for row in rows[: reading.MAX_ROWS]],
        "truncated": len(rows) > reading.MAX_ROWS,
    }


def build_period_response(period: Period) -> dict[str, Any]:
    """Build the response properties that describe a period."""
    return {"time_zone": period.zone, "first": period.first, "end": period.end}


def _compute_gold_rates(cell_filter: CellFilter, period: Period) -> dict[str, Rate]:
    """Compute the accuracy on gold documents for callers below the reviewer role, by schema id.

    Only whole weeks that have ended and have at least `gold.MIN_CASES` tag sets are included.
    """
    weeks = list_buckets(period, gold.VISIBLE_UNIT)
    visible_filter = gold.limit_to_visible_weeks(cell_filter, period, weeks)
    metric = METRICS[gold.METRIC]
    groups = trends.sum_by_bucket(
        visible_filter, "schema", weeks, gold.VISIBLE_UNIT, cases=metric.cases, sums=metric.sums
    )
    return {key: _compute_large_sample_rate(metric, sums.values()) for key, _, sums in groups}


def _compute_large_sample_rate(metric: QualityMetric, weeks: Iterable[tuple[int, ...]]) -> Rate:
    """Compute the metric from the sum of the weeks that have at least `gold.MIN_CASES` cases."""
    shown_weeks = [counts for counts in weeks if counts[0] >= gold.MIN_CASES]
    if not shown_weeks:
        return compute_rate(0, 0)
    totals = (sum(counts) for counts in zip(*shown_weeks, strict=True))
    return metric.compute(dict(zip(metric.counters, totals, strict=True)))


def _build_schema(row: SchemaRow, gold_rates: Mapping[str, Rate] | None) -> dict[str, Any]:
    """Build a schema's metrics. If set, `gold_rates` replaces the accuracy on gold documents."""
    counts = row._asdict()
    rates = compute_rates(counts, *_SCHEMA_METRICS)
    if gold_rates is not None:
        rates[gold.METRIC] = gold_rates.get(str(row.schema_id), compute_rate(0, 0))
    return {
        "schema": {"id": row.schema_id, "name": row.name},
        **rates,
        "throughput": build_throughput(counts),
        "speed": build_speed(counts),
    }


def build_throughput(counts: Mapping[str, int]) -> dict[str, int]:
    """Build the throughput: the counts of submissions and decisions, by counter name."""
    names = ("submitted", "accepted", "corrected", "rejected", "auto_accepted")
    return {name: counts[name] for name in names}


def get_field_metrics(
    *,
    caller: Caller,
    first: date | None = None,
    end: date | None = None,
    schema_id: UUID | None = None,
) -> dict[str, Any]:
    """Return the metrics of each field in the period, for one schema or all schemas.

    Each field has the metrics of its current type. Metrics of an earlier type are left out, because
    the types cannot be compared, and a warning names the field. A removed field has metrics for
    each type that it had. Raises 404 for an unknown schema; 400 for an invalid period.
    """
    period = get_period(caller, first, end)
    current_schemas = {} if schema_id is None else _get_current_schema(schema_id)
    cell_filter = CellFilter(CellSubject.FIELD, period.first, period.end, schema_id=schema_id)
    rows = reading.sum_by_field(cell_filter)
    shown_rows = rows[: reading.MAX_ROWS]
    if schema_id is None:
        current_schemas = reading.get_current_schemas(list({row.schema_id for row in shown_rows}))
    field_types = get_current_types(current_schemas)
    fields, warnings = split_rows_by_type(shown_rows, field_types)
    accuracy = _get_model_accuracy(period, schema_id)
    return {
        **build_period_response(period),
        "fields": [_build_field(row, current_schemas, field_types, accuracy) for row in fields],
        "warnings": warnings,
        "truncated": len(rows) > reading.MAX_ROWS,
    }


def _get_current_schema(schema_id: UUID) -> dict[UUID, tuple[str, list[Any]]]:
    """Return the name and the current fields of a schema, by schema id.

    The result is empty if the schema has no current version. Raises 404 if it does not exist.
    """
    current_schemas = reading.get_current_schemas([schema_id])
    if not current_schemas:
        schemas.check_exists(schema_id)
    return current_schemas


def _get_model_accuracy(period: Period, schema_id: UUID | None) -> dict[tuple[UUID, str], Rate]:
    """Return the fraction of correct prediction outcomes (model accuracy), by schema and field.

    The days of feedback are in UTC.
    """
    outcomes_by_field = summaries.get_outcomes_by_field(schema_id, period.first, period.end)
    return {key: compute_rate(row.correct, row.total) for key, row in outcomes_by_field.items()}


def get_current_types(
    current_schemas: Mapping[UUID, tuple[str, list[Any]]],
) -> dict[tuple[UUID, str], str]:
    """Return the current type of each field, by schema and name."""
    return {
        (key, name): field_spec.field_type
        for key, (_, fields) in current_schemas.items()
        for name, field_spec in build_field_specs(fields).items()
    }


def split_rows_by_type(
    rows: Sequence[FieldRow], field_types: Mapping[tuple[UUID, str], str]
) -> tuple[list[FieldRow], list[dict[str, Any]]]:
    """Return the rows of current types and removed fields, and a warning per earlier type."""
    fields, warnings = [], []
    for row in rows:
        current_type = field_types.get((row.schema_id, row.field))
        if current_type is None or current_type == row.field_type:
            fields.append(row)
            continue
        message = (
            f"The field {row.field} had the type {row.field_type} in an earlier version and now has"
            f" the type {current_type}; metrics of the earlier type are left out."
        )
        warnings.append({"schema_id": row.schema_id, "field": row.field, "message": message})
    return fields, warnings


def _build_field(
    row: FieldRow,
    current_schemas: Mapping[UUID, tuple[str, list[Any]]],
    field_types: Mapping[tuple[UUID, str], str],
    accuracy: Mapping[tuple[UUID, str], Rate],
) -> dict[str, Any]:
    counts = row._asdict()
    name = current_schemas[row.schema_id][0] if row.schema_id in current_schemas else ""
    return {
        "schema": {"id": row.schema_id, "name": name},
        "field": row.field,
        "type": row.field_type,
        "removed": (row.schema_id, row.field) not in field_types,
        **compute_rates(counts, "correction_rate", "agreement"),
        "model_accuracy": accuracy.get((row.schema_id, row.field), compute_rate(0, 0)),
    }
