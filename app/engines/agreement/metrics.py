"""Define the names and result types of agreement coefficients without importing numpy."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class Metric(StrEnum):
    """The agreement coefficients, with their names in the API."""

    PERCENT = "percent"
    COHEN_KAPPA = "cohen_kappa"
    FLEISS_KAPPA = "fleiss_kappa"
    KRIPPENDORFF_ALPHA = "krippendorff_alpha"
    GWET_AC1 = "gwet_ac1"
    GWET_AC2 = "gwet_ac2"
    F1 = "f1"
    F1_OVERLAP = "f1_overlap"
    IOU = "iou"


class Level(StrEnum):
    """The levels of measurement, which define the difference between two values."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    RATIO = "ratio"


Weights = Literal["unweighted", "linear", "quadratic", "ordinal"]
"""The weights that define the credit for nearly equal ratings in Cohen's kappa and Gwet's AC2."""

RATING_METRICS = frozenset(Metric) - {Metric.F1_OVERLAP, Metric.IOU}
"""The coefficients for rated values; `measure` and `measure_pairs` compute them from `Ratings`."""

SPAN_METRICS = frozenset(
    (Metric.PERCENT, Metric.F1, Metric.F1_OVERLAP, Metric.IOU, Metric.KRIPPENDORFF_ALPHA)
)
"""The coefficients for text spans; for spans, Krippendorff's alpha is the unitizing alpha."""

REGION_METRICS = SPAN_METRICS - {Metric.KRIPPENDORFF_ALPHA}
"""The coefficients for page regions."""


class WarningCode(StrEnum):
    """The reasons why an estimate is undefined, or must be interpreted with caution."""

    NO_RATINGS = "no_ratings"
    ONE_RATER = "one_rater"
    NO_OVERLAP = "no_overlap"
    ONE_CATEGORY = "one_category"
    MISSING_RATINGS = "missing_ratings"
    AVERAGE_OF_PAIRS = "average_of_pairs"
    FEW_UNITS = "few_units"
    ONE_DOCUMENT = "one_document"
    UNDEFINED_RESAMPLES = "undefined_resamples"
    TOO_MANY_PAIRS = "too_many_pairs"
    TOO_MANY_VALUES = "too_many_values"
    NEGATIVE_VALUES = "negative_values"
    VALUES_LEFT_OUT = "values_left_out"
    NOTHING_MARKED = "nothing_marked"
    NO_VARIATION = "no_variation"


@dataclass(frozen=True, slots=True)
class EstimateWarning:
    """A warning about an estimate: a code for programs and a text for people."""

    code: WarningCode
    text: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """The value of a coefficient with its confidence interval.

    `value` is None if the coefficient is undefined; a warning then says why. `ci_low` and `ci_high`
    are None if there is no interval. `units` is the number of units that at least two raters rated,
    `documents` is the number of documents with such units, and `raters` is the number of raters
    with at least one rating.
    """

    metric: Metric
    value: float | None
    ci_low: float | None
    ci_high: float | None
    units: int
    documents: int
    raters: int
    warnings: tuple[EstimateWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class PairEstimate:
    """The estimate for a pair of raters. `a` and `b` are the rater keys, in sorted order."""

    a: str
    b: str
    estimate: Estimate
