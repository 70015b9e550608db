"""Compute agreement coefficients for ratings, with confidence intervals."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from app.engines.agreement.coefficients import estimates
from app.engines.agreement.coefficients.alpha import build_alpha
from app.engines.agreement.coefficients.bootstrap import (
    RESAMPLES,
    CompressedRatings,
    RestrictedStatistic,
    Statistic,
    compress_ratings,
)
from app.engines.agreement.coefficients.chance import (
    ChanceCorrectedAgreement,
    build_percent_agreement,
)
from app.engines.agreement.coefficients.estimates import EstimatePlan, compute_estimates
from app.engines.agreement.coefficients.kappa import (
    CohenKappa,
    MeanOfPairs,
    RaterPair,
    RaterPairs,
    build_value_f1,
    count_pairs,
)
from app.engines.agreement.coefficients.ratings import Integers, Ratings
from app.engines.agreement.coefficients.scales import Scale, build_scale
from app.engines.agreement.metrics import (
    RATING_METRICS,
    Estimate,
    EstimateWarning,
    Level,
    Metric,
    PairEstimate,
    Weights,
)

MAX_AVERAGED_PAIRS = 5_000
"""The maximum number of pairs of raters that are averaged or pooled. With more pairs, the
coefficient is not computed. 100 raters have 4,950 pairs. Each pair takes memory, and takes time in
every resample."""
_Pairs = RaterPairs | list[RaterPair]
_PAIRED_METRICS = frozenset((Metric.COHEN_KAPPA, Metric.F1))
_WEIGHTED_METRICS = (Metric.COHEN_KAPPA, Metric.GWET_AC2)


def measure(
    ratings: Ratings,
    metric: Metric,
    *,
    weights: Weights = "unweighted",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """Measure the agreement of all raters with one coefficient.

    `weights` apply to Cohen's kappa and AC2 and require an ordered level. AC2 without weights is
    AC1. If `resamples` is 0, there is no interval. Raises ValueError for a metric that requires
    marks, and for weights at the nominal level.
    """
    return measure_all(ratings, [metric], weights=weights, resamples=resamples, seed=seed)[0]


def measure_all(
    ratings: Ratings,
    metrics: Sequence[Metric],
    *,
    weights: Weights = "unweighted",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Estimate]:
    """Measure the agreement of all raters with several coefficients, on the same resamples.

    See `measure` for the arguments and the errors.
    """
    compressed_ratings = compress_ratings(ratings)
    pairs = _list_needed_pairs(compressed_ratings.ratings, metrics)
    plans = [_build_plan(compressed_ratings, metric, pairs, weights) for metric in metrics]
    return compute_estimates(plans, compressed_ratings.group_sizes, resamples, seed)


def _list_needed_pairs(ratings: Ratings, metrics: Sequence[Metric]) -> _Pairs | None:
    """Return the pairs of raters, [] if no metric needs them, or None if there are too many."""
    if not _PAIRED_METRICS.intersection(metrics):
        return []
    return None if count_pairs(ratings) > MAX_AVERAGED_PAIRS else RaterPairs(ratings)


def measure_pairs(
    ratings: Ratings,
    metric: Metric,
    *,
    weights: Weights = "unweighted",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[PairEstimate]:
    """Measure the agreement of each pair of raters with shared units, sorted by rater keys.

    See `measure` for the arguments and the errors.
    """
    compressed_ratings = compress_ratings(ratings)
    pairs = RaterPairs(compressed_ratings.ratings)
    plans = _build_pair_plans(compressed_ratings, metric, pairs, weights)
    names = compressed_ratings.ratings.raters
    # Without resamples, one plan at a time is in memory.
    batches = [list(plans)] if resamples else ([plan] for plan in plans)
    results = [
        result
        for batch in batches
        for result in compute_estimates(batch, compressed_ratings.group_sizes, resamples, seed)
    ]
    return [
        PairEstimate(names[a], names[b], result)
        for (a, b), result in zip(pairs.codes.tolist(), results, strict=True)
    ]


def _build_pair_plans(
    compressed_ratings: CompressedRatings,
    metric: Metric,
    pairs: _Pairs,
    weights: Weights,
) -> Iterator[EstimatePlan]:
    """Yield the plan for each pair of raters."""
    for pair in pairs:
        documents, part, pair_in_part = _select_pair(compressed_ratings, pair)
        plan = _build_plan(part, metric, [pair_in_part], weights)
        if plan.statistic is not None:
            plan.statistic = RestrictedStatistic(plan.statistic, documents)
        yield plan


def _select_pair(
    compressed_ratings: CompressedRatings, pair: RaterPair
) -> tuple[Integers, CompressedRatings, RaterPair]:
    """Select the documents that two raters share, and the ratings of both on these documents.

    Returns the documents, the selected ratings, and the pair renumbered to match them.
    """
    units, ratings = pair.units, compressed_ratings.ratings
    documents, numbers = np.unique(pair.documents, return_inverse=True)
    part = replace(
        ratings,
        raters=(ratings.raters[pair.a], ratings.raters[pair.b]),
        document_count=len(documents),
        documents=numbers,
        units=np.repeat(np.arange(len(units)), 2),
        rater_codes=np.tile(np.array([0, 1]), len(units)),
        codes=np.column_stack((pair.left, pair.right)).ravel(),
    )
    pair_in_part = RaterPair(0, 1, np.arange(len(units)), numbers, pair.left, pair.right)
    group_sizes = compressed_ratings.group_sizes[documents]
    return documents, CompressedRatings(part, group_sizes), pair_in_part


def _build_plan(
    compressed_ratings: CompressedRatings, metric: Metric, pairs: _Pairs | None, weights: Weights
) -> EstimatePlan:
    """Build the plan for a coefficient: select the ratings that count, and build the statistic.

    If there are too many pairs, `pairs` is None, and a metric that needs pairs is undefined. Raises
    ValueError as `measure` does.
    """
    if metric not in RATING_METRICS:
        raise ValueError(f"{metric} is a coefficient for marks; use measure_marks")
    ratings, group_sizes = compressed_ratings.ratings, compressed_ratings.group_sizes
    is_weighted = metric in _WEIGHTED_METRICS and weights != "unweighted"
    if is_weighted and ratings.level == Level.NOMINAL:
        raise ValueError("weights require ratings of an ordered level")
    is_nominal = ratings.level == Level.NOMINAL
    if is_weighted or (metric == Metric.KRIPPENDORFF_ALPHA and not is_nominal):
        ratings = ratings.drop_empty()
        if pairs and ratings is not compressed_ratings.ratings:
            pairs = RaterPairs(ratings)
    pairable_ratings = ratings.select_pairable()
    plan = EstimatePlan(
        metric,
        len(ratings.raters),
        int(group_sizes[pairable_ratings.documents].sum()),
        int(group_sizes[np.unique(pairable_ratings.documents)].sum()),
    )
    if not plan.unit_count:
        plan.undefined_warnings = [estimates.build_missing_pairs_warning(plan.rater_count)]
        return plan
    plan.warnings = estimates.list_rating_warnings(ratings, group_sizes, metric)
    plan.warnings += _list_pair_warnings(metric, pairs)
    obstacles = _list_obstacles(pairable_ratings, metric, pairs)
    reasons = obstacles or [estimates.build_undefined_warning(metric)]
    plan.undefined_warnings = [*plan.warnings, *reasons]
    if not obstacles:
        scale = build_scale(ratings.values, weights) if is_weighted else None
        plan.statistic = _build_statistic(metric, ratings, pairs or [], scale)
    return plan


def _list_pair_warnings(metric: Metric, pairs: _Pairs | None) -> list[EstimateWarning]:
    if metric not in _PAIRED_METRICS or pairs is None:
        return []
    return estimates.list_average_warnings(metric, len(pairs))


def _list_obstacles(
    pairable_ratings: Ratings, metric: Metric, pairs: _Pairs | None
) -> list[EstimateWarning]:
    """Return a list with the warning that says why the metric is undefined, or an empty list."""
    if metric in _PAIRED_METRICS and pairs is None:
        return [estimates.build_too_many_pairs_warning(MAX_AVERAGED_PAIRS)]
    ratio_warning = estimates.find_ratio_warning(pairable_ratings, metric)
    return [] if ratio_warning is None else [ratio_warning]


def _build_statistic(
    metric: Metric, ratings: Ratings, pairs: _Pairs, scale: Scale | None
) -> Statistic:
    match metric:
        case Metric.PERCENT:
            return build_percent_agreement(ratings)
        case Metric.FLEISS_KAPPA:
            return ChanceCorrectedAgreement(ratings, "fleiss")
        case Metric.GWET_AC1 | Metric.GWET_AC2:
            return ChanceCorrectedAgreement(ratings, "gwet", scale)
        case Metric.F1:
            return build_value_f1(pairs, ratings.empty_code, ratings.document_count)
        case Metric.COHEN_KAPPA:
            kappas: list[Statistic] = [CohenKappa(pair, scale) for pair in pairs]
            return kappas[0] if len(kappas) == 1 else MeanOfPairs(kappas)
        case _:
            return build_alpha(ratings.select_pairable())
