"""Draw charts as PNG or SVG.

`render` draws any chart in a child process that has the plotting library loaded, so that the caller
imports nothing heavy and waits a bounded time; it is what applications call. `draw` and
`render_trend`, `render_calibration`, `render_confusion` and `render_pairs` of
`app.engines.charts.drawing` draw in the running process, one at a time.

The same content gives the same bytes. Texts of users are data: no markup or formula in them has an
effect, long ones end with an ellipsis. See docs/decisions/0061-charts.md.
"""

from app.engines.charts.model import (
    MAX_CATEGORIES,
    MAX_SERIES,
    CalibrationBin,
    CalibrationChart,
    Chart,
    ChartNotDrawn,
    ConfusionChart,
    ImageKind,
    PairChart,
    Point,
    Series,
    TrendChart,
)
from app.engines.charts.service import render, stop_server

__all__ = [
    "MAX_CATEGORIES",
    "MAX_SERIES",
    "CalibrationBin",
    "CalibrationChart",
    "Chart",
    "ChartNotDrawn",
    "ConfusionChart",
    "ImageKind",
    "PairChart",
    "Point",
    "Series",
    "TrendChart",
    "render",
    "stop_server",
]
