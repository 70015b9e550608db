"""Charts of feedback summaries."""

from typing import Any

from app.engines.charts.model import CalibrationBin, CalibrationChart, ImageKind
from app.insight.charts import service as charts


def render_calibration(summary: dict[str, Any], kind: ImageKind) -> bytes:
    """Render the calibration curve of a summary by field, and return the image.

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
    return charts.render_chart(chart, kind)
