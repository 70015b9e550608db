"""Draw any chart in the running process.

This module imports matplotlib; applications call `app.engines.charts.render` instead.
"""

from app.engines.charts.calibration import render_calibration
from app.engines.charts.matrices import render_confusion, render_pairs
from app.engines.charts.model import (
    CalibrationChart,
    Chart,
    ConfusionChart,
    ImageKind,
    TrendChart,
)
from app.engines.charts.trend import render_trend

__all__ = ["draw", "render_calibration", "render_confusion", "render_pairs", "render_trend"]


def draw(chart: Chart, kind: ImageKind) -> bytes:
    """Return the picture of a chart."""
    match chart:
        case TrendChart():
            return render_trend(chart, kind)
        case CalibrationChart():
            return render_calibration(chart, kind)
        case ConfusionChart():
            return render_confusion(chart, kind)
        case _:
            return render_pairs(chart, kind)
