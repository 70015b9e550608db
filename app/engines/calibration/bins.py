"""Confidence counts in bins of equal width, and the expected calibration error."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MILLION = 1_000_000
"""Confidences are summed up in millionths, so that sums do not depend on their order."""
BIN_COUNT = 100
"""The number of bins in which confidences are counted."""
CURVE_BIN_COUNT = 10
"""The number of bins for a calibration curve and for the expected calibration error."""


@dataclass(frozen=True, slots=True)
class ConfidenceBin:
    """The predictions whose confidence is in [low, high), or up to 1 in the last bin.

    `confidence_sum` is in millionths.
    """

    low: float
    high: float
    count: int
    correct: int
    confidence_sum: int

    @property
    def confidence(self) -> float:
        """Return the mean confidence."""
        return self.confidence_sum / MILLION / self.count

    @property
    def accuracy(self) -> float:
        """Return the share of correct predictions."""
        return self.correct / self.count


def get_bin_number(confidence: float) -> int:
    """Return the number of the bin that counts this confidence; the first is 0."""
    return min(BIN_COUNT - 1, round(confidence * MILLION) * BIN_COUNT // MILLION)


def merge_bins(counts: Iterable[tuple[int, int, int, int]]) -> list[ConfidenceBin]:
    """Return the non-empty bins of a calibration curve.

    `counts` has (bin number, count, correct, confidence sum); bin numbers may repeat.
    """
    sums: dict[int, list[int]] = {}
    for number, *values in counts:
        merged = sums.setdefault(number * CURVE_BIN_COUNT // BIN_COUNT, [0, 0, 0])
        for position, value in enumerate(values):
            merged[position] += value
    return [
        ConfidenceBin(number / CURVE_BIN_COUNT, (number + 1) / CURVE_BIN_COUNT, *sums[number])
        for number in sorted(sums)
        if sums[number][0]
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
