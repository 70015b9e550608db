"""Charts of feedback summaries."""

from typing import Any

from app.engines.charts import CalibrationBin, CalibrationChart, ImageKind
from app.insight.charts import service as charts


def draw_calibration(summary: dict[str, Any], kind: ImageKind) -> bytes:
    """Return the calibration curve of a summary by field: of its only field, or of all fields.

    Raises 503 `service_unavailable` if it cannot be drawn now.
    """
    fields = summary["fields"]
    only = fields[0] if len(fields) == 1 else None
    shown = only or summary["total"]
    calibration, threshold = shown["calibration"], shown["recommended_threshold"]
    chart = CalibrationChart(
        title=f"Calibration of {only['field'] if only else 'all fields'}",
        bins=[
            CalibrationBin(
                one["confidence"],
                one["accuracy"],
                one["predictions"],
                one["ci_low"],
                one["ci_high"],
            )
            for one in calibration["bins"]
        ],
        error=calibration["expected_calibration_error"],
        threshold=None if threshold is None else threshold["value"],
    )
    return charts.draw(chart, kind)
