"""Draw trend charts: lines over time, with bands for their intervals."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.dates import (
    AutoDateLocator,
    ConciseDateFormatter,
    DateFormatter,
    DayLocator,
    date2num,
)
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from app.engines.charts import style
from app.engines.charts.model import MAX_POINTS, MAX_SERIES, Point, Series, TrendChart
from app.engines.charts.texts import fit_text
from app.engines.plurals import format_count

_WIDTH, _HEIGHT = 8.0, 4.2
_MAX_MARKED_POINTS = 45
"""The maximum number of points of a line with markers.

A line with more points has markers only if a point is between two gaps.
"""
_MIN_CONCISE_DAYS = 6
"""The number of days below which the axis shows each day as a full date."""
_NAME_WIDTH = 34  # in characters, like the next width; see `fit_text`
_UNIT_WIDTH = 48
_LEGEND_COLUMNS = 4


def draw_trend(chart: TrendChart) -> Figure:
    """Draw a trend chart; a value without an interval has no band."""
    figure = style.create_figure(chart.title, _WIDTH, _HEIGHT)
    lines = [line for line in chart.series if any(_is_number(p.value) for p in line.points)]
    if not lines:
        style.draw_no_data_message(figure, "No data in this period")
        return figure
    axes = figure.add_subplot()
    style.tidy_axes(axes)
    handles = [_draw_line(axes, line, index) for index, line in enumerate(lines[:MAX_SERIES])]
    _label_axes(axes, chart)
    names = [_escape_underscore(fit_text(line.name, _NAME_WIDTH)) for line in lines]
    if any(names):
        figure.legend(
            handles,
            names[:MAX_SERIES],
            loc="outside lower left",
            ncols=min(len(handles), _LEGEND_COLUMNS),
            frameon=False,
            fontsize=8.5,
        )
    if len(lines) > MAX_SERIES:
        hidden_text = format_count(len(lines) - MAX_SERIES, "more line is", "more lines are")
        style.add_note(axes, f"{hidden_text} not shown.")
    return figure


def _draw_line(axes: Axes, line: Series, index: int) -> Line2D:
    points = sorted(line.points, key=lambda point: point.day)[-MAX_POINTS:]
    days = date2num([point.day for point in points])
    values = [_replace_missing_with_nan(point.value) for point in points]
    color, marker = style.COLORS[index], style.MARKERS[index]
    low, high = zip(*(_get_band(point) for point in points), strict=True)
    axes.fill_between(days, low, high, color=color, alpha=0.16, linewidth=0)
    # A point between two gaps needs a marker, and a vertical line because its band has no width.
    lone_positions = _list_lone_positions(values)
    axes.vlines(
        [days[i] for i in lone_positions],
        [low[i] for i in lone_positions], [high[i] for i in lone_positions],
        color=color, alpha=0.45, linewidth=2.2,
    )  # fmt: skip
    size = 4.0 if lone_positions or len(points) <= _MAX_MARKED_POINTS else 0.0
    (handle,) = axes.plot(
        days, values, color=color, marker=marker, markersize=size, linewidth=1.8,
        markeredgecolor="white", markeredgewidth=0.7, solid_capstyle="round",
    )  # fmt: skip
    return handle


def _label_axes(axes: Axes, chart: TrendChart) -> None:
    left, right = axes.dataLim.intervalx
    is_short = right - left < _MIN_CONCISE_DAYS
    locator = DayLocator() if is_short else AutoDateLocator(minticks=3, maxticks=8)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(
        DateFormatter("%Y-%m-%d") if is_short else ConciseDateFormatter(locator)
    )
    pad = max(0.5, (right - left) * 0.02)  # a single day gets half a day of space on each side
    axes.set_xlim(left - pad, right + pad)
    axes.set_ylabel(fit_text(chart.unit, _UNIT_WIDTH))
    bottom, top = axes.get_ylim()
    axes.set_ylim(
        bottom if chart.low is None else min(chart.low, axes.dataLim.y0),
        top if chart.high is None else max(chart.high, axes.dataLim.y1),
    )
    if chart.as_percent:
        axes.yaxis.set_major_formatter(PercentFormatter(xmax=1.0))


def _list_lone_positions(values: Sequence[float]) -> list[int]:
    """List the positions of values that have no value directly before or after them."""
    gaps = [True, *(math.isnan(value) for value in values), True]
    return [i for i in range(len(values)) if gaps[i] and not gaps[i + 1] and gaps[i + 2]]


def _get_band(point: Point) -> tuple[float, float]:
    if all(map(_is_number, (point.value, point.low, point.high))):
        return _replace_missing_with_nan(point.low), _replace_missing_with_nan(point.high)
    return math.nan, math.nan


def _is_number(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _replace_missing_with_nan(value: float | None) -> float:
    return value if value is not None and math.isfinite(value) else math.nan


def _escape_underscore(name: str) -> str:
    """Add a space before a leading underscore; matplotlib hides names that begin with one."""
    return f" {name}" if name.startswith("_") else name
