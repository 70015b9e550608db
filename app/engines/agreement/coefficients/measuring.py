"""Compute agreement coefficients of ratings, with intervals."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.engines.agreement.coefficients import cautions as reasons
from app.engines.agreement.coefficients.alpha import MAX_RATIO_VALUES, build_alpha
from app.engines.agreement.coefficients.bootstrap import Compressed, Statistic, compress, estimate
from app.engines.agreement.coefficients.chance import ChanceCorrected, PercentAgreement
from app.engines.agreement.coefficients.kappa import (
    CohenKappa,
    MeanOfPairs,
    Pair,
    ValueF1,
    list_pairs,
)
from app.engines.agreement.coefficients.ratings import Floats, Integers, Ratings
from app.engines.agreement.coefficients.scales import Scale, build_scale
from app.engines.agreement.metrics import (
    RATING_METRICS,
    Caution,
    CautionCode,
    Estimate,
    Level,
    Metric,
    PairEstimate,
    Weights,
)

RESAMPLES = 1000
_WEIGHTED = (Metric.COHEN_KAPPA, Metric.GWET_AC2)


@dataclass(frozen=True, slots=True)
class _Options:
    weights: Weights
    resamples: int
    seed: int
    confidence: float


@dataclass(slots=True)
class _Plan:
    """A coefficient to compute: its statistic, or None with a caution that explains why."""

    metric: Metric
    rater_count: int
    units: int
    documents: int
    cautions: list[Caution]
    statistic: Statistic | None = None

    def finish(self, value: float, resampled_values: Floats, confidence: float) -> Estimate:
        """Return the estimate for the value and its values in the resamples."""
        low = high = result = None
        cautions = self.cautions
        if self.statistic is None:
            pass
        elif not np.isfinite(value):
            cautions = [*cautions, reasons.explain_undefined(self.metric)]
        else:
            result = float(value)
            low, high, interval_cautions = reasons.build_interval(
                resampled_values, self.documents, confidence
            )
            cautions = [*cautions, *interval_cautions]
        return Estimate(
            self.metric,
            result,
            low,
            high,
            self.units,
            self.documents,
            self.rater_count,
            tuple(cautions),
        )


class _RestrictedStatistic:
    """A statistic that uses only the given documents."""

    def __init__(self, statistic: Statistic, documents: Integers) -> None:
        self._statistic = statistic
        self._documents = documents
        self.width = max(statistic.width, len(documents))

    def compute(self, weights: Floats) -> Floats:
        """Return the coefficient for each column of `weights`."""
        return self._statistic.compute(weights[self._documents])


def measure(
    ratings: Ratings,
    metric: Metric,
    *,
    weights: Weights = "unweighted",
    resamples: int = RESAMPLES,
    seed: int = 0,
    confidence: float = 0.95,
) -> Estimate:
    """Return the coefficient over all raters.

    `weights` apply to Cohen's kappa and AC2 and need an ordered level. AC2 without weights is AC1.
    If `resamples` is 0, there is no interval. Raises ValueError for metrics of marks.
    """
    options = {"resamples": resamples, "seed": seed, "confidence": confidence}
    return measure_all(ratings, [metric], weights=weights, **options)[0]  # type: ignore[arg-type]


def measure_all(
    ratings: Ratings,
    metrics: Sequence[Metric],
    *,
    weights: Weights = "unweighted",
    resamples: int = RESAMPLES,
    seed: int = 0,
    confidence: float = 0.95,
) -> list[Estimate]:
    """Return several coefficients over all raters, computed from the same resamples."""
    options = _Options(weights, resamples, seed, confidence)
    compressed = compress(ratings)
    pairs = list_pairs(compressed.ratings)
    plans = [_build_plan(compressed, metric, pairs, options) for metric in metrics]
    return _compute_estimates(plans, compressed.counts, options)


def measure_pairs(
    ratings: Ratings,
    metric: Metric,
    *,
    weights: Weights = "unweighted",
    resamples: int = RESAMPLES,
    seed: int = 0,
    confidence: float = 0.95,
) -> list[PairEstimate]:
    """Return the coefficient for each pair of raters with shared units, in order of their keys."""
    options = _Options(weights, resamples, seed, confidence)
    compressed = compress(ratings)
    pairs = list_pairs(compressed.ratings)
    plans = []
    for pair in pairs:
        documents, part, pair_in_part = _select_pair(compressed, pair)
        plan = _build_plan(part, metric, [pair_in_part], options)
        if plan.statistic is not None:
            plan.statistic = _RestrictedStatistic(plan.statistic, documents)
        plans.append(plan)
    names = compressed.ratings.raters
    results = _compute_estimates(plans, compressed.counts, options)
    return [
        PairEstimate(names[pair.a], names[pair.b], result)
        for pair, result in zip(pairs, results, strict=True)
    ]


def _compute_estimates(plans: list[_Plan], counts: Integers, options: _Options) -> list[Estimate]:
    statistics = [plan.statistic for plan in plans if plan.statistic is not None]
    values, resampled_values = estimate(statistics, counts, options.resamples, options.seed)
    rows = iter(zip(values, resampled_values, strict=True))
    no_result = (float("nan"), np.empty(0))
    results = []
    for plan in plans:
        value, values_of_plan = next(rows) if plan.statistic is not None else no_result
        results.append(plan.finish(float(value), values_of_plan, options.confidence))
    return results


def _select_pair(compressed: Compressed, pair: Pair) -> tuple[Integers, Compressed, Pair]:
    """Return the documents that two raters share, their ratings on these, and the new pair."""
    units, ratings = pair.units, compressed.ratings
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
    pair_in_part = Pair(0, 1, np.arange(len(units)), numbers, pair.left, pair.right)
    return documents, Compressed(part, compressed.counts[documents]), pair_in_part


def _build_plan(
    compressed: Compressed, metric: Metric, pairs: list[Pair], options: _Options
) -> _Plan:
    """Select the ratings that count for a coefficient, and build its statistic."""
    if metric not in RATING_METRICS:
        raise ValueError(f"{metric} is a coefficient of marks; use measure_marks")
    ratings, counts = compressed.ratings, compressed.counts
    is_weighted = metric in _WEIGHTED and options.weights != "unweighted"
    if is_weighted and ratings.level == Level.NOMINAL:
        raise ValueError("weights need ratings of an ordered level")
    is_nominal = ratings.level == Level.NOMINAL
    if is_weighted or (metric == Metric.KRIPPENDORFF_ALPHA and not is_nominal):
        ratings = ratings.drop_empty()
        pairs = list_pairs(ratings) if ratings is not compressed.ratings else pairs
    pairable = ratings.select_pairable()
    unit_counts = counts[pairable.documents]
    plan = _Plan(
        metric,
        len(ratings.raters),
        int(unit_counts.sum()),
        int(counts[np.unique(pairable.documents)].sum()),
        [],
    )
    if not plan.units:
        plan.cautions.append(reasons.explain_missing_pairs(plan.rater_count))
        return plan
    plan.cautions = reasons.list_rating_cautions(ratings, counts, metric)
    if metric in (Metric.COHEN_KAPPA, Metric.F1):
        plan.cautions += reasons.list_average_cautions(metric, len(pairs))
    blocker = _find_blocker(pairable, metric)
    if blocker is not None:
        plan.cautions.append(blocker)
        return plan
    scale = build_scale(ratings.values, options.weights) if is_weighted else None
    plan.statistic = _build_statistic(metric, ratings, pairs, scale)
    return plan


def _find_blocker(pairable: Ratings, metric: Metric) -> Caution | None:
    """Return the caution if the ratio level does not fit the values."""
    if metric != Metric.KRIPPENDORFF_ALPHA or pairable.level != Level.RATIO:
        return None
    if np.any(pairable.values[pairable.codes] < 0):
        text = "Some values are negative, so they have no ratios. Use the interval level."
        return Caution(CautionCode.NEGATIVE_VALUES, text)
    if len(np.unique(pairable.codes)) > MAX_RATIO_VALUES:
        text = f"There are more than {MAX_RATIO_VALUES} different values. Use the interval level."
        return Caution(CautionCode.TOO_MANY_VALUES, text)
    return None


def _build_statistic(
    metric: Metric, ratings: Ratings, pairs: list[Pair], scale: Scale | None
) -> Statistic:
    match metric:
        case Metric.PERCENT:
            return PercentAgreement(ratings)
        case Metric.FLEISS_KAPPA:
            return ChanceCorrected(ratings, "fleiss")
        case Metric.GWET_AC1 | Metric.GWET_AC2:
            return ChanceCorrected(ratings, "gwet", scale)
        case Metric.F1:
            return ValueF1(pairs, ratings.empty_code, ratings.document_count)
        case Metric.COHEN_KAPPA:
            kappas: list[Statistic] = [CohenKappa(pair, scale) for pair in pairs]
            return kappas[0] if len(kappas) == 1 else MeanOfPairs(kappas)
        case _:
            return build_alpha(ratings.select_pairable())
