"""The calibration error equals the one computed from scikit-learn's calibration curve."""

import numpy as np
import pytest

from app.engines.calibration import (
    MILLION,
    compute_calibration_error,
    get_bin_number,
    merge_bins,
)
from tests.references import import_lazily

calibration_curve = import_lazily("sklearn.calibration", "calibration_curve")


@pytest.mark.parametrize("seed", range(5))
def test_the_error_equals_scikit_learn(seed: int) -> None:
    generator = np.random.default_rng(seed)
    # Rounded as confidences are stored; none is on the edge of a bin.
    confidences = np.round(generator.uniform(size=3000), 6)
    confidences = confidences[np.abs(confidences * 10 % 1) > 1e-6]
    correct = generator.uniform(size=len(confidences)) < confidences**2
    bins = merge_bins(
        (get_bin_number(one), 1, int(hit), round(one * MILLION))
        for one, hit in zip(confidences.tolist(), correct.tolist(), strict=True)
    )
    accuracies, means = calibration_curve(correct, confidences, n_bins=10, strategy="uniform")
    assert [one.accuracy for one in bins] == pytest.approx(accuracies, abs=1e-9)
    assert [one.confidence for one in bins] == pytest.approx(means, abs=1e-9)
    sizes = np.histogram(confidences, bins=np.linspace(0, 1, 11))[0]
    expected = float(np.sum(sizes * np.abs(accuracies - means)) / len(confidences))
    assert compute_calibration_error(bins) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("confidence", "number"),
    [(0.0, 0), (0.0099, 0), (0.01, 1), (0.29, 29), (0.57, 57), (0.999999, 99), (1.0, 99)],
)
def test_a_bin_includes_its_lower_bound(confidence: float, number: int) -> None:
    assert get_bin_number(confidence) == number


def test_empty_bins_are_left_out() -> None:
    bins = merge_bins([(3, 2, 1, 70_000), (9, 1, 1, 90_000), (99, 4, 4, 4_000_000), (50, 0, 0, 0)])
    assert [(one.low, one.high, one.count, one.correct) for one in bins] == [
        (0.0, 0.1, 3, 2),
        (0.9, 1.0, 4, 4),
    ]
    assert bins[0].confidence == pytest.approx(0.16 / 3)


def test_there_is_no_error_without_predictions() -> None:
    assert compute_calibration_error([]) is None
