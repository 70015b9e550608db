"""Compare predictions with correct values: compute rates, calibration errors and thresholds.

Two models can also be compared. The intervals of rates are Wilson score intervals. Predictions are
counted in confidence bins that are 0.01 wide, so the metrics of any period can be computed from
sums of counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from app.engines.plurals import format_count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CONFIDENCE_LEVEL = 0.95
"""The confidence level of all intervals."""
_Z = NormalDist().inv_cdf(0.5 + CONFIDENCE_LEVEL / 2)
Interval = tuple[float, float]
MILLION = 1_000_000
"""The factor that converts confidences to millionths, whose sums are exact in any order."""
BIN_COUNT = 100
"""The number of confidence bins in which predictions are counted."""
CURVE_BIN_COUNT = 10
"""The number of bins for a calibration curve and for the expected calibration error."""
RESAMPLE_COUNT = 1000
_SEED = 20_261_202
_BATCH_SIZE = 200


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
        """Return the fraction of predictions that are correct; None if there are no predictions."""
        return _divide(self.correct, self.predictions)

    @property
    def recall(self) -> float | None:
        """Return the correctly predicted fraction of existing values; None if no value exists."""
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


def merge_outcomes(outcomes: Iterable[Outcomes]) -> Outcomes:
    """Merge several outcomes into one by adding up their counts."""
    return Outcomes(*map(sum, zip(*outcomes, strict=True)))


def _divide(part: int, whole: int) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True, slots=True)
class ConfidenceBin:
    """The predictions whose confidence is in [low, high); the last bin includes a confidence of 1.

    `count` must not be 0. `confidence_sum` is in millionths.
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

    `counts` contains (bin number, count, correct, confidence sum in millionths); bins may repeat.
    """
    merged_counts: dict[int, list[int]] = {}
    for number, *values in counts:
        bin_counts = merged_counts.setdefault(number * CURVE_BIN_COUNT // BIN_COUNT, [0, 0, 0])
        for position, value in enumerate(values):
            bin_counts[position] += value
    return [
        ConfidenceBin(number / CURVE_BIN_COUNT, (number + 1) / CURVE_BIN_COUNT, *bin_counts)
        for number, bin_counts in sorted(merged_counts.items())
        if bin_counts[0]
    ]


def compute_calibration_error(bins: Sequence[ConfidenceBin]) -> float | None:
    """Return the expected calibration error: the mean gap between confidence and accuracy.

    Each bin is weighted by its number of predictions. Returns None if there are no predictions.
    Guo, C. et al. (2017): On calibration of modern neural networks.
    """
    total = sum(confidence_bin.count for confidence_bin in bins)
    if total == 0:
        return None
    gaps = (abs(item.accuracy - item.confidence) * item.count for item in bins)
    return sum(gaps) / total


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
    recommended_threshold = None
    for number, (bin_count, bin_correct) in sorted(counts.items(), reverse=True):
        if bin_count == 0:
            continue
        predictions += bin_count
        correct += bin_correct
        interval = compute_wilson_interval(correct, predictions)
        if interval is not None and interval[0] >= target:
            coverage = predictions / total
            precision = correct / predictions
            value = number / BIN_COUNT
            recommended_threshold = Threshold(value, precision, *interval, predictions, coverage)
    return recommended_threshold


class ModelComparison(NamedTuple):
    """The difference in F1 between two models on the same documents.

    `difference` is `f1` minus `other_f1`; `ci_low` and `ci_high` are the bounds of its confidence
    interval. `p_value` is two-sided. The bounds and `p_value` are None for a single document.
    """

    documents: int
    f1: float
    other_f1: float
    difference: float
    ci_low: float | None
    ci_high: float | None
    p_value: float | None

    @property
    def is_significant(self) -> bool:
        """Return whether the confidence interval of the difference excludes zero."""
        if self.ci_low is None or self.ci_high is None:
            return False
        return self.ci_low > 0 or self.ci_high < 0


def compare_models(
    outcomes: Sequence[Outcomes], other_outcomes: Sequence[Outcomes]
) -> ModelComparison | None:
    """Compare the outcomes of two models on the same documents, in the same order.

    Documents are resampled `RESAMPLE_COUNT` times, each with the outcomes of both models. The seed
    is constant, so the same outcomes always give the same result. The interval consists of
    percentiles of the resampled differences. Batches of `_BATCH_SIZE` samples limit the memory.

    Returns None if there are no documents, or if a model has no values to compare.
    Efron, B. and Tibshirani, R. (1993): An introduction to the bootstrap, sections 13.3 and 16.4.
    """
    f1, other_f1 = (merge_outcomes(counts).f1 for counts in (outcomes, other_outcomes))
    if f1 is None or other_f1 is None:
        return None
    # One document has no variance.
    has_variance = len(outcomes) > 1
    estimates = _resample_f1(outcomes, other_outcomes) if has_variance else (None, None, None)
    return ModelComparison(len(outcomes), f1, other_f1, f1 - other_f1, *estimates)


def _resample_f1(
    outcomes: Sequence[Outcomes], other_outcomes: Sequence[Outcomes]
) -> tuple[float, float, float]:
    """Resample the documents; return the interval (low, high) and p-value of the F1 difference."""
    import numpy as np  # noqa: PLC0415 - numpy, which few processes need

    pairs = np.asarray(
        [[*a, *b] for a, b in zip(outcomes, other_outcomes, strict=True)], dtype=np.int64
    )
    generator = np.random.Generator(np.random.PCG64(_SEED))
    document_count = len(pairs)
    # Documents with equal outcomes are sampled together, which takes less time.
    distinct_pairs, counts = np.unique(pairs, axis=0, return_counts=True)
    probabilities = counts / document_count
    differences: list[NDArray[np.float64]] = []
    for start in range(0, RESAMPLE_COUNT, _BATCH_SIZE):
        batch_size = min(_BATCH_SIZE, RESAMPLE_COUNT - start)
        resampled_sums = (
            generator.multinomial(document_count, probabilities, size=batch_size) @ distinct_pairs
        )
        differences.append(_compute_f1(resampled_sums[:, :4]) - _compute_f1(resampled_sums[:, 4:]))
    resampled_differences = np.concatenate(differences)
    tail = (1 - CONFIDENCE_LEVEL) / 2
    low, high = np.quantile(resampled_differences, [tail, 1 - tail])
    # The observed outcomes count as one more resample, so that the p-value is never zero.
    below_fraction = (1 + np.count_nonzero(resampled_differences <= 0)) / (RESAMPLE_COUNT + 1)
    above_fraction = (1 + np.count_nonzero(resampled_differences >= 0)) / (RESAMPLE_COUNT + 1)
    return float(low), float(high), float(min(1.0, 2 * min(below_fraction, above_fraction)))


def _compute_f1(sums: "NDArray[np.int64]") -> "NDArray[np.float64]":
    """Return the F1 score for each row of outcomes; 0 for rows without compared values."""
    correct, corrected, missed, spurious = sums.T
    denominator = 2 * (correct + corrected) + missed + spurious
    scores: NDArray[np.float64] = 2 * correct / denominator.clip(min=1)
    return scores


def describe_comparison(comparison: ModelComparison | None, model: str, other_model: str) -> str:
    """Describe in a sentence which model is better, or why neither model is known to be better."""
    if comparison is None:
        return "Not compared: too few values have feedback on both models."
    documents_text = format_count(comparison.documents, "document", "documents")
    if not comparison.is_significant:
        return f"No significant difference on {documents_text}."
    better, worse = (model, other_model) if comparison.difference > 0 else (other_model, model)
    points = abs(comparison.difference) * 100
    return f"{better} is better than {worse} by {points:.1f} points of F1 on {documents_text}."
