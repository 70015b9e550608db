"""Convert the token probabilities of a conditional random field to spans and candidate scores."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.engines.extraction.candidates import Candidate, Range

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PROBABILITY_THRESHOLDS = (0.15, 0.5, 0.85)
_NEUTRAL_PROBABILITY = 0.3


@dataclass(slots=True)
class SpanScores:
    """For each token, the probability that it begins (`begin`) or is in (`inside`) a field's value.

    `prefix_sums` contains the running sum of `inside`, so that summing a span needs one
    subtraction. `decoded_spans` contains the spans in the most likely label sequence. `best_means`
    maps the key of each candidate to the mean of `inside` over its first line; of candidates with
    equal keys, the highest mean is used.
    """

    begin: list[float]
    inside: list[float]
    prefix_sums: list[float]
    decoded_spans: frozenset[Range]
    best_means: dict[str, float]

    def sum_excess_probability(self, candidate: Candidate) -> float:
        """Return the sum of `inside` - _NEUTRAL_PROBABILITY over the tokens of a candidate."""
        return sum(
            self.prefix_sums[last + 1]
            - self.prefix_sums[first]
            - _NEUTRAL_PROBABILITY * (last + 1 - first)
            for first, last in candidate.ranges
        )

    def compute_features(self, candidate: Candidate) -> list[float]:
        """Compute the seven features of a candidate that are based on these scores."""
        total = sum(
            self.prefix_sums[last + 1] - self.prefix_sums[first] for first, last in candidate.ranges
        )
        size = sum(last + 1 - first for first, last in candidate.ranges)
        after = candidate.last + 1
        next_inside = self.inside[after] if after < len(self.inside) else 0.0
        previous_inside = self.inside[candidate.first - 1] if candidate.first else 0.0
        mean = total / size
        best_mean = max(self.best_means.get(candidate.key, 0.0), mean)
        span = (candidate.first, candidate.last)
        begin = self.begin[candidate.first]
        return [
            mean,
            begin,
            next_inside,
            previous_inside,
            self.sum_excess_probability(candidate),
            best_mean,
            float(span in self.decoded_spans),
        ]

    def record_best_means(self, candidates: list[Candidate]) -> None:
        """Update `best_means` with the means of the candidates' first lines."""
        for candidate in candidates:
            size = candidate.ranges[0][1] + 1 - candidate.ranges[0][0]
            first, last = candidate.ranges[0]
            mean = (self.prefix_sums[last + 1] - self.prefix_sums[first]) / size
            self.best_means[candidate.key] = max(self.best_means.get(candidate.key, 0.0), mean)


def build_scores(
    begin: "NDArray[np.float64]",
    continuation: "NDArray[np.float64]",
    decoded_labels: "NDArray[np.int64]",
    labels: tuple[int, int],
) -> SpanScores:
    """Build the span scores for one field.

    `begin` and `continuation` contain, for each token, the probability that it begins or continues
    a value. `labels` are the numbers of these two labels, and `decoded_labels` is the most likely
    label of each token.
    """
    begin_list = begin.tolist()
    inside_list = (begin + continuation).tolist()
    prefix_sums = [0.0]
    for value in inside_list:
        prefix_sums.append(prefix_sums[-1] + value)
    return SpanScores(
        begin_list,
        inside_list,
        prefix_sums,
        frozenset(_decode_spans(decoded_labels.tolist(), labels)),
        {},
    )


def _decode_spans(decoded_labels: list[int], labels: tuple[int, int]) -> list[Range]:
    spans: list[Range] = []
    begin_label, inside_label = labels
    for index, label in enumerate(decoded_labels):
        if label == begin_label or (
            label == inside_label and not (spans and spans[-1][1] == index - 1)
        ):
            spans.append((index, index))
        elif label == inside_label:
            spans[-1] = (spans[-1][0], index)
    return spans


def list_spans(scores: SpanScores) -> list[Range]:
    """Return the spans that may contain a value, at most the first 40.

    These are the decoded spans, and the runs of tokens whose `inside` reaches one of the
    _PROBABILITY_THRESHOLDS.
    """
    spans = set(scores.decoded_spans)
    for threshold in _PROBABILITY_THRESHOLDS:
        start = -1
        for index, value in enumerate([*scores.inside, 0.0]):
            if value >= threshold and start < 0:
                start = index
            elif value < threshold and start >= 0:
                spans.add((start, index - 1))
                start = -1
    return sorted(spans)[:40]
