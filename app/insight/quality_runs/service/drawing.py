"""Render the confusion matrix of a choice field as a chart."""

from collections.abc import Sequence
from typing import Any

from app.engines.charts.model import MAX_CATEGORIES, ConfusionChart, ImageKind
from app.insight.charts import service as charts

_AXES = {"labelers": ("Labeler", "Other labeler"), "accepted": ("Labeler", "Accepted")}


def render_confusion(confusion: dict[str, Any], kind: ImageKind) -> bytes:
    """Render the result of `reading.get_confusion` as a chart, and return the image.

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
        names.append(f"({other_count} others)")
    row_axis, column_axis = _AXES[confusion["against"]]
    chart = ConfusionChart(
        title=f"{confusion['field']}: {confusion['units']} comparisons",
        row_axis=row_axis,
        column_axis=column_axis,
        rows=names,
        columns=names,
        counts=counts,
    )
    return charts.render_chart(chart, kind)


def _combine_less_frequent(counts: Sequence[Sequence[int]], kept_count: int) -> list[list[int]]:
    """Sum the rows after the first `kept_count` into one row, and likewise the columns."""
    columns = [[*row[:kept_count], sum(row[kept_count:])] for row in counts]
    last_row = [sum(column) for column in zip(*columns[kept_count:], strict=True)]
    return [*columns[:kept_count], last_row]
