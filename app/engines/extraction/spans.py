"""Turn the probabilities of tokens into spans and into scores of candidates."""

from dataclasses import dataclass
from typing import Any

from app.engines.extraction.candidates import Candidate, Range

_THRESHOLDS = (0.15, 0.5, 0.85)
_NEUTRAL = 0.3


@dataclass(slots=True)
class SpanScores:
    """For one field, the probability of each token to begin a value and to be inside one.

    `sums` has the running sum of the inside probabilities, so that spans are summed at once.
    """

    begin: list[float]
    inside: list[float]
    sums: list[float]
    decoded: frozenset[Range]
    by_key: dict[str, float]

    def sum(self, candidate: Candidate) -> float:
        """Return by how much the tokens of the candidate exceed a neutral probability."""
        return sum(
            self.sums[last + 1] - self.sums[first] - _NEUTRAL * (last + 1 - first)
            for first, last in candidate.ranges
        )

    def describe(self, candidate: Candidate) -> list[float]:
        """Return seven features of a candidate."""
        total = sum(self.sums[last + 1] - self.sums[first] for first, last in candidate.ranges)
        size = sum(last + 1 - first for first, last in candidate.ranges)
        after = candidate.last + 1
        following = self.inside[after] if after < len(self.inside) else 0.0
        before = self.inside[candidate.first - 1] if candidate.first else 0.0
        mean = total / size
        best = max(self.by_key.get(candidate.key, 0.0), mean)
        span = (candidate.first, candidate.last)
        begin = self.begin[candidate.first]
        return [
            mean,
            begin,
            following,
            before,
            self.sum(candidate),
            best,
            float(span in self.decoded),
        ]

    def collect(self, candidates: list[Candidate]) -> None:
        """Note the highest mean probability among the candidates of each value."""
        for candidate in candidates:
            size = candidate.ranges[0][1] + 1 - candidate.ranges[0][0]
            first, last = candidate.ranges[0]
            mean = (self.sums[last + 1] - self.sums[first]) / size
            self.by_key[candidate.key] = max(self.by_key.get(candidate.key, 0.0), mean)


def build_scores(begin: Any, inside: Any, path: Any, labels: tuple[int, int]) -> SpanScores:
    """Return the scores of one field from arrays of probabilities and the decoded labels."""
    begin_list = begin.tolist()
    both = (begin + inside).tolist()
    sums = [0.0]
    for value in both:
        sums.append(sums[-1] + value)
    return SpanScores(begin_list, both, sums, frozenset(_decode(path.tolist(), labels)), {})


def _decode(path: list[int], labels: tuple[int, int]) -> list[Range]:
    spans: list[Range] = []
    first, inner = labels
    for index, label in enumerate(path):
        if label == first or (label == inner and not (spans and spans[-1][1] == index - 1)):
            spans.append((index, index))
        elif label == inner:
            spans[-1] = (spans[-1][0], index)
    return spans


def list_spans(scores: SpanScores) -> list[Range]:
    """Return the decoded spans, and runs of tokens above several thresholds."""
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
