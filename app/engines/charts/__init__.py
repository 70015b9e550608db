"""Draw charts as PNG or SVG.

`render` draws any chart in a child process that has the plotting library loaded, so the caller
imports nothing heavy; it is what routes call. `render_trend` and the others of `drawing` draw in
the running process and import matplotlib.
"""

from app.engines.charts.model import (
    CalibrationBin,
    CalibrationChart,
    Chart,
    ConfusionChart,
    ImageKind,
    PairChart,
    Point,
    Series,
    TrendChart,
)

__all__ = [
    "CalibrationBin",
    "CalibrationChart",
    "Chart",
    "ConfusionChart",
    "ImageKind",
    "PairChart",
    "Point",
    "Series",
    "TrendChart",
    "render",
]


def render(chart: Chart, kind: ImageKind) -> bytes:
    """Return the picture of a chart."""
    raise NotImplementedError
