"""Convert token probabilities to spans and to candidate scores."""

from dataclasses import dataclass
from typing import Any

from app.engines.extraction.candidates import Candidate, Range

_THRESHOLDS = (0.15, 0.5, 0.85)
_NEUTRAL = 0.3


@dataclass(slots=True)
class SpanScores:
    """The probabilities, for one field, that a token begins a value or is part of a value.

    `sums` has the running sum of `inside`, so that summing a span needs one subtraction.
    """

    begin: list[float]
    inside: list[float]
    sums: list[float]
    decoded: frozenset[Range]
    by_key: dict[str, float]

    def sum_excess(self, candidate: Candidate) -> float:
        """Return by how much the candidate's tokens exceed a neutral probability, in total."""
        return sum(
            self.sums[last + 1] - self.sums[first] - _NEUTRAL * (last + 1 - first)
            for first, last in candidate.ranges
        )

    def describe(self, candidate: Candidate) -> list[float]:
        """Return seven features of a candidate."""
        total = sum(self.sums[last + 1] - self.sums[first] for first, last in candidate.ranges)
        size = sum(last + 1 - first for first, last in candidate.ranges)
        after = candidate.last + 1
        next_inside = self.inside[after] if after < len(self.inside) else 0.0
        previous_inside = self.inside[candidate.first - 1] if candidate.first else 0.0
        mean = total / size
        best_mean = max(self.by_key.get(candidate.key, 0.0), mean)
        span = (candidate.first, candidate.last)
        begin = self.begin[candidate.first]
        return [
            mean,
            begin,
            next_inside,
            previous_inside,
            self.sum_excess(candidate),
            best_mean,
            float(span in self.decoded),
        ]

    def record_best_means(self, candidates: list[Candidate]) -> None:
        """Store, for each candidate key, the highest mean probability of its candidates."""
        for candidate in candidates:
            size = candidate.ranges[0][1] + 1 - candidate.ranges[0][0]
            first, last = candidate.ranges[0]
            mean = (self.sums[last + 1] - self.sums[first]) / size
            self.by_key[candidate.key] = max(self.by_key.get(candidate.key, 0.0), mean)


def build_scores(begin: Any, inside: Any, path: Any, labels: tuple[int, int]) -> SpanScores:
    """Return the scores of one field from its probabilities and the decoded labels."""
    begin_list = begin.tolist()
    inside_list = (begin + inside).tolist()
    sums = [0.0]
    for value in inside_list:
        sums.append(sums[-1] + value)
    return SpanScores(
        begin_list, inside_list, sums, frozenset(_decode_spans(path.tolist(), labels)), {}
    )


def _decode_spans(path: list[int], labels: tuple[int, int]) -> list[Range]:
    spans: list[Range] = []
    begin_label, inside_label = labels
    for index, label in enumerate(path):
        if label == begin_label or (
            label == inside_label and not (spans and spans[-1][1] == index - 1)
        ):
            spans.append((index, index))
        elif label == inside_label:
            spans[-1] = (spans[-1][0], index)
    return spans


def list_spans(scores: SpanScores) -> list[Range]:
    """Return at most 40 spans: decoded spans, and runs of tokens above one of the thresholds."""
    spans = set(scores.decoded)
    for threshold in _THRESHOLDS:
        start = -1
        for index, value in enumerate([*scores.inside, 0.0]):
            if value >= threshold and start < 0:
                start = index
            elif value < threshold and start >= 0:
                spans.add((start, index - 1))
                start = -1
    return sorted(spans)[:40]
