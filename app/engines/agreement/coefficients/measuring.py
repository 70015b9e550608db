"""Compute the coefficients and their intervals."""

from app.engines.agreement.coefficients.mark_sets import MarkSets
from app.engines.agreement.coefficients.ratings import Ratings
from app.engines.agreement.metrics import Estimate, Metric, PairEstimate, Weights

RESAMPLES = 1000


def measure(
    ratings: Ratings,
    metric: Metric,
    *,
    weights: Weights = "unweighted",
    resamples: int = RESAMPLES,
    seed: int = 0,
    confidence: float = 0.95,
) -> Estimate:
    """Return the coefficient over all raters; `resamples` of 0 gives no interval."""
    raise NotImplementedError


def measure_pairs(
    ratings: Ratings,
    metric: Metric,
    *,
    weights: Weights = "unweighted",
    resamples: int = RESAMPLES,
    seed: int = 0,
    confidence: float = 0.95,
) -> list[PairEstimate]:
    """Return the coefficient of each two raters who share units, in the order of their keys."""
    raise NotImplementedError


def measure_marks(
    marks: MarkSets,
    metric: Metric,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    confidence: float = 0.95,
) -> Estimate:
    """Return the coefficient of spans or regions over all raters."""
    raise NotImplementedError


def measure_mark_pairs(
    marks: MarkSets,
    metric: Metric,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    confidence: float = 0.95,
) -> list[PairEstimate]:
    """Return the coefficient of spans or regions for each two raters who share documents."""
    raise NotImplementedError
