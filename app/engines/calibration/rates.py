"""Compute rates of correct predictions, and confidence intervals for rates."""

from collections.abc import Iterable
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

CONFIDENCE_LEVEL = 0.95
"""The confidence level of all intervals."""
_Z = NormalDist().inv_cdf(0.5 + CONFIDENCE_LEVEL / 2)

Interval = tuple[float, float]


def compute_wilson_interval(successes: float, trials: int) -> Interval | None:
    """Return the 95% Wilson score interval of a rate, or None if there are no trials.

    Wilson, E. B. (1927): Probable inference, the law of succession, and statistical inference.
    """
    if trials == 0:
        return None
    rate = successes / trials
    denominator = 1 + _Z**2 / trials
    center = (rate + _Z**2 / (2 * trials)) / denominator
    margin = _Z / denominator * sqrt(rate * (1 - rate) / trials + _Z**2 / (4 * trials**2))
    # For rates of 0 and 1, rounding errors of about 1e-17 would replace the exact bound.
    low = 0.0 if successes == 0 else max(0.0, center - margin)
    high = 1.0 if successes == trials else min(1.0, center + margin)
    return low, high


class Outcomes(NamedTuple):
    """The number of compared values for each outcome.

    `correct`: predicted correctly. `corrected`: predicted, but a different value is correct.
    `missed`: not predicted. `spurious`: predicted where there is no value.
    """

    correct: int = 0
    corrected: int = 0
    missed: int = 0
    spurious: int = 0

    @property
    def predictions(self) -> int:
        """Return the number of predicted values."""
        return self.correct + self.corrected + self.spurious

    @property
    def total(self) -> int:
        """Return the number of compared values."""
        return self.predictions + self.missed

    @property
    def precision(self) -> float | None:
        """Return the fraction of predictions that are correct, or None without predictions."""
        return _divide(self.correct, self.predictions)

    @property
    def recall(self) -> float | None:
        """Return the fraction of correct values that were predicted.

        Returns None if there are no correct values.
        """
        return _divide(self.correct, self.correct + self.corrected + self.missed)

    @property
    def f1(self) -> float | None:
        """Return the harmonic mean of precision and recall, or None if nothing was compared."""
        return _divide(2 * self.correct, self.predictions + self.total - self.spurious)

    @property
    def accuracy(self) -> float | None:
        """Return the fraction of compared values that are correct; None if nothing was compared."""
        return _divide(self.correct, self.total)

    @property
    def accuracy_interval(self) -> Interval | None:
        """Return the 95% confidence interval of the accuracy, or None if nothing was compared."""
        return compute_wilson_interval(self.correct, self.total)


def merge_outcomes(rows: Iterable[Outcomes]) -> Outcomes:
    """Merge several outcomes into one by adding up their counts."""
    return Outcomes(*map(sum, zip(*rows, strict=True)))


def _divide(part: int, whole: int) -> float | None:
    return part / whole if whole else None
