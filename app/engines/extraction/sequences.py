"""Label the tokens of examples and train the conditional random fields, also out of fold."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.engines.extraction import crf
from app.engines.extraction.alignment import find_evidence_ranges, mark_matches
from app.engines.extraction.candidates import Candidate, Range
from app.engines.extraction.crf_features import describe_tokens
from app.engines.extraction.examples import Prepared
from app.engines.extraction.layout import compact
from app.engines.extraction.options import ABSENT
from app.engines.extraction.proposing import list_all
from app.engines.extraction.rules import build_view, find_place, score
from app.engines.extraction.spans import SpanScores, build_scores
from app.engines.extraction.values import Target

MAX_TARGETS = 40
"""The maximum number of fields in one random field; the time grows with its square."""


@dataclass(slots=True)
class Alignment:
    """The place of an accepted value of a field in its document."""

    candidate: Candidate
    spelling: str


def align(one: Prepared, target: Target) -> list[Alignment]:
    """Return the most plausible place of each accepted value that the document contains."""
    values = one.values.get(target.name, [])
    if not values:
        return []
    view = build_view(one.reading.analysis, target, one.reading.contexts)
    candidates = _list_places(one, target)
    found = []
    for place, value in enumerate(values):
        matches = mark_matches(candidates, target, [value])
        places = [c for c, ok in zip(candidates, matches, strict=True) if ok]
        if not places:
            continue
        ranges = find_evidence_ranges(one.reading.analysis, one.evidence[target.name][place])
        inside = [c for c in places if ranges and _overlaps(c.ranges, ranges)]
        best = max(inside or places, key=lambda c: (score(view, c, find_place(view, c)), -c.first))
        found.append(Alignment(best, value if isinstance(value, str) else best.text))
    return found


def _list_places(one: Prepared, target: Target) -> list[Candidate]:
    """Return all candidates of a field, and the places of its accepted values."""
    found = list_all(one.reading, target)
    if target.kind in ("lines", "code", "text"):
        for value in one.values.get(target.name, []):
            if isinstance(value, str):
                found += one.reading.searcher.build(compact(value), "span")
    return found


def _overlaps(left: Sequence[Range], right: Sequence[Range]) -> bool:
    return any(a[0] <= b[1] and b[0] <= a[1] for a in left for b in right)


def label_tokens(one: Prepared, aligned: Sequence[list[Alignment]]) -> list[int]:
    """Return the label of each token: 0 outside, else 1 + 2 * field for a beginning, or 2 + …."""
    labels = [0] * len(one.reading.analysis.tokens)
    for number, alignments in enumerate(aligned):
        for alignment in alignments:
            if alignment.candidate.kind == ABSENT:
                continue
            begin = True
            for first, last in alignment.candidate.ranges:
                for index in range(first, last + 1):
                    if labels[index] == 0:
                        labels[index] = 1 + 2 * number if begin else 2 + 2 * number
                    begin = False
    return labels


def assign_folds(count: int, folds: int) -> list[int]:
    """Return the fold of each example; examples are ordered by id, so that this is repeatable."""
    return [number % folds for number in range(count)]


def train_fields(
    prepared: Sequence[Prepared],
    labels: Sequence[Sequence[int]],
    label_count: int,
    folds: list[int],
) -> tuple[crf.Field, list[list[SpanScores]]]:
    """Return the field trained on all examples, and the scores of each example out of fold."""
    described = [describe_tokens(one.reading.analysis) for one in prepared]
    items = [crf.prepare_items(one) for one in described]
    scores: list[list[SpanScores]] = [[] for _ in prepared]
    for fold in sorted(set(folds)):
        inside = [n for n, other in enumerate(folds) if other != fold]
        field = crf.train([items[n] for n in inside], [labels[n] for n in inside], label_count)
        for number, other in enumerate(folds):
            if other == fold:
                scores[number] = decode(field, described[number])
    return crf.train(items, labels, label_count), scores


def decode(field: crf.Field, described: Sequence[Sequence[str]]) -> list[SpanScores]:
    """Return the scores of each field of the sequence for a document."""
    marginals, path = field.decode(described)
    count = (marginals.shape[1] - 1) // 2
    return [
        build_scores(marginals[:, 1 + 2 * n], marginals[:, 2 + 2 * n], path, (1 + 2 * n, 2 + 2 * n))
        for n in range(count)
    ]
