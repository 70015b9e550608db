"""Convert scores to confidences by Platt scaling on documents outside the training data."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_BINS = 10
_MIN_PROPOSALS = 10


@dataclass(frozen=True, slots=True)
class Calibration:
    """The parameters of Platt scaling for one field.

    `odds` is the coefficient of a proposal's log odds. `margin` is the coefficient of its lead over
    the next best value.
    """

    odds: float
    margin: float
    constant: float

    def apply(self, odds: float, margin: float) -> float:
        """Convert a proposal's log odds and margin to a confidence from 0 to 1."""
        total = self.odds * odds + self.margin * margin + self.constant
        return 1 / (1 + math.exp(-max(min(total, 30.0), -30.0)))


DEFAULT_CALIBRATION = Calibration(0.7, 0.1, -0.3)


def fit_calibration(points: Sequence[tuple[float, float]], correct: Sequence[bool]) -> Calibration:
    """Fit a calibration to the (log odds, margin) of proposals and whether each was correct.

    Return DEFAULT_CALIBRATION if there are too few proposals.
    """
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

    count, correct_count = len(points), sum(correct)
    if count < _MIN_PROPOSALS:
        return DEFAULT_CALIBRATION
    # Two added rows, one correct and one incorrect, keep the confidence away from 0 and 1.
    rows = np.array([*points, np.mean(points, axis=0), np.mean(points, axis=0)])
    labels = np.array([*correct, True, False])
    if correct_count in (0, count):
        rate = (correct_count + 1) / (count + 2)
        return Calibration(0.0, 0.0, math.log(rate / (1 - rate)))
    fitted: Any = LogisticRegression(C=1.0, max_iter=500).fit(rows, labels)
    odds, margin = (max(float(value), 0.0) for value in fitted.coef_[0])
    return Calibration(odds, margin, _fit_constant(rows, labels, odds, margin))


def _fit_constant(rows: Any, labels: Any, odds: float, margin: float) -> float:
    """Find the constant with which the mean confidence equals the share of correct proposals."""
    totals = rows @ np.array([odds, margin])
    low, high, share = -60.0, 60.0, float(labels.mean())
    for _ in range(60):
        middle = (low + high) / 2
        mean = float((1 / (1 + np.exp(-np.clip(totals + middle, -30, 30)))).mean())
        low, high = (middle, high) if mean < share else (low, middle)
    return (low + high) / 2


def build_bins(pairs: Sequence[tuple[float, bool]]) -> list[tuple[float, float, int, float, float]]:
    """Return (low, high, count, mean confidence, accuracy) for each interval with proposals.

    `pairs` has each proposal's confidence and whether it was correct.
    """
    bins = []
    for number in range(_BINS):
        low, high = number / _BINS, (number + 1) / _BINS
        bin_pairs = [
            (c, ok) for c, ok in pairs if low <= c < high or (number == _BINS - 1 and c == 1)
        ]
        if bin_pairs:
            mean = sum(c for c, _ in bin_pairs) / len(bin_pairs)
            bins.append(
                (low, high, len(bin_pairs), mean, sum(ok for _, ok in bin_pairs) / len(bin_pairs))
            )
    return bins
