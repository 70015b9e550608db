"""Render any chart in the current process.

This module imports matplotlib; applications call `app.engines.charts.service.render` instead.
"""

from matplotlib.figure import Figure

from app.engines.charts import style
from app.engines.charts.calibration import draw_calibration
from app.engines.charts.matrices import draw_confusion, draw_pair_matrix
from app.engines.charts.model import (
    CalibrationChart,
    Chart,
    ConfusionChart,
    ImageKind,
    TrendChart,
)
from app.engines.charts.trend import draw_trend


def render_chart(chart: Chart, kind: ImageKind) -> bytes:
    """Render a chart of any type as image bytes."""
    with style.apply_style():
        return style.encode_figure(_draw_chart(chart), kind)


def _draw_chart(chart: Chart) -> Figure:
    match chart:
        case TrendChart():
            return draw_trend(chart)
        case CalibrationChart():
            return draw_calibration(chart)
        case ConfusionChart():
            return draw_confusion(chart)
        case _:
            return draw_pair_matrix(chart)
