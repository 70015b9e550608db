"""Define the content of charts. Text is shown literally, without markup or formulas."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

PictureFormat = Literal["png", "svg"]

MAX_SERIES = 8
"""The maximum number of lines in a trend chart. A note says how many lines are omitted."""
MAX_CATEGORIES = 30
"""The maximum number of rows, columns or raters in a matrix. A note says how many are omitted."""
MAX_POINTS = 4_000
"""The maximum number of points per line. If there are more, only the latest are shown."""


@dataclass(frozen=True, slots=True)
class Point:
    """The value on one day, with an optional interval. A value of None makes a gap in the line."""

    day: date
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """A line in a trend chart: its name and its points."""

    name: str
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class TrendChart:
    """Lines over time, with bands that show the intervals. `unit` labels the value axis."""

    title: str
    unit: str
    series: Sequence[Series]
    low: float | None = None
    """The start of the value axis if the unit has a minimum, for example 0 for a rate."""
    high: float | None = None
    """The end of the value axis if the unit has a maximum, for example 1 for a rate."""
    as_percent: bool = False
    """Whether the value axis shows percentages, for example 50% for 0.5."""


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """The predictions in one confidence range: their mean confidence, accuracy and count.

    `low` and `high` are the bounds of the accuracy's interval, or None.
    """

    confidence: float
    accuracy: float
    count: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class CalibrationChart:
    """A curve of accuracy by confidence, with a diagonal that shows perfect calibration."""

    title: str
    bins: Sequence[CalibrationBin]
    error: float | None = None
    """The expected calibration error. It is not shown if it is None."""
    threshold: float | None = None
    """The recommended confidence threshold. It is not shown if it is None."""


@dataclass(frozen=True, slots=True)
class ConfusionChart:
    """A confusion matrix: `counts[i][j]` is how often `rows[i]` was paired with `columns[j]`."""

    title: str
    row_axis: str
    column_axis: str
    rows: Sequence[str]
    columns: Sequence[str]
    counts: Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class PairChart:
    """A coefficient for each pair of raters.

    `values` contains a (rater, rater, coefficient) tuple for each pair that rated the same
    items. An undefined coefficient is None.
    """

    title: str
    metric: str
    raters: Sequence[str]
    values: Sequence[tuple[str, str, float | None]]


class ChartNotRendered(Exception):  # noqa: N818 - named after the outcome
    """The process that renders a chart failed or took too long. A second attempt may succeed."""


Chart = TrendChart | CalibrationChart | ConfusionChart | PairChart
