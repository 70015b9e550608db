"""Draw the confusion matrix of a choice field."""

from collections.abc import Sequence
from typing import Any

from app.engines.charts import MAX_CATEGORIES, ConfusionChart, ImageKind
from app.insight.charts import service as charts

_AXES = {"labelers": ("Labeler", "Other labeler"), "accepted": ("Labeler", "Accepted")}


def draw_confusion(confusion: dict[str, Any], kind: ImageKind) -> bytes:
    """Return a chart of the result of `reading.get_confusion`.

    Raises 503 if it cannot be drawn now.
    """
    values, counts = confusion["values"], confusion["counts"]
    other_count = confusion["other_values"]
    if len(counts) > MAX_CATEGORIES:
        other_count += len(values) - (MAX_CATEGORIES - 1)
        values, counts = values[: MAX_CATEGORIES - 1], _sum_rest(counts, MAX_CATEGORIES - 1)
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
    return charts.draw(chart, kind)


def _sum_rest(counts: Sequence[Sequence[int]], kept_count: int) -> list[list[int]]:
    """Return the counts, with all rows and columns after `kept_count` summed into one each."""
    columns = [[*row[:kept_count], sum(row[kept_count:])] for row in counts]
    rest = [sum(column) for column in zip(*columns[kept_count:], strict=True)]
    return [*columns[:kept_count], rest]
