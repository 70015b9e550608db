"""Compute agreement coefficients for spans and regions, with confidence intervals."""

from dataclasses import replace

import numpy as np

from app.engines.agreement.coefficients import estimates
from app.engines.agreement.coefficients.bootstrap import (
    RESAMPLES,
    RatioStatistic,
    RestrictedStatistic,
    Statistic,
)
from app.engines.agreement.coefficients.estimates import EstimatePlan, compute_estimates
from app.engines.agreement.coefficients.mark_sets import MarkSets
from app.engines.agreement.coefficients.ratings import Floats, Integers
from app.engines.agreement.metrics import (
    SPAN_METRICS,
    Estimate,
    EstimateWarning,
    Metric,
    PairEstimate,
    WarningCode,
)
from app.engines.plurals import format_count

# the rows of `MarkSets.pair_sums`
_EXACT_MATCHES, _OVERLAP_MATCHES, _MARKS, _OVERLAP_SUM, _OVERLAPPING_PAIRS = range(5)
_DOCUMENTS, _AGREED_DOCUMENTS, _COMMON_LENGTH, _TEXT_LENGTH = range(5, 9)
_UNDEFINED_TEXT = (
    "Nobody marked anything, or everybody marked everything, so the coefficient is undefined."
)


def measure_marks(
    marks: MarkSets,
    metric: Metric,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """Measure the agreement of all raters on spans or regions.

    - `percent`: the fraction of documents on which two raters agree completely: every mark has a
      partner that it overlaps by at least half, or neither rater marked anything.
    - `f1`: 2 x pairs of identical marks / all marks (Hripcsak and Rothschild 2005).
    - `f1_overlap`: like `f1`, but with pairs that overlap by at least half (Everingham 2010).
    - `iou`: the mean overlap of marks, each matched with at most one mark of the other rater. Marks
      without a partner count as 0.
    - `krippendorff_alpha`: the unitizing alpha of spans; see `UnitizingAlpha`.

    The sums of all pairs of raters are added up before dividing. Raises ValueError for any other
    metric, and for alpha if the text lengths are unknown.
    """
    group_sizes = np.ones(marks.document_count, dtype=np.int64)
    return compute_estimates([_build_plan(marks, metric)], group_sizes, resamples, seed)[0]


def measure_mark_pairs(
    marks: MarkSets,
    metric: Metric,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[PairEstimate]:
    """Measure the agreement on spans or regions for each pair of raters with shared documents.

    The metrics and errors are those of `measure_marks`.
    """
    count = len(marks.raters)
    pairs = [divmod(number, count) for number in _number_pairs(marks).tolist()]
    plans = [_build_plan(_select_pair(marks, a, b), metric) for a, b in pairs]
    group_sizes = np.ones(marks.document_count, dtype=np.int64)
    results = compute_estimates(plans, group_sizes, resamples, seed)
    return [
        PairEstimate(marks.raters[a], marks.raters[b], result)
        for (a, b), result in zip(pairs, results, strict=True)
    ]


def count_mark_pairs(marks: MarkSets) -> int:
    """Count the pairs of raters who have at least one document in common."""
    return len(_number_pairs(marks))


def _number_pairs(marks: MarkSets) -> Integers:
    """Return, for each pair (a, b) of n raters with shared documents, the number a * n + b."""
    return np.unique(marks.pair_a * len(marks.raters) + marks.pair_b)


class UnitizingAlpha:
    """Krippendorff's unitizing alpha (u-alpha) for nominal labels, in the version of 2016.

    Krippendorff, Mathet, Bouvry and Widloecher 2016, On the reliability of unitizing textual
    continua: Further developments, Quality and Quantity 50, equations 1 to 5; also in Krippendorff
    2019, Content Analysis, 4th edition, section 12.6.3. This version replaces the versions of 1995
    and 2004, which give wrong values for more than two raters. Without labels, as in a span field,
    the coefficient is the binary alpha of equation 6 (|u-alpha), which distinguishes only marked
    and unmarked text.

    The observed agreement is the length of text to which two raters give the same category. The
    expected agreement is the agreement by chance if each unit is shuffled as a whole, and each gap
    letter by letter: e_cc = l (l_c^2 - s_c) / (l^2 - sum s), where l_c is the length of category c,
    l is the total length, and s_c is the sum of the squared lengths of the units of category c. For
    gaps, s_c is their total length. The documents with the numbers `documents`, which have two or
    more raters each, form one continuum.
    """

    def __init__(self, marks: MarkSets, documents: Integers) -> None:
        pair_positions = np.searchsorted(documents, marks.pair_documents)
        count = len(documents)
        segment_positions = np.searchsorted(documents, marks.segments[0].astype(np.int64))
        categories = marks.segments[2].astype(np.int64)
        lengths = np.bincount(pair_positions, marks.pair_sums[_TEXT_LENGTH], minlength=count)
        common = np.bincount(pair_positions, marks.pair_sums[_COMMON_LENGTH], minlength=count)
        pair_counts = np.bincount(pair_positions, minlength=count)
        sizes = (1 + np.sqrt(1 + 8 * pair_counts)) / 2  # m raters form m(m - 1) / 2 pairs
        self._totals = lengths / pair_counts * sizes
        self._observed = 2 * common / (sizes - 1)
        self._lengths, self._squares = (
            np.array(
                [
                    np.bincount(
                        segment_positions[is_in_category], column[is_in_category], minlength=count
                    )
                    for is_in_category in (
                        categories == category for category in np.unique(categories)
                    )
                ]
            ).reshape(-1, count)
            for column in marks.segments[3:]
        )
        self.width = max(2, len(self._lengths))

    def compute(self, weights: Floats) -> Floats:
        """Return one alpha per resample (column of `weights`).

        An alpha is NaN if all text in the resample has the same category.
        """
        total, observed = self._totals @ weights, self._observed @ weights
        category_lengths, squares = self._lengths @ weights, self._squares @ weights
        chance = (
            total * (category_lengths**2 - squares).sum(axis=0) / (total**2 - squares.sum(axis=0))
        )
        result: Floats = 1 - (total - observed) / (total - chance)
        has_variation = np.count_nonzero(category_lengths, axis=0) > 1
        result[~has_variation] = np.nan
        return result


def _build_statistic(marks: MarkSets, metric: Metric) -> tuple[Statistic | None, Integers]:
    """Build the statistic for a metric; also return the documents with two or more raters.

    The statistic takes only the weights of these documents. It is None if there are no such
    documents. Raises ValueError as `measure_marks` does.
    """
    if metric not in SPAN_METRICS:
        raise ValueError(f"{metric} is not a coefficient for marks")
    is_alpha = metric == Metric.KRIPPENDORFF_ALPHA
    if is_alpha and not marks.has_lengths and marks.document_count:
        raise ValueError("alpha requires rows with the length of each text")
    documents, pair_positions = np.unique(marks.pair_documents, return_inverse=True)
    if not len(documents):
        return None, documents
    if is_alpha:
        return UnitizingAlpha(marks, documents), documents
    sums = marks.pair_sums
    numerator, denominator = {
        Metric.PERCENT: (sums[_AGREED_DOCUMENTS], sums[_DOCUMENTS]),
        Metric.F1: (2 * sums[_EXACT_MATCHES], sums[_MARKS]),
        Metric.F1_OVERLAP: (2 * sums[_OVERLAP_MATCHES], sums[_MARKS]),
        Metric.IOU: (sums[_OVERLAP_SUM], sums[_MARKS] - sums[_OVERLAPPING_PAIRS]),
    }[metric]
    columns = [np.bincount(pair_positions, column) for column in (numerator, denominator)]
    return RatioStatistic(np.array(columns)), documents


def _build_plan(marks: MarkSets, metric: Metric) -> EstimatePlan:
    """Build the plan for a coefficient, with warnings about missing raters and undefined values."""
    statistic, documents = _build_statistic(marks, metric)
    plan = EstimatePlan(metric, len(marks.raters), len(documents), len(documents))
    if statistic is None:
        plan.undefined_warnings = [estimates.build_missing_pairs_warning(plan.rater_count)]
        return plan
    plan.statistic = RestrictedStatistic(statistic, documents)
    if marks.single_count:
        single_count_text = format_count(
            marks.single_count,
            "document was seen by only one person and is",
            "documents were seen by only one person and are",
        )
        text = f"{single_count_text} not counted."
        plan.warnings = [EstimateWarning(WarningCode.MISSING_RATINGS, text)]
    code = WarningCode.NOTHING_MARKED
    if metric == Metric.KRIPPENDORFF_ALPHA and marks.pair_sums[_MARKS].any():
        code = WarningCode.ONE_CATEGORY
    plan.undefined_warnings = [EstimateWarning(code, _UNDEFINED_TEXT), *plan.warnings]
    return plan


def _select_pair(marks: MarkSets, a: int, b: int) -> MarkSets:
    """Select the marks of two raters on the documents that both raters saw."""
    is_pair = (marks.pair_a == a) & (marks.pair_b == b)
    documents = marks.pair_documents[is_pair]
    is_pair_segment = np.isin(marks.segments[1], (a, b)) & np.isin(marks.segments[0], documents)
    return replace(
        marks,
        raters=(marks.raters[a], marks.raters[b]),
        single_count=0,
        pair_documents=documents,
        pair_a=marks.pair_a[is_pair],
        pair_b=marks.pair_b[is_pair],
        pair_sums=marks.pair_sums[:, is_pair],
        segments=marks.segments[:, is_pair_segment],
    )
