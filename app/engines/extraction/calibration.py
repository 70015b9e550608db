"""Turn scores into confidences: Platt scaling on scores of documents that were not trained on."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_BINS = 10
_FEW = 30


@dataclass(frozen=True, slots=True)
class Scale:
    """The coefficients of the log odds and of the margin over the next value, and a constant."""

    odds: float
    margin: float
    constant: float

    def apply(self, odds: float, margin: float) -> float:
        """Return the confidence."""
        total = self.odds * odds + self.margin * margin + self.constant
        return 1 / (1 + math.exp(-max(min(total, 30.0), -30.0)))


DEFAULT = Scale(0.7, 0.1, -0.3)


def fit_scale(points: Sequence[tuple[float, float]], correct: Sequence[bool]) -> Scale:
    """Fit the scale on (log odds, margin) and whether each proposal was correct."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

    count, right = len(points), sum(correct)
    if count < _FEW // 3:
        return DEFAULT
    # Two pseudo-documents keep the confidence off 0 and 1 when all are correct or none.
    rows = np.array([*points, np.mean(points, axis=0), np.mean(points, axis=0)])
    labels = np.array([*correct, True, False])
    if right in (0, count) or count < _FEW:
        rate = (right + 1) / (count + 2)
        if right in (0, count):
            return Scale(0.0, 0.0, math.log(rate / (1 - rate)))
    fitted: Any = LogisticRegression(C=1.0, max_iter=500).fit(rows, labels)
    odds, margin = (max(float(value), 0.0) for value in fitted.coef_[0])
    return Scale(odds, margin, _fit_constant(rows, labels, odds, margin))


def _fit_constant(rows: Any, labels: Any, odds: float, margin: float) -> float:
    """Return the constant for which the mean confidence equals the share of correct proposals."""
    totals = rows @ np.array([odds, margin])
    low, high, share = -60.0, 60.0, float(labels.mean())
    for _ in range(60):
        middle = (low + high) / 2
        mean = float((1 / (1 + np.exp(-np.clip(totals + middle, -30, 30)))).mean())
        low, high = (middle, high) if mean < share else (low, middle)
    return (low + high) / 2


def build_bins(pairs: Sequence[tuple[float, bool]]) -> list[tuple[float, float, int, float, float]]:
    """Return (low, high, count, mean confidence, accuracy) of ten equal intervals that occur."""
    bins = []
    for number in range(_BINS):
        low, high = number / _BINS, (number + 1) / _BINS
        inside = [(c, ok) for c, ok in pairs if low <= c < high or (number == _BINS - 1 and c == 1)]
        if inside:
            mean = sum(c for c, _ in inside) / len(inside)
            bins.append((low, high, len(inside), mean, sum(ok for _, ok in inside) / len(inside)))
    return bins
