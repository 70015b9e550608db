"""Label the tokens of examples, and train conditional random fields in and out of fold."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.engines.extraction import crf
from app.engines.extraction.alignment import find_evidence_ranges, mark_matches
from app.engines.extraction.candidates import Candidate, Range
from app.engines.extraction.crf_features import describe_tokens
from app.engines.extraction.examples import PreparedExample
from app.engines.extraction.layout import compact
from app.engines.extraction.options import ABSENT
from app.engines.extraction.proposing import list_all_candidates
from app.engines.extraction.rules import build_view, find_place, score_candidate
from app.engines.extraction.spans import SpanScores, build_scores
from app.engines.extraction.values import Target

MAX_TARGETS = 40
"""The maximum number of fields that are learned; training time grows with its square."""


@dataclass(slots=True)
class Alignment:
    """The place of an accepted value in its document."""

    candidate: Candidate
    spelling: str


def align_values(example: PreparedExample, target: Target) -> list[Alignment]:
    """Return the most plausible place for each accepted value that the document contains."""
    values = example.values.get(target.name, [])
    if not values:
        return []
    view = build_view(example.reading.analysis, target, example.reading.contexts)
    candidates = _list_value_candidates(example, target)
    alignments = []
    for value_index, value in enumerate(values):
        matches = mark_matches(candidates, target, [value])
        matching_candidates = [
            c for c, is_match in zip(candidates, matches, strict=True) if is_match
        ]
        if not matching_candidates:
            continue
        ranges = find_evidence_ranges(
            example.reading.analysis, example.evidence[target.name][value_index]
        )
        evidenced_candidates = [
            c for c in matching_candidates if ranges and _overlaps(c.ranges, ranges)
        ]
        best = max(
            evidenced_candidates or matching_candidates,
            key=lambda c: (score_candidate(view, c, find_place(view, c)), -c.first),
        )
        alignments.append(Alignment(best, value if isinstance(value, str) else best.text))
    return alignments


def _list_value_candidates(example: PreparedExample, target: Target) -> list[Candidate]:
    """Return all candidates for a field, and a candidate at each place of an accepted value."""
    candidates = list_all_candidates(example.reading, target)
    if target.kind in ("lines", "code", "text"):
        for value in example.values.get(target.name, []):
            if isinstance(value, str):
                candidates += example.reading.searcher.build_candidates(compact(value), "span")
    return candidates


def _overlaps(left: Sequence[Range], right: Sequence[Range]) -> bool:
    return any(a[0] <= b[1] and b[0] <= a[1] for a in left for b in right)


def label_tokens(example: PreparedExample, alignment_lists: Sequence[list[Alignment]]) -> list[int]:
    """Return the label of each token.

    0 is outside a value. For field number n, 1 + 2 * n begins a value and 2 + 2 * n continues it.
    """
    labels = [0] * len(example.reading.analysis.tokens)
    for number, alignments in enumerate(alignment_lists):
        for alignment in alignments:
            if alignment.candidate.kind == ABSENT:
                continue
            is_first = True
            for first, last in alignment.candidate.ranges:
                for index in range(first, last + 1):
                    if labels[index] == 0:
                        labels[index] = 1 + 2 * number if is_first else 2 + 2 * number
                    is_first = False
    return labels


def assign_folds(count: int, folds: int) -> list[int]:
    """Return the fold of each example; this is repeatable because examples are ordered by id."""
    return [number % folds for number in range(count)]


def train_random_fields(
    prepared_examples: Sequence[PreparedExample],
    labels: Sequence[Sequence[int]],
    label_count: int,
    folds: list[int],
) -> tuple[crf.RandomField, list[list[SpanScores]]]:
    """Return the random field of all examples, and the out-of-fold scores of each example."""
    token_attributes = [describe_tokens(example.reading.analysis) for example in prepared_examples]
    items = [crf.prepare_items(attributes) for attributes in token_attributes]
    scores: list[list[SpanScores]] = [[] for _ in prepared_examples]
    for fold in sorted(set(folds)):
        training_numbers = [
            number for number, example_fold in enumerate(folds) if example_fold != fold
        ]
        field = crf.train(
            [items[number] for number in training_numbers],
            [labels[number] for number in training_numbers],
            label_count,
        )
        for number, example_fold in enumerate(folds):
            if example_fold == fold:
                scores[number] = decode_scores(field, token_attributes[number])
    return crf.train(items, labels, label_count), scores


def decode_scores(
    field: crf.RandomField, token_attributes: Sequence[Sequence[str]]
) -> list[SpanScores]:
    """Return the scores of one document for each learned field."""
    marginals, path = field.decode(token_attributes)
    count = (marginals.shape[1] - 1) // 2
    return [
        build_scores(marginals[:, 1 + 2 * n], marginals[:, 2 + 2 * n], path, (1 + 2 * n, 2 + 2 * n))
        for n in range(count)
    ]
