"""Summaries of feedback by model, by field and over time, and the chart of a summary."""

from collections import defaultdict
from dataclasses import asdict, replace
from datetime import date, timedelta
from typing import Any, TypedDict, Unpack
from uuid import UUID

from app.engines.calibration import (
    Outcomes,
    compute_calibration_error,
    compute_wilson_interval,
    merge_bins,
    merge_outcomes,
    recommend_threshold,
)
from app.engines.charts.model import CalibrationBin, CalibrationChart, PictureFormat
from app.insight.charts import service as charts
from app.insight.feedback.queries import summaries
from app.insight.feedback.queries.summaries import BinCounts, SummaryCriteria
from app.insight.visibility.service import get_visibility
from app.kit import db, errors
from app.kit.principal import Caller
from app.schemas.artifact_schemas.service import drafts as schemas

DEFAULT_TARGET_PRECISION = 0.95
MAX_DAYS = 366
"""The maximum number of days of a summary by day."""
MAX_MODELS = 200
MAX_FIELDS = 1000
_EARLIEST_DAY = date(2000, 1, 1)


class SummaryFilters(TypedDict, total=False):
    """The filters of a summary, which covers the days from `first` up to but excluding `end`."""

    schema_id: UUID
    model: str
    field: str
    labeler_id: UUID
    first: date
    end: date


def build_criteria(caller: Caller, filters: SummaryFilters) -> SummaryCriteria:
    """Validate the filters of a summary, and build its criteria.

    Raises 404 for an unknown schema, 400 for `from` if it is not before `to`, and 403 for a labeler
    whom the caller may not see.
    """
    first, end = filters.get("first"), filters.get("end")
    if "labeler_id" in filters:
        get_visibility(caller).check_labeler(filters["labeler_id"])
    if first is not None and end is not None and first >= end:
        raise errors.invalid("Must be before `to`.", "from")
    if "schema_id" in filters:
        schemas.get(filters["schema_id"])
    first, end = (None if day is None else _clamp_day(day) for day in (first, end))
    return replace(SummaryCriteria(**filters), first=first, end=end)


def _clamp_day(day: date) -> date:
    """Return the day, limited to the range of days that can have feedback."""
    # The counters cannot represent all days of the calendar.
    return min(max(day, _EARLIEST_DAY), _get_tomorrow())


def _get_tomorrow() -> date:
    return db.utc_now().date() + timedelta(days=1)


def build_metrics(outcomes: Outcomes) -> dict[str, Any]:
    """Build the metrics for outcomes. A rate is None if its denominator is 0."""
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


def get_summary(
    *, caller: Caller, interval: str = "month", **filters: Unpack[SummaryFilters]
) -> dict[str, Any]:
    """Return a summary of the selected feedback: metrics in total, by model and over time.

    At most `MAX_MODELS` models are returned, most predictions first. Raises the errors of
    `build_criteria`, and 400 for `interval` if a summary by day has no `from` or more than
    `MAX_DAYS` days.
    """
    criteria = build_criteria(caller, filters)
    if interval == "day":
        _check_days(criteria)
    by_model: dict[str, list[Outcomes]] = defaultdict(list)
    by_time: dict[str, list[Outcomes]] = defaultdict(list)
    for (model, bucket), outcomes in summaries.sum_outcomes(
        criteria, ("model",), interval=interval
    ):
        by_model[model].append(outcomes)
        by_time[bucket].append(outcomes)
    models = [(model, merge_outcomes(rows)) for model, rows in by_model.items()]
    models.sort(key=lambda row: (-row[1].predictions, row[0]))
    trend = [(bucket, merge_outcomes(by_time[bucket])) for bucket in sorted(by_time)]
    return {
        **_build_criteria_response(filters),
        "interval": interval,
        "total": build_metrics(merge_outcomes(outcomes for _, outcomes in models)),
        "models": [
            {"model": model, **build_metrics(outcomes)} for model, outcomes in models[:MAX_MODELS]
        ],
        "model_count": len(models),
        "trend": [{"date": _parse_bucket(bucket), **build_metrics(row)} for bucket, row in trend],
    }


