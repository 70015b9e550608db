"""Charts of feedback summaries."""

from typing import Any

from app.engines.charts import CalibrationBin, CalibrationChart, ImageKind
from app.insight.charts import service as charts


def draw_calibration(summary: dict[str, Any], kind: ImageKind) -> bytes:
    """Return a chart of the calibration curve: of the only field in a summary, or of all fields.

    Raises 503 `service_unavailable` if it cannot be drawn now.
    """
    fields = summary["fields"]
    only_field = fields[0] if len(fields) == 1 else None
    figures = only_field or summary["total"]
    calibration, threshold = figures["calibration"], figures["recommended_threshold"]
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
    return charts.draw(chart, kind)
