"""Convert log odds to confidences by Platt scaling, fitted to out-of-fold proposals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from app.engines.extraction.model import CalibrationBin

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BIN_COUNT = 10
_MIN_PROPOSALS = 10


@dataclass(frozen=True, slots=True)
class Calibration:
    """The parameters of Platt scaling for one field.

    `log_odds_weight` and `margin_weight` are the coefficients of a proposal's log odds and margin
    (see `CandidateChoice`), and `constant` is the intercept.
    """

    log_odds_weight: float
    margin_weight: float
    constant: float

    def apply(self, log_odds: float, margin: float) -> float:
        """Apply the calibration: convert log odds and a margin to a confidence from 0 to 1."""
        total = self.log_odds_weight * log_odds + self.margin_weight * margin + self.constant
        return 1 / (1 + math.exp(-max(min(total, 30.0), -30.0)))


DEFAULT_CALIBRATION = Calibration(0.7, 0.1, -0.3)


def fit_calibration(points: Sequence[tuple[float, float]], correct: Sequence[bool]) -> Calibration:
    """Fit a calibration to proposals.

    `points` contains (log odds, margin) for each proposal, and `correct` states whether each
    proposal was correct. Returns DEFAULT_CALIBRATION if there are too few proposals. If all
    proposals are correct or none is, the calibration gives every proposal the same confidence.
    """
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

    count, correct_count = len(points), sum(correct)
    if count < _MIN_PROPOSALS:
        return DEFAULT_CALIBRATION
    # Two added rows, one correct and one incorrect, keep the confidence away from 0 and 1.
    rows = np.array([*points, np.mean(points, axis=0), np.mean(points, axis=0)])
    is_correct = np.array([*correct, True, False])
    if correct_count in (0, count):
        rate = (correct_count + 1) / (count + 2)
        return Calibration(0.0, 0.0, math.log(rate / (1 - rate)))
    classifier: LogisticRegression = LogisticRegression(C=1.0, max_iter=500).fit(rows, is_correct)
    log_odds_weight, margin_weight = (max(float(value), 0.0) for value in classifier.coef_[0])
    constant = _fit_constant(rows, is_correct, log_odds_weight, margin_weight)
    return Calibration(log_odds_weight, margin_weight, constant)


def _fit_constant(
    rows: "NDArray[np.float64]",
    is_correct: "NDArray[np.bool_]",
    log_odds_weight: float,
    margin_weight: float,
) -> float:
    """Fit the constant, so that the mean confidence of rows equals the fraction of correct rows."""
    totals = rows @ np.array([log_odds_weight, margin_weight])
    low, high, correct_fraction = -60.0, 60.0, float(is_correct.mean())
    for _ in range(60):
        middle = (low + high) / 2
        mean = float((1 / (1 + np.exp(-np.clip(totals + middle, -30, 30)))).mean())
        low, high = (middle, high) if mean < correct_fraction else (low, middle)
    return (low + high) / 2


def build_bins(pairs: Sequence[tuple[float, bool]]) -> list[CalibrationBin]:
    """Group proposals into ten bins by confidence. Bins without proposals are omitted.

    `pairs` contains (confidence, whether the proposal was correct) for each proposal.
    """
    bins = []
    for number in range(_BIN_COUNT):
        low, high = number / _BIN_COUNT, (number + 1) / _BIN_COUNT
        bin_pairs = [
            (c, ok) for c, ok in pairs if low <= c < high or (number == _BIN_COUNT - 1 and c == 1)
        ]
        if bin_pairs:
            count = len(bin_pairs)
            mean = sum(c for c, _ in bin_pairs) / count
            accuracy = sum(ok for _, ok in bin_pairs) / count
            bins.append(CalibrationBin(low, high, count, mean, accuracy))
    return bins
