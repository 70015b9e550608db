"""Pairs of samples, compared with what scipy, and the literature, say of them."""

import math

import numpy as np
import pytest

from app.engines.drift.comparing import assign_outcomes, compare, pool_rare_categories
from app.engines.drift.model import (
    CategorySample,
    Comparison,
    DriftOutcome,
    DriftThresholds,
    Hypothesis,
    NumberSample,
    RateSample,
    Sample,
)
from tests.references import import_lazily

stats = import_lazily("scipy.stats")


def _compare(
    baseline: Sample, current: Sample, thresholds: DriftThresholds | None = None
) -> Comparison:
    """Compare two samples as the only hypothesis, and assign the outcome."""
    comparison = compare(Hypothesis("x", baseline, current), thresholds)
    (found,) = assign_outcomes([comparison], thresholds)
    return found


def test_a_shift_of_categories_is_drift() -> None:
    before, after = CategorySample({"a": 400, "b": 100}), CategorySample({"a": 100, "b": 100})
    (found,) = assign_outcomes([compare(Hypothesis("kind", before, after))])
    assert (found.outcome, found.test, found.category) == ("drift", "chi_square", "a")
    assert (found.baseline_n, found.current_n) == (500, 200)
    assert (found.baseline_value, found.current_value) == (0.8, 0.5)
    expected = stats.chi2_contingency([[400, 100], [100, 100]], correction=False).pvalue
    assert found.p_value == pytest.approx(expected, rel=1e-9)
    assert found.q_value == found.p_value
    index = 0.3 * math.log(0.8 / 0.5) + 0.3 * math.log(0.5 / 0.2)
    assert found.psi == pytest.approx(index - 1 / 500 - 1 / 200, abs=0.002)
    assert found.js_distance == pytest.approx(0.2704, abs=1e-4)


def test_a_two_proportion_test_is_the_chi_square_of_its_table() -> None:
    found = compare(Hypothesis("rate", RateSample(10, 200), RateSample(40, 200)))
    pooled = 50 / 400
    z = (40 / 200 - 10 / 200) / math.sqrt(pooled * (1 - pooled) * (2 / 200))
    assert found.p_value == pytest.approx(2 * stats.norm.sf(z), rel=1e-9)
    assert (found.baseline_value, found.current_value, found.category) == (0.05, 0.2, None)


def test_small_expected_counts_are_tested_exactly() -> None:
    found = compare(Hypothesis("rate", RateSample(0, 40), RateSample(6, 40)))
    assert found.test == "fisher_exact"
    assert found.p_value == pytest.approx(stats.fisher_exact([[0, 40], [6, 34]]).pvalue)


def test_rare_categories_are_pooled() -> None:
    rare = [[2, 1, 0, 1, 1, 0, 2, 3], [0, 1, 1, 2, 1, 1, 0, 2]]
    table = np.array([[90, *rare[0]], [92, *rare[1]]], dtype=float)
    pooled = pool_rare_categories(table)
    assert pooled.tolist() == [[90, 10], [92, 8]]
    assert pool_rare_categories(np.array([[3.0, 97.0], [2.0, 98.0]])).tolist() == [[97, 3], [98, 2]]


def test_a_kolmogorov_smirnov_test_of_numbers() -> None:
    random = np.random.default_rng(1)
    before, after = random.normal(0, 1, 300), random.normal(0.8, 1, 100)
    found = _compare(NumberSample(list(before)), NumberSample(list(after)))
    assert (found.outcome, found.test) == ("drift", "kolmogorov_smirnov")
    assert found.p_value == pytest.approx(stats.ks_2samp(before, after).pvalue, rel=1e-9)
    assert found.baseline_value == pytest.approx(float(np.median(before)))


@pytest.mark.parametrize(
    ("baseline", "current"),
    [
        (RateSample(1, 1000), RateSample(29, 29)),
        (RateSample(0, 0), RateSample(0, 0)),
        (NumberSample([]), NumberSample([1.0] * 50)),
        (CategorySample({}), CategorySample({"a": 1000})),
    ],
)
def test_too_few_are_not_enough(baseline: Sample, current: Sample) -> None:
    found = _compare(baseline, current)
    assert (found.outcome, found.test, found.p_value) == ("not_enough", None, None)


@pytest.mark.parametrize(
    "sample",
    [
        RateSample(0, 100),
        RateSample(100, 100),
        CategorySample({"a": 90}),
        NumberSample([5.0] * 100),
    ],
)
def test_one_value_only_is_no_drift(sample: Sample) -> None:
    assert _compare(sample, sample).outcome == DriftOutcome.GONE


def test_all_values_replaced_is_drift() -> None:
    for baseline, current in (
        (CategorySample({"a": 100}), CategorySample({"b": 100})),
        (NumberSample([1.0] * 100), NumberSample([2.0] * 100)),
        (RateSample(0, 100), RateSample(100, 100)),
    ):
        assert _compare(baseline, current).outcome == DriftOutcome.DRIFT, baseline


def test_a_significant_difference_without_effect_is_no_drift() -> None:
    before, after = RateSample(50_000, 100_000), RateSample(52_000, 100_000)
    found = _compare(before, after)
    assert found.p_value is not None
    assert found.p_value < 1e-10
    assert found.outcome == DriftOutcome.UNCLEAR
    thresholds = DriftThresholds(min_effect=0.001)
    assert _compare(before, after, thresholds).outcome == DriftOutcome.DRIFT


def test_an_effect_without_significance_is_no_drift() -> None:
    found = _compare(RateSample(15, 35), RateSample(23, 35))
    assert found.psi is not None
    assert found.psi > 0.05
    assert found.outcome == DriftOutcome.UNCLEAR


def test_the_false_discovery_rate_of_all_comparisons_is_controlled() -> None:
    random = np.random.default_rng(3)
    quiet = [
        compare(
            Hypothesis(
                str(n), RateSample(int(random.binomial(500, 0.5)), 500), RateSample(250, 500)
            )
        )
        for n in range(99)
    ]
    thresholds = DriftThresholds(min_effect=0.01)
    weak = compare(Hypothesis("weak", RateSample(250, 500), RateSample(296, 500)), thresholds)
    assert assign_outcomes([weak], thresholds)[0].outcome == DriftOutcome.DRIFT
    found = assign_outcomes([*quiet, weak], thresholds)
    assert found[-1].outcome == DriftOutcome.UNCLEAR
    p_values = [one.p_value for one in found]
    assert [one.q_value for one in found] == pytest.approx(
        list(stats.false_discovery_control([p for p in p_values if p is not None]))
    )


def test_samples_of_different_types_are_an_error() -> None:
    with pytest.raises(ValueError, match="same type"):
        compare(Hypothesis("x", RateSample(1, 100), NumberSample([1.0] * 100)))
