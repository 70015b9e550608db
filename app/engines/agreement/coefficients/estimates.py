"""Estimate coefficients with intervals, and warn about undefined or unreliable estimates."""

from dataclasses import dataclass, field

import numpy as np

from app.engines.agreement.coefficients.alpha import MAX_RATIO_VALUES
from app.engines.agreement.coefficients.bootstrap import Statistic, compute_values
from app.engines.agreement.coefficients.ratings import Floats, Integers, Ratings
from app.engines.agreement.metrics import Estimate, EstimateWarning, Level, Metric, WarningCode
from app.engines.plurals import format_count

MIN_DOCUMENTS = 30
"""The number of documents below which bootstrap intervals are likely to be too narrow."""
METRICS_REQUIRING_VARIATION = frozenset(
    (Metric.COHEN_KAPPA, Metric.FLEISS_KAPPA, Metric.KRIPPENDORFF_ALPHA)
)
"""The coefficients that are undefined (0/0) if all ratings are equal."""


@dataclass(slots=True)
class EstimatePlan:
    """A coefficient to estimate. If `statistic` is None, the coefficient is undefined.

    If the coefficient is defined, the estimate gets `warnings` and the warnings about its interval.
    Otherwise, it gets `undefined_warnings`.
    """

    metric: Metric
    rater_count: int
    unit_count: int
    document_count: int
    warnings: list[EstimateWarning] = field(default_factory=list)
    undefined_warnings: list[EstimateWarning] = field(default_factory=list)
    statistic: Statistic | None = None


def compute_estimates(
    plans: list[EstimatePlan], group_sizes: Integers, resamples: int, seed: int
) -> list[Estimate]:
    """Compute the estimates of several coefficients on the same resamples.

    `group_sizes` contains the number of documents in each group of documents with equal ratings
    (see `bootstrap`). If `resamples` is 0, there are no intervals.
    """
    statistics = [plan.statistic for plan in plans if plan.statistic is not None]
    values, resampled_values = compute_values(statistics, group_sizes, resamples, seed)
    value_pairs = iter(zip(values, resampled_values, strict=True))
    undefined_values = (np.nan, np.empty(0))
    return [
        _build_estimate(plan, *(undefined_values if plan.statistic is None else next(value_pairs)))
        for plan in plans
    ]


def _build_estimate(plan: EstimatePlan, value: float, resampled_values: Floats) -> Estimate:
    low = high = result = None
    warnings = plan.undefined_warnings
    if np.isfinite(value):
        result = float(value)
        low, high, interval_warnings = _build_interval(plan, resampled_values)
        warnings = [*plan.warnings, *interval_warnings]
    return Estimate(
        plan.metric,
        result,
        low,
        high,
        plan.unit_count,
        plan.document_count,
        plan.rater_count,
        tuple(warnings),
    )


def build_missing_pairs_warning(rater_count: int) -> EstimateWarning:
    """Return the warning that explains why no unit has ratings from two raters."""
    if rater_count == 0:
        return EstimateWarning(WarningCode.NO_RATINGS, "There are no ratings.")
    if rater_count == 1:
        text = "All ratings are from one person. Agreement needs at least two raters."
        return EstimateWarning(WarningCode.ONE_RATER, text)
    text = "No two people rated the same unit. Agreement needs units with at least two ratings."
    return EstimateWarning(WarningCode.NO_OVERLAP, text)


def build_undefined_warning(metric: Metric) -> EstimateWarning:
    """Return the warning that explains why a coefficient is undefined although ratings exist."""
    if metric in METRICS_REQUIRING_VARIATION:
        text = (
            "All ratings are equal, so this coefficient is undefined (0/0): without variation, "
            "agreement cannot be distinguished from chance. Use percent agreement or AC1."
        )
        return EstimateWarning(WarningCode.ONE_CATEGORY, text)
    text = "No rater entered a value, so the coefficient is undefined."
    return EstimateWarning(WarningCode.NOTHING_MARKED, text)


