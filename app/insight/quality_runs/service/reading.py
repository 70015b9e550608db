"""Read quality runs and the results that the caller may see, and render confusion matrices."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from app.engines.agreement.tag_keys import build_field_specs
from app.engines.charts.model import MAX_CATEGORIES, ConfusionChart, PictureFormat
from app.engines.plurals import format_count
from app.insight.charts import service as charts
from app.insight.quality_runs.models import FRACTION_SCALE, QualityRun
from app.insight.quality_runs.queries import disagreements, records
from app.insight.quality_runs.service import runs
from app.insight.quality_runs.service.confusion_matrices import build_matrix
from app.insight.quality_runs.service.plans import CHOICE_TYPES, DEFAULT_METRICS
from app.insight.visibility.service import get_visibility
from app.kit import errors
from app.kit.pagination import Page, PageRequest
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.schemas.artifact_schemas.service import drafts as artifact_schemas

list_runs = records.list_runs
_SUMMARY_PROPERTIES = (
    *("id", "schema_id", "fields", "metrics", "starts_at", "ends_at", "status", "progress"),
    *("error", "created_by", "started_at", "finished_at", "created_at", "updated_at"),
)
_AXIS_LABELS = {"labelers": ("Labeler", "Other labeler"), "accepted": ("Labeler", "Accepted")}


def get(run_id: UUID, *, caller: Caller) -> dict[str, Any]:
    """Return a run with its results, and with the pairs of labelers that the caller may see.

    Raises 404 if the run does not exist.
    """
    run = errors.require_found(records.get(run_id))
    return {
        **{name: getattr(run, name) for name in _SUMMARY_PROPERTIES},
        "results": run.results,
        "pairs": _build_visible_pairs(run.pairs, caller),
        "warnings": run.warnings,
    }


def _build_visible_pairs(pairs: list[dict[str, Any]], caller: Caller) -> list[dict[str, Any]]:
    """Return the pairs in which the caller may see at least one labeler; none for viewers.

    The labelers of a pair are swapped if necessary, so that the caller may see `a`. `b` is None if
    the caller may not see that labeler.
    """
    if not caller.has_role(Role.labeler):
        return []
    visibility = get_visibility(caller)
    ids = {pair[side] for pair in pairs for side in ("a", "b")}
    visible_ids = {user_id for user_id in ids if visibility.has_labeler(UUID(user_id))}
    people_by_id = records.get_people(visible_ids)
    ordered_pairs = [
        pair if pair["a"] in visible_ids else {**pair, "a": pair["b"], "b": pair["a"]}
        for pair in pairs
    ]
    return [
        {**pair, "a": people_by_id.get(pair["a"]), "b": people_by_id.get(pair["b"])}
        for pair in ordered_pairs
        if pair["a"] in visible_ids
    ]


def get_agreement(
    *,
    caller: Caller,
    schema_id: UUID,
    field: str | None = None,
    metric: str | None = None,
    start: datetime | None = None,
    end: datetime | None = None,
) -> dict[str, Any]:
    """Return the agreement from the completed run that best fits the query.

    `records.find_best_run` chooses the run. For each parameter that is None, it prefers the widest
    runs. If no run covers the query, `computed_at` is None and there are no results. Raises 400 for
    an unknown schema or field, and for an empty or future period.
    """
    _check_field(schema_id, field)
    run = _find_run(schema_id, field, metric, start, end)

    def select_entries(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            entry
            for entry in entries
            if (field is None or entry["field"] in (field, None))
            and (metric is None or entry.get("metric", metric) == metric)
        ]

    return {
        **_build_run_properties(run),
        "schema_id": schema_id,
        "results": select_entries(run.results) if run else [],
        "pairs": _build_visible_pairs(select_entries(run.pairs), caller) if run else [],
        "warnings": select_entries(run.warnings) if run else [],
    }


def get_confusion(
    *,
    schema_id: UUID,
    field: str,
    against: str,
    limit: int,
    start: datetime | None = None,
    end: datetime | None = None,
) -> dict[str, Any]:
    """Return the confusion matrix of a choice field from the run that best fits the query.

    If no run covers the query, `computed_at` is None and the matrix is empty. Raises 400 for an
    unknown schema or field, a field without a confusion matrix, and an empty or future period.
    """
    _check_field(schema_id, field, allowed_types=CHOICE_TYPES)
    run = _find_run(schema_id, field, None, start, end)
    stored_matrices = {} if run is None else run.confusions.get(field, {})
    matrix = build_matrix(
        stored_matrices.get(against, {"values": [], "other_values": 0, "cells": []}),
        limit=limit,
        is_symmetric=against == "labelers",
    )
    return {
        **_build_run_properties(run),
        "schema_id": schema_id,
        "field": field,
        "against": against,
        **matrix,
        "values": [_format_value(value) for value in matrix["values"]],
    }


def list_disagreements(
    *, page: PageRequest, schema_id: UUID | None = None, field: str | None = None
) -> Page:
    """Return a page of the documents and fields on which labelers disagree.

    Raises 400 for an unknown schema, and if `field` is set without `schema_id`.
    """
    if schema_id is not None:
        artifact_schemas.check_reference(schema_id)
    elif field is not None:
        raise errors.invalid(
            "Required if `field` is set. Send the id of the schema that has the field.", "schema_id"
        )
    row_page = disagreements.list_disagreements(page=page, schema_id=schema_id, field=field)
    items = [
        {**row._asdict(), "disagreement": row.share / FRACTION_SCALE} for row in row_page.items
    ]
    return replace(row_page, items=items)


def _find_run(
    schema_id: UUID,
    field: str | None,
    metric: str | None,
    start: datetime | None,
    end: datetime | None,
) -> QualityRun | None:
    covered_end = runs.check_period(start, end) if start or end else None
    # No run covers a time after its creation. So if the period ends now or later, the run with the
    # latest end fits best.
    is_past = end is not None and end == covered_end
    return records.find_best_run(
        schema_id,
        field=field,
        metric=metric,
        start=start,
        end=end if is_past else None,
        default_metrics=DEFAULT_METRICS,
    )


def _build_run_properties(run: QualityRun | None) -> dict[str, Any]:
    return {
        "run_id": run and run.id,
        "computed_at": run and run.finished_at,
        "starts_at": run and run.starts_at,
        "ends_at": run and run.ends_at,
    }


def _check_field(
    schema_id: UUID, field: str | None, allowed_types: frozenset[str] | None = None
) -> None:
    artifact_schemas.check_reference(schema_id)
    if field is None:
        return
    for version in records.list_versions(schema_id):
        field_spec = build_field_specs(version.fields).get(field)
        if field_spec is None:
            continue
        if allowed_types is not None and (
            field_spec.field_type not in allowed_types or field_spec.multiple or "." in field
        ):
            message = f"Must be a single-value field of type {', '.join(sorted(allowed_types))}."
            raise errors.invalid(message, "field")
        return
    raise errors.invalid("No version of the schema has this field.", "field")


def _format_value(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def render_confusion(confusion: dict[str, Any], picture_format: PictureFormat) -> bytes:
    """Render the result of `get_confusion` as a chart, and return the image.

    Raises 503 `service_unavailable` if the chart cannot be rendered now.
    """
    values, counts = confusion["values"], confusion["counts"]
    other_count = confusion["other_values"]
    if len(counts) > MAX_CATEGORIES:
        other_count += len(values) - (MAX_CATEGORIES - 1)
        values, counts = (
            values[: MAX_CATEGORIES - 1],
            _combine_less_frequent(counts, MAX_CATEGORIES - 1),
        )
    names = ["(no value)" if value is None else str(value) for value in values]
    if other_count:
        names.append(f"({format_count(other_count, 'other', 'others')})")
    units_text = format_count(confusion["units"], "comparison", "comparisons")
    row_axis, column_axis = _AXIS_LABELS[confusion["against"]]
    chart = ConfusionChart(
        title=f"{confusion['field']}: {units_text}",
        row_axis=row_axis,
        column_axis=column_axis,
        rows=names,
        columns=names,
        counts=counts,
    )
    return charts.render_chart(chart, picture_format)


def _combine_less_frequent(counts: Sequence[Sequence[int]], kept_count: int) -> list[list[int]]:
    """Sum the rows after the first `kept_count` into one row, and likewise the columns."""
    columns = [[*row[:kept_count], sum(row[kept_count:])] for row in counts]
    last_row = [sum(column) for column in zip(*columns[kept_count:], strict=True)]
    return [*columns[:kept_count], last_row]
