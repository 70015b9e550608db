"""Draw the confusion matrix of a choice field."""

from typing import Any

from app.engines import charts
from app.engines.charts import ConfusionChart, ImageKind

_AXES = {"labelers": ("Labeler", "Other labeler"), "accepted": ("Labeler", "Accepted")}


def draw_confusion(confusion: dict[str, Any], kind: ImageKind) -> bytes:
    """Return the picture of what `reading.get_confusion` returned."""
    names = ["(no value)" if value is None else str(value) for value in confusion["values"]]
    if confusion["other_values"]:
        names.append(f"({confusion['other_values']} others)")
    row_axis, column_axis = _AXES[confusion["against"]]
    chart = ConfusionChart(
        title=f"{confusion['field']}: {confusion['units']} comparisons",
        row_axis=row_axis,
        column_axis=column_axis,
        rows=names,
        columns=names,
        counts=confusion["counts"],
    )
    return charts.render(chart, kind)