def list_rating_warnings(
    ratings: Ratings, group_sizes: Integers, metric: Metric
) -> list[EstimateWarning]:
    """Return the warnings about equal, missing and excluded ratings.

    `group_sizes` contains the number of documents in each group of equal ratings; see `bootstrap`.
    """
    warnings = []
    if len(np.unique(ratings.codes)) == 1 and metric not in METRICS_REQUIRING_VARIATION:
        text = "All ratings are equal, so chance alone could explain the agreement."
        warnings.append(EstimateWarning(WarningCode.ONE_CATEGORY, text))
    unit_counts = group_sizes[ratings.documents]
    incomplete_count = int(unit_counts[ratings.sizes < len(ratings.raters)].sum())
    if incomplete_count and metric not in (Metric.COHEN_KAPPA, Metric.F1):
        units_text = format_count(int(unit_counts.sum()), "unit", "units")
        verb = "is" if incomplete_count == 1 else "are"
        text = (
            f"{incomplete_count:,} of {units_text} {verb} not rated by all "
            f"{len(ratings.raters)} raters. Only existing ratings are counted."
        )
        warnings.append(EstimateWarning(WarningCode.MISSING_RATINGS, text))
    if ratings.excluded_count:
        values_text = format_count(
            ratings.excluded_count,
            "value was left out because it does not fit",
            "values were left out because they do not fit",
        )
        text = f"{values_text} the {ratings.level} level."
        warnings.append(EstimateWarning(WarningCode.VALUES_LEFT_OUT, text))
    return warnings


def list_average_warnings(metric: Metric, pair_count: int) -> list[EstimateWarning]:
    """Return a list with a warning if several pairs of raters are combined, or an empty list."""
    if pair_count < 2:  # noqa: PLR2004 - one pair needs no average
        return []
    aggregation = "the mean of" if metric == Metric.COHEN_KAPPA else "pooled over"
    text = (
        f"This coefficient is for two raters; the value is {aggregation} {pair_count} rater pairs."
    )
    return [EstimateWarning(WarningCode.AVERAGE_OF_PAIRS, text)]


def build_too_many_pairs_warning(max_pairs: int) -> EstimateWarning:
    """Return the warning that there are too many pairs of raters to combine."""
    text = (
        f"This coefficient is for two raters, and more than {max_pairs:,} pairs of raters share"
        " units, so it is not computed. Use Krippendorff's alpha."
    )
    return EstimateWarning(WarningCode.TOO_MANY_PAIRS, text)


def find_ratio_warning(pairable_ratings: Ratings, metric: Metric) -> EstimateWarning | None:
    """Return a warning if the values are not suitable for the ratio level, or None."""
    if metric != Metric.KRIPPENDORFF_ALPHA or pairable_ratings.level != Level.RATIO:
        return None
    if np.any(pairable_ratings.values[pairable_ratings.codes] < 0):
        text = (
            "The ratio level does not allow negative values, but some values are negative. Use the "
            "interval level."
        )
        return EstimateWarning(WarningCode.NEGATIVE_VALUES, text)
    if len(np.unique(pairable_ratings.codes)) > MAX_RATIO_VALUES:
        text = f"There are more than {MAX_RATIO_VALUES} different values. Use the interval level."
        return EstimateWarning(WarningCode.TOO_MANY_VALUES, text)
    return None


def _build_interval(
    plan: EstimatePlan, resampled_values: Floats
) -> tuple[float | None, float | None, list[EstimateWarning]]:
    """Build a 95% interval from percentiles of `resampled_values`; return its bounds and warnings.

    Both bounds are None if there are no resamples, if there is only one document, or if the
    coefficient is undefined in more than half of the resamples.
    """
    if not len(resampled_values):
        return None, None, []
    if plan.document_count == 1:
        text = "All ratings are from one document, so there is no interval."
        return None, None, [EstimateWarning(WarningCode.ONE_DOCUMENT, text)]
    defined_values = resampled_values[np.isfinite(resampled_values)]
    undefined_count = len(resampled_values) - len(defined_values)
    undefined_text = (
        f"The coefficient `{plan.metric}` is undefined in {undefined_count:,} of "
        f"{len(resampled_values):,} bootstrap resamples"
    )
    if 2 * undefined_count > len(resampled_values):
        text = f"{undefined_text}, which is more than half, so there is no interval."
        return None, None, [EstimateWarning(WarningCode.UNDEFINED_RESAMPLES, text)]
    warnings = []
    if plan.document_count < MIN_DOCUMENTS:
        documents_text = f"only {plan.document_count} documents"
        text = f"The interval is based on {documents_text} and is likely too narrow."
        warnings.append(EstimateWarning(WarningCode.FEW_UNITS, text))
    if undefined_count:
        text = f"{undefined_text}. The interval is based on the other resamples."
        warnings.append(EstimateWarning(WarningCode.UNDEFINED_RESAMPLES, text))
    low, high = np.quantile(defined_values, (0.025, 0.975))
    if low == high:
        text = (
            "The agreement is the same in all documents, so the interval has no width. This does "
            "not mean that the value is certain."
        )
        warnings.append(EstimateWarning(WarningCode.NO_VARIATION, text))
    return float(low), float(high), warnings
