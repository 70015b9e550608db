"""Count predictions in bins by confidence, and compute the expected calibration error."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MILLION = 1_000_000
"""The factor that converts confidences to millionths.

Confidences are summed as integers, so that the sum does not depend on the order of addition.
"""
BIN_COUNT = 100
"""The number of confidence bins in which predictions are counted."""
CURVE_BIN_COUNT = 10
"""The number of bins for a calibration curve and for the expected calibration error."""


@dataclass(frozen=True, slots=True)
class ConfidenceBin:
    """The predictions whose confidence is in [low, high); the last bin includes a confidence of 1.

    `confidence_sum` is in millionths.
    """

    low: float
    high: float
    count: int
    correct: int
    confidence_sum: int

    @property
    def confidence(self) -> float:
        """Return the mean confidence of the predictions."""
        return self.confidence_sum / MILLION / self.count

    @property
    def accuracy(self) -> float:
        """Return the fraction of predictions that are correct."""
        return self.correct / self.count


def get_bin_number(confidence: float) -> int:
    """Return the number of the bin for a confidence; the first bin has the number 0."""
    return min(BIN_COUNT - 1, round(confidence * MILLION) * BIN_COUNT // MILLION)


def merge_bins(counts: Iterable[tuple[int, int, int, int]]) -> list[ConfidenceBin]:
    """Merge confidence bins into the bins of a calibration curve, without empty bins.

    `counts` contains (bin number, count, correct, confidence sum) tuples; bin numbers may repeat.
    """
    merged_counts: dict[int, list[int]] = {}
    for number, *values in counts:
        bin_counts = merged_counts.setdefault(number * CURVE_BIN_COUNT // BIN_COUNT, [0, 0, 0])
        for position, value in enumerate(values):
            bin_counts[position] += value
    return [
        ConfidenceBin(
            number / CURVE_BIN_COUNT, (number + 1) / CURVE_BIN_COUNT, *merged_counts[number]
        )
        for number in sorted(merged_counts)
        if merged_counts[number][0]
    ]


def compute_calibration_error(bins: Sequence[ConfidenceBin]) -> float | None:
    """Return the expected calibration error: the mean gap between confidence and accuracy.

    Each bin is weighted by its number of predictions. Returns None if there are no predictions.

    Guo, C. et al. (2017): On calibration of modern neural networks.
    """
    total = sum(confidence_bin.count for confidence_bin in bins)
    if total == 0:
        return None
    return (
        sum(
            confidence_bin.count * abs(confidence_bin.accuracy - confidence_bin.confidence)
            for confidence_bin in bins
        )
        / total
    )
