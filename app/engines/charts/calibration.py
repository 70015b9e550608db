"""Draw a calibration curve, with a bar chart of the prediction counts below the curve."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from app.engines.charts import style
from app.engines.charts.model import CalibrationBin, CalibrationChart

_WIDTH, _HEIGHT = 6.0, 6.2
_MARGIN = 0.02


def draw_calibration(chart: CalibrationChart) -> Figure:
    """Draw a calibration curve and the prediction counts, or a message if all bins are empty."""
    figure = style.create_figure(chart.title, _WIDTH, _HEIGHT)
    bins = sorted((item for item in chart.bins if item.count), key=lambda b: b.confidence)
    if not bins:
        style.draw_no_data_message(figure, "No predictions with a known outcome")
        return figure
    curve_axes, count_axes = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    _draw_curve(curve_axes, chart, bins)
    _draw_counts(count_axes, bins)
    return figure


def _draw_curve(axes: Axes, chart: CalibrationChart, bins: list[CalibrationBin]) -> None:
    style.tidy_axes(axes)
    color = style.COLORS[0]
    (diagonal,) = axes.plot((0, 1), (0, 1), color="#9aa5b1", linewidth=1.2, linestyle=(0, (4, 3)))
    for item in bins:
        if item.low is not None and item.high is not None:
            x_positions = (item.confidence, item.confidence)
            axes.plot(x_positions, (item.low, item.high), color=color, alpha=0.45, linewidth=2.2)
    axes.plot(
        [item.confidence for item in bins], [item.accuracy for item in bins], color=color,
        marker="o", markersize=6, linewidth=1.8, markeredgecolor="white",
    )  # fmt: skip
    if chart.threshold is not None:
        axes.plot([chart.threshold] * 2, (0, 1), color=style.COLORS[1], linewidth=1.4)
        is_right = chart.threshold > 0.5  # noqa: PLR2004 - the middle
        axes.annotate(
            f"threshold {chart.threshold:.2f}", (chart.threshold, 0.02), (-5 if is_right else 5, 0),
            textcoords="offset points", ha="right" if is_right else "left", color="#a84a00",
            fontsize=8.5,
        )  # fmt: skip
    legend = axes.legend(
        [diagonal], ["perfectly calibrated"], loc="upper left", fontsize=8.5,
        labelcolor=style.MUTED_COLOR,
        alignment="left", edgecolor="none", framealpha=0.85, borderaxespad=0.2,
    )  # fmt: skip
    if chart.error is not None:
        legend.set_title(f"Expected calibration error {chart.error:.3f}")
        legend.get_title().set_fontsize(9.5)
    axes.set_ylim(-_MARGIN, 1 + _MARGIN)
    axes.set_ylabel("Share of correct predictions")
    axes.yaxis.set_major_formatter(PercentFormatter(xmax=1.0))


def _draw_counts(axes: Axes, bins: list[CalibrationBin]) -> None:
    style.tidy_axes(axes)
    width = min(0.08, 0.8 / len(bins))
    axes.bar(
        [item.confidence for item in bins], [item.count for item in bins], width=width,
        color=style.COLORS[5],
    )  # fmt: skip
    axes.set_xlim(-_MARGIN, 1 + _MARGIN)
    axes.set_xlabel("Confidence of the prediction")
    axes.set_ylabel("Predictions")
    axes.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.xaxis.set_major_formatter(PercentFormatter(xmax=1.0))
