"""Models are compared on the same documents, as scipy's bootstrap does."""

import numpy as np
import pytest

from app.engines.calibration import Outcomes, compare_models, describe_comparison
from tests.references import import_lazily

bootstrap = import_lazily("scipy.stats", "bootstrap")


def _generate(seed: int, documents: int, share: float) -> list[Outcomes]:
    generator = np.random.default_rng(seed)
    correct = generator.binomial(4, share, size=documents)
    return [Outcomes(int(hits), int(4 - hits), 0, 0) for hits in correct]


def test_the_interval_is_that_of_scipy() -> None:
    own, other = _generate(1, 300, 0.8), _generate(2, 300, 0.75)
    comparison = compare_models(own, other)
    assert comparison is not None
    # With corrected values only, F1 is the share of correct ones.
    a, b = (np.array([row.correct for row in rows]) / 4 for rows in (own, other))
    reference = bootstrap(
        (a, b),
        lambda x, y, axis: x.mean(axis) - y.mean(axis),
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=20_000,
        rng=np.random.default_rng(3),
    ).confidence_interval
    assert comparison.difference == pytest.approx(a.mean() - b.mean(), abs=1e-9)
    assert comparison.ci_low == pytest.approx(reference.low, abs=0.004)
    assert comparison.ci_high == pytest.approx(reference.high, abs=0.004)


def test_a_clear_difference_is_told_in_words() -> None:
    comparison = compare_models(_generate(1, 84, 0.95), _generate(2, 84, 0.6))
    assert comparison is not None
    assert comparison.is_significant
    assert comparison.p_value is not None
    assert comparison.p_value < 0.01
    words = describe_comparison(comparison, "new", "old")
    points = f"{comparison.difference * 100:.1f}"
    assert words == f"new is better than old by {points} points of F1 on 84 documents."
    swapped = compare_models(_generate(2, 84, 0.6), _generate(1, 84, 0.95))
    assert swapped is not None
    assert describe_comparison(swapped, "old", "new") == words


def test_no_difference_is_told_in_words() -> None:
    comparison = compare_models(_generate(1, 84, 0.8), _generate(2, 84, 0.8))
    assert comparison is not None
    assert not comparison.is_significant
    sentence = describe_comparison(comparison, "new", "old")
    assert sentence == "No significant difference on 84 documents."


def test_equal_outcomes_have_no_difference() -> None:
    rows = _generate(1, 20, 0.8)
    comparison = compare_models(rows, rows)
    assert comparison is not None
    assert (comparison.difference, comparison.ci_low, comparison.ci_high) == (0, 0, 0)
    assert comparison.p_value == 1
    assert not comparison.is_significant


def test_the_same_outcomes_give_the_same_result() -> None:
    own, other = _generate(1, 50, 0.8), _generate(2, 50, 0.7)
    assert compare_models(own, other) == compare_models(own, other)


def test_missed_and_spurious_values_count_in_f1() -> None:
    own, other = [Outcomes(3, 1, 2, 0)] * 2, [Outcomes(3, 0, 0, 5)] * 2
    comparison = compare_models(own, other)
    assert comparison is not None
    # 2 tp / (2 tp + fp + fn)
    assert comparison.f1 == pytest.approx(6 / (6 + 1 + 3))
    assert comparison.other_f1 == pytest.approx(6 / (6 + 5))


def test_one_document_has_no_interval() -> None:
    comparison = compare_models([Outcomes(1)], [Outcomes(0, 1)])
    assert comparison == (1, 1.0, 0.0, 1.0, None, None, None)
    assert describe_comparison(comparison, "a", "b") == "No significant difference on 1 document."


def test_nothing_is_compared_without_documents() -> None:
    assert compare_models([], []) is None
    assert compare_models([Outcomes()], [Outcomes()]) is None
    words = describe_comparison(None, "a", "b")
    assert words == "Not compared: too few values have feedback on both models."
