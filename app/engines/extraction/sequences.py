"""Label the tokens of examples, and train conditional random fields with cross-validation."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.engines.extraction import crf
from app.engines.extraction.alignment import find_evidence_ranges, match_candidates
from app.engines.extraction.candidates import Candidate, Range
from app.engines.extraction.crf_features import list_token_attributes
from app.engines.extraction.examples import PreparedExample
from app.engines.extraction.layout import compact_text
from app.engines.extraction.options import ABSENT
from app.engines.extraction.proposing import list_all_candidates
from app.engines.extraction.rules import build_field_view, find_nearby_keywords, score_candidate
from app.engines.extraction.spans import SpanScores, build_scores
from app.engines.extraction.training_index import TrainingIndex
from app.engines.extraction.values import Target

MAX_TARGETS = 40
"""The maximum number of fields that one sequence model learns.

The training time grows with the square of the number of fields.
"""


@dataclass(slots=True)
class Alignment:
    """An accepted value's location in its document, and its accepted spelling."""

    candidate: Candidate
    spelling: str


def align_values(example: PreparedExample, target: Target) -> list[Alignment]:
    """Align accepted values with the document: return the most plausible location of each value.

    Values that match no candidate are omitted. Booleans, options and currencies that the document
    does not contain may match an ABSENT candidate.
    """
    values = example.values.get(target.name, [])
    if not values:
        return []
    view = build_field_view(
        example.prepared_document.analysis, target, example.prepared_document.contexts
    )
    candidates = _list_value_candidates(example, target)
    alignments = []
    for value_index, value in enumerate(values):
        matches = match_candidates(candidates, target, [value])
        matching_candidates = [
            c for c, is_match in zip(candidates, matches, strict=True) if is_match
        ]
        if not matching_candidates:
            continue
        ranges = find_evidence_ranges(
            example.prepared_document.analysis, example.evidence[target.name][value_index]
        )
        evidenced_candidates = [
            c for c in matching_candidates if ranges and _have_overlap(c.ranges, ranges)
        ]
        best = max(
            evidenced_candidates or matching_candidates,
            key=lambda c: (score_candidate(view, c, find_nearby_keywords(view, c)), -c.first),
        )
        alignments.append(Alignment(best, value if isinstance(value, str) else best.text))
    return alignments


def _list_value_candidates(example: PreparedExample, target: Target) -> list[Candidate]:
    """Return all candidates for a field, and candidates at occurrences of accepted values."""
    candidates = list_all_candidates(example.prepared_document, target)
    if target.kind in ("lines", "code", "text"):
        for value in example.values.get(target.name, []):
            if isinstance(value, str):
                candidates += example.prepared_document.searcher.build_candidates(
                    compact_text(value), "span"
                )
    return candidates


def _have_overlap(left: Sequence[Range], right: Sequence[Range]) -> bool:
    return any(a[0] <= b[1] and b[0] <= a[1] for a in left for b in right)


def build_training_index(
    prepared_examples: Sequence[PreparedExample],
    targets: Sequence[Target],
    alignment_lists: Sequence[Sequence[Sequence[Alignment]]],
) -> TrainingIndex:
    """Build the index of the words and the accepted values of the examples.

    `alignment_lists` contains, for each example and each target, what `align_values` returned.
    """
    training_index = TrainingIndex()
    for example, alignments_by_target in zip(prepared_examples, alignment_lists, strict=True):
        analysis = example.prepared_document.analysis
        number = training_index.add_document(analysis)
        for target, alignments in zip(targets, alignments_by_target, strict=True):
            for alignment in alignments:
                training_index.add_value(
                    number, target.name, analysis, alignment.candidate, alignment.spelling
                )
    training_index.build_mappings()
    return training_index


def label_tokens(
    example: PreparedExample, alignments_by_field: Sequence[list[Alignment]]
) -> list[int]:
    """Return a label for each token of a document; `alignments_by_field` has a list for each field.

    The label 0 is for tokens outside a value. For field number n, counted from 0, the label
    1 + 2 * n begins a value, and the label 2 + 2 * n continues it.
    """
    labels = [0] * len(example.prepared_document.analysis.tokens)
    for number, alignments in enumerate(alignments_by_field):
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


def assign_folds(example_count: int, fold_count: int) -> list[int]:
    """Distribute examples among folds in round-robin order, and return their fold numbers."""
    return [index % fold_count for index in range(example_count)]


def train_sequence_models(
    prepared_examples: Sequence[PreparedExample],
    labels: Sequence[Sequence[int]],
    label_count: int,
    folds: list[int],
) -> tuple[crf.SequenceModel, list[list[SpanScores]]]:
    """Train a conditional random field on all examples, and compute out-of-fold scores.

    `folds` contains the fold number of each example. Returns the model and the scores of each
    example, which contain one item for each field that `label_tokens` numbers.
    """
    token_attributes = [
        list_token_attributes(example.prepared_document.analysis) for example in prepared_examples
    ]
    item_sequences = [crf.build_item_sequence(attributes) for attributes in token_attributes]
    scores: list[list[SpanScores]] = [[] for _ in prepared_examples]
    for fold in sorted(set(folds)):
        training_indexes = [
            index for index, example_fold in enumerate(folds) if example_fold != fold
        ]
        sequence_model = crf.train_sequence_model(
            [item_sequences[index] for index in training_indexes],
            [labels[index] for index in training_indexes],
            label_count,
        )
        for index, example_fold in enumerate(folds):
            if example_fold == fold:
                scores[index] = decode_scores(sequence_model, token_attributes[index])
    return crf.train_sequence_model(item_sequences, labels, label_count), scores


def decode_scores(
    sequence_model: crf.SequenceModel, token_attributes: Sequence[Sequence[str]]
) -> list[SpanScores]:
    """Decode a document with a conditional random field; return scores for each learned field."""
    marginals, path = sequence_model.decode(token_attributes)
    field_count = (marginals.shape[1] - 1) // 2
    return [
        build_scores(marginals[:, 1 + 2 * n], marginals[:, 2 + 2 * n], path, (1 + 2 * n, 2 + 2 * n))
        for n in range(field_count)
    ]
