"""Rates and their intervals equal those of statsmodels and scikit-learn."""

import pytest

from app.engines.calibration import Outcomes, compute_wilson_interval
from tests.references import import_lazily

precision_recall_fscore_support = import_lazily(
    "sklearn.metrics", "precision_recall_fscore_support"
)
proportion_confint = import_lazily("statsmodels.stats.proportion", "proportion_confint")


@pytest.mark.parametrize("trials", [1, 2, 3, 10, 84, 1000, 1_000_000])
def test_the_interval_equals_statsmodels(trials: int) -> None:
    for successes in {0, 1, trials // 3, trials // 2, trials - 1, trials}:
        expected = proportion_confint(successes, trials, alpha=0.05, method="wilson")
        assert compute_wilson_interval(successes, trials) == pytest.approx(expected, abs=1e-9)


def test_the_interval_stays_within_zero_and_one() -> None:
    assert compute_wilson_interval(0, 5) == (0.0, pytest.approx(0.4344825, abs=1e-6))
    assert compute_wilson_interval(5, 5) == (pytest.approx(0.5655175, abs=1e-6), 1.0)


def test_there_is_no_interval_without_trials() -> None:
    assert compute_wilson_interval(0, 0) is None


def test_the_rates_equal_scikit_learn() -> None:
    # One class per value; 0 means no value. Each corrected value is a miss and a false alarm.
    right = [1] * 70 + [1] * 12 + [1] * 8 + [0] * 5
    predicted = [1] * 70 + [2] * 12 + [0] * 8 + [1] * 5
    precision, recall, f1, _ = precision_recall_fscore_support(
        right, predicted, labels=[1, 2], average="micro"
    )
    outcomes = Outcomes(correct=70, corrected=12, missed=8, spurious=5)
    assert outcomes.predictions == 87
    assert outcomes.precision == pytest.approx(precision, abs=1e-9)
    assert outcomes.recall == pytest.approx(recall, abs=1e-9)
    assert outcomes.f1 == pytest.approx(f1, abs=1e-9)
    assert outcomes.accuracy == pytest.approx(70 / 95, abs=1e-9)
    expected = proportion_confint(70, 95, method="wilson")
    assert outcomes.accuracy_interval == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("outcomes", "rates"),
    [
        (Outcomes(), (None, None, None, None)),
        (Outcomes(missed=3), (None, 0.0, 0.0, 0.0)),
        (Outcomes(spurious=3), (0.0, None, 0.0, 0.0)),
        (Outcomes(correct=3), (1.0, 1.0, 1.0, 1.0)),
    ],
)
def test_rates_without_a_base_are_none(outcomes: Outcomes, rates: tuple[float | None, ...]) -> None:
    shown = (outcomes.precision, outcomes.recall, outcomes.f1, outcomes.accuracy)
    assert shown == rates
