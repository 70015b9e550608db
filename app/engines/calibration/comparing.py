"""Compare two models on the same documents with a paired bootstrap."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from app.engines.calibration.rates import CONFIDENCE_LEVEL, Outcomes, merge_outcomes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 1000
_SEED = 20_261_202
_BATCH_SIZE = 200


class ModelComparison(NamedTuple):
    """The difference in F1 between two models on the same documents.

    `difference` is `f1` minus `other_f1`. `p_value` is two-sided. The interval and the p-value are
    None if there are fewer than two documents.
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
        return (
            self.ci_low is not None
            and self.ci_high is not None
            and (self.ci_low > 0 or self.ci_high < 0)
        )


def compare_models(
    outcomes: Sequence[Outcomes], other_outcomes: Sequence[Outcomes]
) -> ModelComparison | None:
    """Compare the outcomes of two models on the same documents, in the same order.

    Documents are resampled `RESAMPLES` times, each with the outcomes of both models. The seed is
    constant, so the same outcomes always give the same result. The interval consists of percentiles
    of the resampled differences. At most `_BATCH_SIZE` resamples are in memory at a time.

    Returns None if there are no documents or no values to compare.

    Efron, B. and Tibshirani, R. (1993): An introduction to the bootstrap, sections 13.3 and 16.4.
    """
    f1, other_f1 = (merge_outcomes(rows).f1 for rows in (outcomes, other_outcomes))
    if f1 is None or other_f1 is None:
        return None
    # One document has no variance.
    has_variance = len(outcomes) > 1
    interval = _resample(outcomes, other_outcomes) if has_variance else (None, None, None)
    return ModelComparison(len(outcomes), f1, other_f1, f1 - other_f1, *interval)


def _resample(
    outcomes: Sequence[Outcomes], other_outcomes: Sequence[Outcomes]
) -> tuple[float, float, float]:
    """Resample the documents; return the bounds of the difference (low, high) and the p-value."""
    import numpy as np  # noqa: PLC0415 - numpy, which few processes need

    pairs = np.asarray(
        [[*a, *b] for a, b in zip(outcomes, other_outcomes, strict=True)], dtype=np.int64
    )
    generator = np.random.Generator(np.random.PCG64(_SEED))
    documents = len(pairs)
    # Documents with equal outcomes are sampled together, which takes less time.
    distinct_pairs, counts = np.unique(pairs, axis=0, return_counts=True)
    probabilities = counts / documents
    differences: list[NDArray[np.float64]] = []
    for start in range(0, RESAMPLES, _BATCH_SIZE):
        batch_size = min(_BATCH_SIZE, RESAMPLES - start)
        resampled_sums = (
            generator.multinomial(documents, probabilities, size=batch_size) @ distinct_pairs
        )
        differences.append(_compute_f1(resampled_sums[:, :4]) - _compute_f1(resampled_sums[:, 4:]))
    resampled = np.concatenate(differences)
    tail = (1 - CONFIDENCE_LEVEL) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail])
    # The observed outcomes count as one more resample, so that the p-value is never zero.
    below_fraction = (1 + np.count_nonzero(resampled <= 0)) / (RESAMPLES + 1)
    above_fraction = (1 + np.count_nonzero(resampled >= 0)) / (RESAMPLES + 1)
    return float(low), float(high), float(min(1.0, 2 * min(below_fraction, above_fraction)))


def _compute_f1(sums: "NDArray[np.int64]") -> "NDArray[np.float64]":
    """Return the F1 score for each row of outcomes; 0 for rows without compared values."""
    correct, corrected, missed, spurious = sums.T
    denominator = 2 * (correct + corrected) + missed + spurious
    scores: NDArray[np.float64] = 2 * correct / denominator.clip(min=1)
    return scores


def describe_comparison(comparison: ModelComparison | None, model: str, other_model: str) -> str:
    """Describe a comparison in a sentence: better model, F1 difference, number of documents."""
    if comparison is None:
        return "Not compared: no document has feedback on both models."
    noun = "document" if comparison.documents == 1 else "documents"
    documents_text = f"{comparison.documents:,} {noun}"
    if not comparison.is_significant:
        return f"No significant difference on {documents_text}."
    better, worse = (model, other_model) if comparison.difference > 0 else (other_model, model)
    points = abs(comparison.difference) * 100
    return f"{better} is better than {worse} by {points:.1f} points of F1 on {documents_text}."
