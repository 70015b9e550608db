"""Render any chart in the current process.

This module imports matplotlib; the application calls `app.engines.charts.service.render` instead.
"""

from matplotlib.figure import Figure

from app.engines.charts import style
from app.engines.charts.calibration import draw_calibration
from app.engines.charts.matrices import draw_confusion, draw_pair_matrix
from app.engines.charts.model import (
    CalibrationChart,
    Chart,
    ConfusionChart,
    PictureFormat,
    TrendChart,
)
from app.engines.charts.trend import draw_trend


def render_chart(chart: Chart, picture_format: PictureFormat) -> bytes:
    """Render a chart of any type, and return the bytes of the PNG or SVG image."""
    with style.apply_style():
        return style.encode_figure(_draw_chart(chart), picture_format)


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
