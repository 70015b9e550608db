"""Recommend confidence thresholds for a target precision."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.engines.calibration.bins import BIN_COUNT
from app.engines.calibration.rates import compute_wilson_interval


@dataclass(frozen=True, slots=True)
class Threshold:
    """A recommended confidence threshold, with the precision and coverage at this threshold.

    `predictions` is the number of predictions whose confidence is at least `value`. `precision` and
    its interval are computed from these predictions. `coverage` is their number divided by the
    number of all predictions.
    """

    value: float
    precision: float
    ci_low: float
    ci_high: float
    predictions: int
    coverage: float


def recommend_threshold(counts: Mapping[int, tuple[int, int]], target: float) -> Threshold | None:
    """Recommend the lowest threshold at which the precision is likely to reach `target`.

    The lower bound of the 95% confidence interval of the precision must be at least `target`.

    `counts` maps bin numbers to (count, correct). Possible thresholds are the lower bounds of bins
    that are not empty. Returns None if no threshold reaches the target.
    """
    total = sum(count for count, _ in counts.values())
    predictions = correct = 0
    recommended = None
    for number in sorted(counts, reverse=True):
        bin_count, bin_correct = counts[number]
        if bin_count == 0:
            continue
        predictions += bin_count
        correct += bin_correct
        interval = compute_wilson_interval(correct, predictions)
        if interval is not None and interval[0] >= target:
            coverage = predictions / total
            precision = correct / predictions
            value = number / BIN_COUNT
            recommended = Threshold(value, precision, *interval, predictions, coverage)
    return recommended
