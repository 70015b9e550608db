"""Check the intervals against plain resampling, their repeatability, and their coverage."""

import random
from typing import Any

import numpy as np
import pytest

from app.engines.agreement.coefficients.bootstrap import compress_ratings, resample
from app.engines.agreement.coefficients.measuring import measure, measure_all
from app.engines.agreement.coefficients.ratings import build_ratings
from app.engines.agreement.metrics import Level, Metric

METRICS = [
    *(Metric.PERCENT, Metric.COHEN_KAPPA, Metric.FLEISS_KAPPA),
    *(Metric.KRIPPENDORFF_ALPHA, Metric.GWET_AC1, Metric.F1),
]


def _label(documents: int, seed: int, right: float = 0.8) -> list[tuple[Any, ...]]:
    generator = random.Random(seed)
    rows = []
    for document in range(documents):
        truth = generator.randrange(4)
        for rater in "abc":
            is_right = generator.random() < right
            rows.append((document, rater, truth if is_right else generator.randrange(4)))
    return rows


@pytest.mark.parametrize("level", list(Level))
def test_resamples_are_what_a_plain_loop_over_documents_computes(level: Level) -> None:
    """Draw documents, copy their rows, and compute each coefficient anew."""
    rows = _label(25, seed=1)
    ratings = build_ratings(rows, level=level)
    compressed = compress_ratings(ratings)
    (weights,) = resample(compressed.group_sizes, 12, 9, 1)
    drawn = [[] for _ in METRICS]
    for column in weights.T.astype(int):
        copies = []
        for number, count in enumerate(column):
            of_class = compressed.ratings.documents[compressed.ratings.units] == number
            labels = list(
                zip(
                    compressed.ratings.rater_codes[of_class],
                    compressed.ratings.codes[of_class],
                    strict=True,
                )
            )
            for copy in range(count):
                copies += [
                    (f"{number} {copy}", int(rater), float(compressed.ratings.values[code]))
                    for rater, code in labels
                ]
        repeated = build_ratings(copies, level=level)
        for values, each in zip(drawn, measure_all(repeated, METRICS, resamples=0), strict=True):
            values.append(each.value)
    estimates = measure_all(ratings, METRICS, resamples=12, seed=9)
    for metric, values, each in zip(METRICS, drawn, estimates, strict=True):
        if metric == Metric.GWET_AC1 or None in values:
            continue  # a category that is missing from a resample is none of the copies
        low, high = np.quantile(values, (0.025, 0.975))
        assert (each.ci_low, each.ci_high) == pytest.approx((low, high), abs=1e-9), metric


def test_a_run_is_repeatable_and_another_seed_gives_another_interval() -> None:
    ratings = build_ratings(_label(60, seed=2))
    first, second, other = (
        measure(ratings, Metric.FLEISS_KAPPA, resamples=100, seed=seed) for seed in (4, 4, 5)
    )
    assert first == second
    assert first.value == other.value
    assert (first.ci_low, first.ci_high) != (other.ci_low, other.ci_high)


def test_many_small_classes_are_drawn_with_the_same_probabilities() -> None:
    """Both ways to draw give each document the weight 1 on average, and n in all."""
    for counts in (np.array([500, 300, 200]), np.array([1] * 60 + [2] * 20)):
        weights = np.concatenate(list(resample(counts, 3_000, 1, 1)), axis=1)
        assert set(weights.sum(axis=0)) == {counts.sum()}
        assert weights.mean(axis=1) == pytest.approx(counts, rel=0.12)
        shares = counts / counts.sum()
        variance = counts.sum() * shares * (1 - shares)
        assert weights.var(axis=1) == pytest.approx(variance, rel=0.2)


def test_documents_with_several_units_are_drawn_as_wholes() -> None:
    """Units of one document that agree all or none leave the interval of so many documents."""
    generator = random.Random(3)
    agreed = [generator.random() < 0.7 for _ in range(80)]
    whole = [(n, r, "x" if same else r) for n, same in enumerate(agreed) for r in "ab"]
    split = [(n, unit, r, value) for n, r, value in whole for unit in range(5)]
    few, many = (
        measure(build_ratings(rows), Metric.PERCENT, resamples=400) for rows in (whole, split)
    )
    assert few.value == pytest.approx(many.value)
    assert (many.units, many.documents) == (400, 80)
    assert few.ci_high is not None
    assert few.ci_low is not None
    assert many.ci_high is not None
    assert many.ci_low is not None
    assert many.ci_high - many.ci_low == pytest.approx(few.ci_high - few.ci_low, rel=0.15)


def test_intervals_cover_the_truth() -> None:
    """Of 95 % intervals over 200 documents, at least 90 of 100 hold the value of the population."""
    metrics = [Metric.PERCENT, Metric.FLEISS_KAPPA, Metric.KRIPPENDORFF_ALPHA]
    # two raters agree if both are right, or guess alike: r^2 + 2 r (1 - r) / 4 + (1 - r)^2 / 4
    right = 0.8
    percent = right**2 + 2 * right * (1 - right) / 4 + (1 - right) ** 2 / 4
    kappa = (percent - 0.25) / 0.75
    covered = dict.fromkeys(metrics, 0)
    for seed in range(100):
        ratings = build_ratings(_label(200, seed=seed, right=right))
        for each in measure_all(ratings, metrics, resamples=200, seed=seed):
            assert each.ci_low is not None
            assert each.ci_high is not None
            truth = percent if each.metric == Metric.PERCENT else kappa
            covered[each.metric] += each.ci_low <= truth <= each.ci_high
    assert min(covered.values()) >= 90, covered
