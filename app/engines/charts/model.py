"""Define the content of charts. Texts are shown literally."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

ImageKind = Literal["png", "svg"]

MAX_SERIES = 8
"""The maximum number of lines in a trend chart. More lines are omitted, with a note."""
MAX_CATEGORIES = 30
"""The maximum number of rows, columns or raters in a matrix. More are omitted, with a note."""
MAX_POINTS = 4_000
"""The maximum number of points per line. If there are more, the last points are shown."""


@dataclass(frozen=True, slots=True)
class Point:
    """The value of one day, and its interval, if any. A value of None is a gap in the line."""

    day: date
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """A line in a trend chart."""

    name: str
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class TrendChart:
    """Lines over time with bands for their intervals. `unit` labels the value axis."""

    title: str
    unit: str
    series: Sequence[Series]
    low: float | None = None
    """The lowest value of the axis, if the unit has a minimum, such as 0 for a rate."""
    high: float | None = None
    """The highest value of the axis, if the unit has a maximum, such as 1 for a rate."""
    as_percent: bool = False
    """Whether the axis shows 0.5 as 50 %."""


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """The predictions in one confidence range: their mean confidence, accuracy and number."""

    confidence: float
    accuracy: float
    count: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class CalibrationChart:
    """The accuracy by confidence, with the diagonal of perfect calibration."""

    title: str
    bins: Sequence[CalibrationBin]
    error: float | None = None
    """The expected calibration error."""
    threshold: float | None = None
    """The recommended confidence threshold."""


@dataclass(frozen=True, slots=True)
class ConfusionChart:
    """Counts of pairs of values: `counts[row][column]`."""

    title: str
    row_axis: str
    column_axis: str
    rows: Sequence[str]
    columns: Sequence[str]
    counts: Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class PairChart:
    """A coefficient for each pair of raters. Missing pairs share no units."""

    title: str
    metric: str
    raters: Sequence[str]
    values: Sequence[tuple[str, str, float | None]]


class ChartNotDrawn(Exception):  # noqa: N818 - named after the outcome
    """The process that draws a chart failed or took too long. A second attempt may succeed."""


Chart = TrendChart | CalibrationChart | ConfusionChart | PairChart
