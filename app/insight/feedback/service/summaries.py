"""Summaries of feedback by model, by field and over time."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from datetime import date, timedelta
from typing import Any
from uuid import UUID

from app.engines.calibration import (
    Outcomes,
    compute_calibration_error,
    compute_wilson_interval,
    merge_bins,
    recommend_threshold,
)
from app.insight.feedback.queries import summaries
from app.insight.feedback.queries.summaries import BinCounts, Criteria
from app.insight.visibility.service import find_visible
from app.kit import db, errors
from app.kit.principal import Caller
from app.schemas.artifact_schemas import service as schemas

DEFAULT_TARGET = 0.95
MAX_DAYS = 366
MAX_MODELS = 200
MAX_FIELDS = 1000
_EARLIEST = date(2000, 1, 1)


def build_criteria(
    *,
    caller: Caller,
    schema_id: UUID | None = None,
    model: str | None = None,
    field: str | None = None,
    labeler_id: UUID | None = None,
    first: date | None = None,
    end: date | None = None,
) -> Criteria:
    """Return the criteria of a summary.

    Raises 404 for an unknown schema, 400 on `from` if it is not before `to`, and 403 for a labeler
    whom the caller may not see.
    """
    if labeler_id is not None:
        find_visible(caller).check_labeler(labeler_id)
    if first is not None and end is not None and first >= end:
        raise errors.invalid("Must be before `to`.", "from")
    if schema_id is not None:
        schemas.get(schema_id)
    limits = (None if day is None else _clamp_day(day) for day in (first, end))
    return Criteria(schema_id, model, field, labeler_id, *limits)


def _clamp_day(day: date) -> date:
    """Return the day, limited to the range of days that can have feedback."""
    # The counters cannot represent all days of the calendar.
    return min(max(day, _EARLIEST), _get_tomorrow())


def _get_tomorrow() -> date:
    return db.utc_now().date() + timedelta(days=1)


def build_figures(outcomes: Outcomes) -> dict[str, Any]:
    """Return the figures of outcomes; a rate whose denominator is 0 is None."""
    low, high = outcomes.accuracy_interval or (None, None)
    return {
        "predictions": outcomes.predictions,
        **outcomes._asdict(),
        "precision": outcomes.precision,
        "recall": outcomes.recall,
        "f1": outcomes.f1,
        "accuracy": outcomes.accuracy,
        "ci_low": low,
        "ci_high": high,
    }


def get_summary(*, caller: Caller, interval: str = "month", **filters: Any) -> dict[str, Any]:
    """Return the figures of the selected feedback: in total, by model and over time.

    Models are ordered by their number of predictions. Raises the errors of `build_criteria`, and
    400 on `interval` if a summary by day has no `from` or more than `MAX_DAYS` days.
    """
    criteria = build_criteria(caller=caller, **filters)
    if interval == "day":
        _check_days(criteria)
    by_model: dict[str, list[Outcomes]] = defaultdict(list)
    by_time: dict[str, list[Outcomes]] = defaultdict(list)
    for (model, bucket), outcomes in summaries.sum_outcomes(
        criteria, ("model",), interval=interval
    ):
        by_model[model].append(outcomes)
        by_time[bucket].append(outcomes)
    models = [(model, summaries.merge(rows)) for model, rows in by_model.items()]
    models.sort(key=lambda row: (-row[1].predictions, row[0]))
    times = [(bucket, summaries.merge(by_time[bucket])) for bucket in sorted(by_time)]
    return {
        **_describe_criteria(criteria, filters),
        "interval": interval,
        "total": build_figures(summaries.merge(outcomes for _, outcomes in models)),
        "models": [
            {"model": model, **build_figures(outcomes)} for model, outcomes in models[:MAX_MODELS]
        ],
        "model_count": len(models),
        "trend": [{"date": _parse_bucket(day), **build_figures(row)} for day, row in times],
    }


def _check_days(criteria: Criteria) -> None:
    if criteria.first is None:
        raise errors.invalid("A summary by day needs `from`.", "interval")
    if ((criteria.end or _get_tomorrow()) - criteria.first).days > MAX_DAYS:
        raise errors.invalid(f"A summary by day has at most {MAX_DAYS} days.", "interval")


def _parse_bucket(bucket: str) -> date:
    return date.fromisoformat(bucket if len(bucket) == summaries.BUCKETS["day"] else f"{bucket}-01")


def _describe_criteria(criteria: Criteria, filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the criteria as the response shows them."""
    return {
        "schema_id": criteria.schema_id,
        "model": criteria.model,
        "field": criteria.field,
        "labeler_id": criteria.labeler_id,
        "first": filters.get("first"),
        "end": filters.get("end"),
    }


def get_outcomes_by_field(
    schema_id: UUID | None, first: date, end: date
) -> dict[tuple[UUID, str], Outcomes]:
    """Return the outcomes in a period by schema and field, for at most `MAX_FIELDS` fields.

    The caller has checked that the schema exists.
    """
    rows = summaries.sum_outcomes_by_field(schema_id, _clamp_day(first), _clamp_day(end))
    return {(UUID(row.facets[0]), row.facets[1]): row.outcomes for row in rows[:MAX_FIELDS]}


def get_by_field(
    *, caller: Caller, target_precision: float = DEFAULT_TARGET, **filters: Any
) -> dict[str, Any]:
    """Return the figures of each field with its calibration and recommended threshold.

    `total` has the figures of all fields together. Raises the errors of `build_criteria`.
    """
    criteria = build_criteria(caller=caller, **filters)
    rows = summaries.sum_outcomes(criteria, summaries.BY_FIELD)
    bins = summaries.sum_bins(criteria, summaries.BY_FIELD)
    all_counts = [count for counts in bins.values() for count in counts]
    fields = [
        {
            "schema_id": UUID(row.facets[0]),
            "field": row.facets[1],
            **build_figures(row.outcomes),
            **_build_calibration(bins.get(row.facets, []), target_precision),
        }
        for row in rows[:MAX_FIELDS]
    ]
    return {
        **_describe_criteria(criteria, filters),
        "target_precision": target_precision,
        "total": {
            **build_figures(summaries.merge(row.outcomes for row in rows)),
            **_build_calibration(all_counts, target_precision),
        },
        "fields": fields,
        "field_count": len(rows),
    }


def _build_calibration(counts: BinCounts, target: float) -> dict[str, Any]:
    """Return the calibration and the recommended threshold, which is None if there is none."""
    bins = merge_bins(counts)
    by_number: dict[int, tuple[int, int]] = {}
    for number, count, correct, _ in counts:
        earlier = by_number.get(number, (0, 0))
        by_number[number] = (earlier[0] + count, earlier[1] + correct)
    threshold = recommend_threshold(by_number, target)
    shown_bins = []
    for merged_bin in bins:
        low, high = compute_wilson_interval(merged_bin.correct, merged_bin.count) or (None, None)
        shown_bins.append(
            {
                "low": merged_bin.low,
                "high": merged_bin.high,
                "predictions": merged_bin.count,
                "correct": merged_bin.correct,
                "confidence": merged_bin.confidence,
                "accuracy": merged_bin.accuracy,
                "ci_low": low,
                "ci_high": high,
            }
        )
    return {
        "calibration": {
            "predictions": sum(merged_bin.count for merged_bin in bins),
            "expected_calibration_error": compute_calibration_error(bins),
            "bins": shown_bins,
        },
        "recommended_threshold": None if threshold is None else asdict(threshold),
    }
