"""Draw confusion matrices and matrices of rater pairs."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from app.engines.charts import style
from app.engines.charts.model import MAX_CATEGORIES, ConfusionChart, PairChart
from app.engines.charts.texts import fit_text, measure_width
from app.engines.plurals import format_count

# Text widths are in characters (see `fit_text`).
_LABEL_WIDTH = 26
_AXIS_LABEL_WIDTH = 44
_CELL_INCHES = 0.46
_MAX_NUMBERED_CATEGORIES = 16
"""The maximum number of rows, and of columns, of a matrix whose cells show numbers."""
_SMALL_CELL_INCHES = 0.2
_MAX_HORIZONTAL_WIDTH = 6
"""The maximum width of horizontal column names; if a name is wider, all names are slanted."""
_MIN_FIGURE_ROWS = 2
_WHITE_TEXT_THRESHOLD = 0.55
_NO_VALUE = "\u2013"
_TEN_THOUSAND, _MILLION = 10_000, 1_000_000


def draw_confusion(chart: ConfusionChart) -> Figure:
    """Draw a confusion matrix, in which the color of a cell shows its fraction of the row total.

    If rows and columns have the same values, the cells on the diagonal have a frame.
    """
    rows = [fit_text(name, _LABEL_WIDTH) or "(empty)" for name in chart.rows]
    columns = [fit_text(name, _LABEL_WIDTH) or "(empty)" for name in chart.columns]
    counts = np.array(chart.counts, dtype=np.float64).reshape(len(rows), len(columns))
    shown_counts = counts[:MAX_CATEGORIES, :MAX_CATEGORIES]
    figure = _create_figure(chart.title, rows[:MAX_CATEGORIES], columns[:MAX_CATEGORIES])
    if not counts.sum():
        style.draw_no_data_message(figure, "No compared values in this period")
        return figure
    totals = counts.sum(axis=1, keepdims=True)[:MAX_CATEGORIES]
    row_fractions = np.divide(
        shown_counts, totals, out=np.zeros(shown_counts.shape), where=totals > 0
    )
    axes = figure.add_subplot()
    texts = [[_format_count(count) if count else "" for count in row] for row in shown_counts]
    _draw_cells(axes, row_fractions, texts, 0.0)
    _label_cells(axes, rows[:MAX_CATEGORIES], columns[:MAX_CATEGORIES])
    axes.set_ylabel(fit_text(chart.row_axis, _AXIS_LABEL_WIDTH))
    axes.set_xlabel(fit_text(chart.column_axis, _AXIS_LABEL_WIDTH), loc="left")
    if list(chart.rows) == list(chart.columns):
        for index in range(min(shown_counts.shape)):
            _frame_cell(axes, index)
    _draw_color_bar(figure, axes, 0.0, "Share of the row", is_fraction=True)
    hidden_count = max(len(rows), len(columns)) - MAX_CATEGORIES
    if hidden_count > 0:
        hidden_text = format_count(hidden_count, "more value is", "more values are")
        style.add_note(axes, f"{hidden_text} not shown.")
    return figure


def draw_pair_matrix(chart: PairChart) -> Figure:
    """Draw a matrix of raters; the cells below the diagonal show the coefficients of the pairs."""
    raters = list(chart.raters)[:MAX_CATEGORIES]
    names = [fit_text(name, _LABEL_WIDTH) or "(no name)" for name in raters]
    positions = {rater: number for number, rater in enumerate(raters)}
    values = np.full((len(raters), len(raters)), np.nan)
    for a, b, value in chart.values:
        if a in positions and b in positions and a != b and value is not None:
            first, last = sorted((positions[a], positions[b]))
            values[last, first] = value
    figure = _create_figure(chart.title, names[1:], names[:-1])
    if not np.isfinite(values).any():
        style.draw_no_data_message(figure, "No two people labeled the same documents")
        return figure
    axes = figure.add_subplot()
    shown_values = values[1:, :-1]
    low = min(0.0, float(np.nanmin(shown_values)))
    texts = [
        [
            _format_value(shown_values[row, column], row, column)
            for column in range(shown_values.shape[1])
        ]
        for row in range(shown_values.shape[0])
    ]
    _draw_cells(axes, shown_values, texts, low)
    _label_cells(axes, names[1:], names[:-1])
    _draw_color_bar(figure, axes, low, fit_text(chart.metric, _AXIS_LABEL_WIDTH), is_fraction=False)
    hidden_count = len(chart.raters) - len(raters)
    if hidden_count:
        hidden_text = format_count(hidden_count, "more person is", "more people are")
        style.add_note(axes, f"{hidden_text} not shown.")
    return figure


def _create_figure(title: str, rows: Sequence[str], columns: Sequence[str]) -> Figure:
    """Create an empty figure that is large enough for the cells and the row and column names."""
    max_name_width = max(map(measure_width, rows), default=0)
    is_numbered = max(len(rows), len(columns)) <= _MAX_NUMBERED_CATEGORIES
    cell_inches = _CELL_INCHES if is_numbered else _SMALL_CELL_INCHES
    height = 1.9 + cell_inches * max(len(rows), _MIN_FIGURE_ROWS)
    if _is_slanted(columns):
        height += 0.055 * max(map(measure_width, columns))
    width = 2.4 + 0.075 * max_name_width + cell_inches * 1.35 * max(len(columns), 4)
    return style.create_figure(title, max(width, 5.0), max(height, 2.6))


def _draw_cells(
    axes: Axes, values: NDArray[np.float64], texts: list[list[str]], low: float
) -> None:
    """Draw cells colored from `low` to 1; also draw their text, unless the matrix is large."""
    rows, columns = values.shape
    axes.pcolormesh(
        np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5,
        np.ma.masked_invalid(values), cmap=style.SEQUENTIAL_COLORMAP, norm=Normalize(low, 1.0),
        edgecolors="white", linewidth=1.5,
    )  # fmt: skip
    axes.invert_yaxis()
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    if max(rows, columns) > _MAX_NUMBERED_CATEGORIES:
        return
    for (row, column), value in np.ndenumerate(values):
        if texts[row][column] == _NO_VALUE:
            axes.add_patch(Rectangle((column - 0.48, row - 0.48), 0.96, 0.96, color="#eef1f4"))
        is_dark = np.isfinite(value) and (value - low) / (1 - low) > _WHITE_TEXT_THRESHOLD
        color = "white" if is_dark else style.TEXT_COLOR
        axes.text(
            column, row, texts[row][column], ha="center", va="center", fontsize=8.5, color=color
        )


def _label_cells(axes: Axes, rows: Sequence[str], columns: Sequence[str]) -> None:
    axes.set_yticks(range(len(rows)), rows)
    if _is_slanted(columns):
        axes.set_xticks(
            range(len(columns)), columns, rotation=40, ha="right", rotation_mode="anchor"
        )
    else:
        axes.set_xticks(range(len(columns)), columns)


def _is_slanted(columns: Sequence[str]) -> bool:
    return any(measure_width(name) > _MAX_HORIZONTAL_WIDTH for name in columns)


def _frame_cell(axes: Axes, index: int) -> None:
    axes.add_patch(
        Rectangle(
            (index - 0.46, index - 0.46), 0.92, 0.92, fill=False, edgecolor=style.TEXT_COLOR,
            linewidth=1.0, alpha=0.55,
        )
    )  # fmt: skip


def _draw_color_bar(
    figure: Figure, axes: Axes, low: float, name: str, *, is_fraction: bool
) -> None:
    mappable = ScalarMappable(Normalize(low, 1.0), style.SEQUENTIAL_COLORMAP)
    bar = figure.colorbar(mappable, ax=axes, fraction=0.05, pad=0.03, aspect=22)
    bar.outline.set_visible(False)
    bar.set_label(name)
    if is_fraction:
        bar.ax.yaxis.set_major_formatter(PercentFormatter(xmax=1.0))


def _format_count(count: float) -> str:
    """Format a count so that it fits in a cell."""
    if count >= _MILLION:
        return f"{count / _MILLION:.1f}M"
    return f"{count / 1000:.0f}k" if count >= _TEN_THOUSAND else f"{count:,.0f}"


def _format_value(value: float, row: int, column: int) -> str:
    """Format a value: a dash if the pair has no value, an empty string above the diagonal."""
    if np.isfinite(value):
        return f"{value:.2f}".replace("-", "\u2212")
    return _NO_VALUE if column <= row else ""