def _check_days(criteria: SummaryCriteria) -> None:
    if criteria.first is None:
        raise errors.invalid("A summary by day requires `from`.", "interval")
    if ((criteria.end or _get_tomorrow()) - criteria.first).days > MAX_DAYS:
        raise errors.invalid(f"A summary by day can have at most {MAX_DAYS} days.", "interval")


def _parse_bucket(bucket: str) -> date:
    return date.fromisoformat(
        bucket if len(bucket) == summaries.BUCKET_LENGTHS["day"] else f"{bucket}-01"
    )


def _build_criteria_response(filters: SummaryFilters) -> dict[str, Any]:
    """Build the response properties that show the filters."""
    return {name: filters.get(name) for name in SummaryFilters.__annotations__}


def get_outcomes_by_field(
    schema_id: UUID | None, first: date, end: date
) -> dict[tuple[UUID, str], Outcomes]:
    """Return the outcomes in a period by schema and field, for at most `MAX_FIELDS` fields.

    `end` is exclusive. The caller must have checked that the schema exists.
    """
    rows = summaries.sum_outcomes_by_field(schema_id, _clamp_day(first), _clamp_day(end))
    return {(UUID(row.facets[0]), row.facets[1]): row.outcomes for row in rows[:MAX_FIELDS]}


def get_summary_by_field(
    *,
    caller: Caller,
    target_precision: float = DEFAULT_TARGET_PRECISION,
    **filters: Unpack[SummaryFilters],
) -> dict[str, Any]:
    """Return a summary by field: metrics, calibration and recommended threshold of each field.

    `total` has the metrics of all fields together. Raises the errors of `build_criteria`.
    """
    criteria = build_criteria(caller, filters)
    rows = summaries.sum_outcomes(criteria, summaries.BY_FIELD)
    bins = summaries.sum_bins(criteria, summaries.BY_FIELD)
    all_counts = [count for counts in bins.values() for count in counts]
    fields = [
        {
            "schema_id": UUID(row.facets[0]),
            "field": row.facets[1],
            **build_metrics(row.outcomes),
            **_build_calibration(bins.get(row.facets, []), target_precision),
        }
        for row in rows[:MAX_FIELDS]
    ]
    return {
        **_build_criteria_response(filters),
        "target_precision": target_precision,
        "total": {
            **build_metrics(merge_outcomes(row.outcomes for row in rows)),
            **_build_calibration(all_counts, target_precision),
        },
        "fields": fields,
        "field_count": len(rows),
    }


def _build_calibration(counts: BinCounts, target: float) -> dict[str, Any]:
    """Build the calibration, and the recommended threshold, or None if none reaches `target`."""
    bins = merge_bins(counts)
    totals_by_bin: dict[int, tuple[int, int]] = {}
    for number, count, correct, _ in counts:
        totals = totals_by_bin.get(number, (0, 0))
        totals_by_bin[number] = (totals[0] + count, totals[1] + correct)
    threshold = recommend_threshold(totals_by_bin, target)
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


def render_calibration(summary: dict[str, Any], picture_format: PictureFormat) -> bytes:
    """Render the calibration curve of a summary by field as a chart, and return the image.

    If the summary has only one field, the curve is for that field, otherwise for all fields
    combined. Raises 503 `service_unavailable` if the chart cannot be rendered now.
    """
    fields = summary["fields"]
    only_field = fields[0] if len(fields) == 1 else None
    metrics = only_field or summary["total"]
    calibration, threshold = metrics["calibration"], metrics["recommended_threshold"]
    chart = CalibrationChart(
        title=f"Calibration of {only_field['field'] if only_field else 'all fields'}",
        bins=[
            CalibrationBin(
                calibration_bin["confidence"],
                calibration_bin["accuracy"],
                calibration_bin["predictions"],
                calibration_bin["ci_low"],
                calibration_bin["ci_high"],
            )
            for calibration_bin in calibration["bins"]
        ],
        error=calibration["expected_calibration_error"],
        threshold=None if threshold is None else threshold["value"],
    )
    return charts.render_chart(chart, picture_format)
