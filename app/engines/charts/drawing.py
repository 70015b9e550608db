"""Render any chart in the current process.

This module imports matplotlib; applications call `app.engines.charts.render` instead.
"""

from app.engines.charts.calibration import render_calibration
from app.engines.charts.matrices import render_confusion, render_pair_matrix
from app.engines.charts.model import (
    CalibrationChart,
    Chart,
    ConfusionChart,
    ImageKind,
    TrendChart,
)
from app.engines.charts.trend import render_trend

__all__ = [
    "render_calibration",
    "render_chart",
    "render_confusion",
    "render_pair_matrix",
    "render_trend",
]


def render_chart(chart: Chart, kind: ImageKind) -> bytes:
    """Render a chart of any type as image bytes."""
    match chart:
        case TrendChart():
            return render_trend(chart, kind)
        case CalibrationChart():
            return render_calibration(chart, kind)
        case ConfusionChart():
            return render_confusion(chart, kind)
        case _:
            return render_pair_matrix(chart, kind)
