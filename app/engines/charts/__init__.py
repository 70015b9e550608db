"""Render charts as PNG or SVG.

Applications call `render`. It renders any chart in a child process that has loaded the plotting
library, so the caller imports no large library and waits for a limited time. `render_chart` in
`app.engines.charts.drawing` renders in the current process, one chart at a time.

The same content gives the same bytes. User text is treated as data: markup and formulas have no
effect, and long text is truncated with an ellipsis. See docs/decisions/0061-charts.md.
"""

from app.engines.charts.model import (
    MAX_CATEGORIES,
    MAX_SERIES,
    CalibrationBin,
    CalibrationChart,
    Chart,
    ChartNotRendered,
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
    "ChartNotRendered",
    "ConfusionChart",
    "ImageKind",
    "PairChart",
    "Point",
    "Series",
    "TrendChart",
    "render",
    "stop_server",
]
