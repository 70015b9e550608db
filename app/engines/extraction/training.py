"""Train all parts of an extraction model on accepted examples."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from threadpoolctl import threadpool_limits

from app.engines.extraction import calibration, crf, ranking, sequences
from app.engines.extraction.examples import (
    PreparedExample,
    hash_inputs,
    list_targets,
    prepare_examples,
    select_examples,
)
from app.engines.extraction.model import MIN_EXAMPLES, Example, NotEnoughExamples
from app.engines.extraction.proposing import build_value
from app.engines.extraction.renderer import RENDERING_MODES, Renderer, find_stripped_punctuation
from app.engines.extraction.reports import ComparisonOutcome, build_report, compare_proposals
from app.engines.extraction.spans import SpanScores
from app.engines.extraction.table_headers import learn_headers
from app.engines.extraction.trained_model import FieldParameters, TrainedModel
from app.engines.extraction.training_index import TrainingIndex
from app.engines.extraction.values import Target
from app.engines.fields import Field

_FOLD_COUNT, _FOLD_COUNT_FOR_MANY, _MANY_EXAMPLES = 5, 3, 150
_CONFIDENCE_THRESHOLDS = (0.0, 0.1, 0.2, 0.3, 0.4)
_MIN_OUTCOMES, _NEARLY_ALL_FRACTION, _CAUTIOUS_THRESHOLD = 100, 0.9, 0.3


@dataclass(slots=True)
class _Corpus:
    """The training data that all fields share.

    `folds` contains the fold number of each example, and `scores` the out-of-fold span scores of
    each example, in the order of `field_positions`.
    """

    prepared_examples: list[PreparedExample]
    targets: list[Target]
    training_index: TrainingIndex
    folds: list[int]
    scores: list[list[SpanScores]]
    field_positions: dict[str, int]


def train_model(
    examples: Sequence[Example], fields: Sequence[Field], schema_version_id: str
) -> TrainedModel:
    """Train a model on `examples`, and return it with its out-of-fold report.

    `fields` are the fields of one schema version, as returned by `check_fields`. Only the newest
    examples are used: their number, their words, and the examples by one labeler are limited (see
    `select_examples`). Limits numeric libraries to one thread, and sets OMP_NUM_THREADS to 1 in the
    process environment unless it is set. Raises NotEnoughExamples if fewer than MIN_EXAMPLES
    examples are usable.

    The model's `version` is a hexadecimal SHA-256. Its method `predict` returns tags for a
    document, and `to_bytes` returns the content to store, which `loading.read_model` reads.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with threadpool_limits(limits=1):
        return _train(examples, fields, schema_version_id)


def _train(
    examples: Sequence[Example], fields: Sequence[Field], schema_version_id: str
) -> TrainedModel:
    selected_examples = select_examples(examples, fields)
    prepared_examples = prepare_examples(selected_examples, fields)
    headers = learn_headers(prepared_examples, fields)
    targets = list_targets(prepared_examples, fields)
    alignments_by_example = [
        [sequences.align_values(example, target) for target in targets]
        for example in prepared_examples
    ]
    usable_indexes = [
        index for index, alignments in enumerate(alignments_by_example) if any(alignments)
    ]
    if len(usable_indexes) < MIN_EXAMPLES:
        raise NotEnoughExamples(len(usable_indexes))
    prepared_examples = [prepared_examples[index] for index in usable_indexes]
    alignments_by_example = [alignments_by_example[index] for index in usable_indexes]
    corpus, sequence_model = _build_corpus(prepared_examples, targets, alignments_by_example)
    field_parameters, outcomes = {}, []
    for target in targets:
        if any(target.name in example.values for example in prepared_examples):
            field_parameters[target.name], field_outcomes = _train_field(corpus, target)
            outcomes += field_outcomes
    report = build_report(
        outcomes, [example.id for example in prepared_examples], targets, max(corpus.folds) + 1
    )
    version = hash_inputs(examples, fields, schema_version_id)
    return TrainedModel(
        version=version,
        fields=list(fields),
        targets=targets,
        sequence_model=sequence_model,
        field_positions=corpus.field_positions,
        field_parameters=field_parameters,
        training_index=corpus.training_index,
        report=report,
        headers=headers,
    )


def _build_corpus(
    prepared_examples: list[PreparedExample],
    targets: list[Target],
    alignments_by_example: list[list[Any]],
) -> tuple[_Corpus, crf.SequenceModel]:
    counts = [
        sum(1 for alignments in alignments_by_example if alignments[n]) for n in range(len(targets))
    ]
    ranked_indexes = sorted(range(len(targets)), key=lambda n: (-counts[n], n))
    learned_indexes = sorted(n for n in ranked_indexes[: sequences.MAX_TARGETS] if counts[n])
    labels = [
        sequences.label_tokens(example, [alignments[n] for n in learned_indexes])
        for example, alignments in zip(prepared_examples, alignments_by_example, strict=True)
    ]
    folds = sequences.assign_folds(
        len(prepared_examples),
        _FOLD_COUNT_FOR_MANY if len(prepared_examples) >= _MANY_EXAMPLES else _FOLD_COUNT,
    )
    sequence_model, scores = sequences.train_sequence_models(
        prepared_examples, labels, 1 + 2 * len(learned_indexes), folds
    )
    training_index = sequences.build_training_index(
        prepared_examples, targets, alignments_by_example
    )
    field_positions = {targets[n].name: position for position, n in enumerate(learned_indexes)}
    return _Corpus(
        prepared_examples, targets, training_index, folds, scores, field_positions
    ), sequence_model


def _train_field(
    corpus: _Corpus, target: Target
) -> tuple[FieldParameters, list[ComparisonOutcome]]:
    position = corpus.field_positions.get(target.name)
    scores = [
        None if position is None else example_scores[position] for example_scores in corpus.scores
    ]
    data = ranking.build_ranking_data(
        corpus.prepared_examples, target, corpus.training_index, scores
    )
    log_odds = ranking.score_out_of_fold(data, corpus.folds)
    multiple = bool(target.field["multiple"])
    choices = [
        ranking.choose_candidates(candidates, log_odds[index], multiple=multiple)
        for index, candidates in enumerate(data.candidates)
    ]
    renderer = _fit_renderer(corpus, data, choices)
    outcomes = _compare_all_proposals(corpus, data, choices, renderer)
    field_calibration = calibration.fit_calibration(
        [(outcome.log_odds, outcome.margin) for outcome in outcomes if outcome.proposed],
        [outcome.correct for outcome in outcomes if outcome.proposed],
    )
    for outcome in outcomes:
        outcome.confidence = (
            field_calibration.apply(outcome.log_odds, outcome.margin) if outcome.proposed else 0.0
        )
    threshold = _fit_threshold(outcomes, multiple=multiple)
    for outcome in outcomes:
        outcome.withdraw_if_below(threshold)
    ranker = ranking.fit_ranker(data, range(len(corpus.prepared_examples)))
    currency = _find_usual_currency(corpus, target)
    return FieldParameters(ranker, field_calibration, renderer, threshold, currency), outcomes


def _fit_renderer(corpus: _Corpus, data: ranking.RankingData, choices: list[Any]) -> Renderer:
    """Build a field's renderer, with the mode that makes the most out-of-fold proposals correct."""
    target = data.target
    if target.field["type"] not in ("text", "address") or target.kind in ("date", "amount"):
        return Renderer(stripped_chars="")
    pairs = []
    for example_index, example in enumerate(corpus.prepared_examples):
        values = [v for v in example.values.get(target.name, []) if isinstance(v, str)]
        first, _ = data.bounds[example_index]
        for index, candidate in enumerate(data.candidates[example_index]):
            if data.is_correct[first + index]:
                pairs += [(candidate.text, value) for value in values]
    renderer = Renderer(
        corpus.training_index.count_spellings(target.name),
        "plain",
        find_stripped_punctuation(pairs),
    )
    best_count = -1
    for mode in RENDERING_MODES:
        renderer.mode = mode
        correct_count = sum(
            outcome.correct for outcome in _compare_all_proposals(corpus, data, choices, renderer)
        )
        # A mode that changes more must make at least two more proposals correct.
        if correct_count > best_count + (1 if best_count >= 0 else 0):
            best_count, best_mode = correct_count, mode
    renderer.mode = best_mode
    return renderer


def _compare_all_proposals(
    corpus: _Corpus, data: ranking.RankingData, choices: list[Any], renderer: Renderer
) -> list[ComparisonOutcome]:
    outcomes: list[ComparisonOutcome] = []
    for index, example in enumerate(corpus.prepared_examples):
        values = example.values.get(data.target.name, [])
        accepted_values = corpus.training_index.get_accepted_values(data.target.name, index)
        accepted_spellings = [value.spelling for value in accepted_values]
        proposals = []
        for choice in choices[index]:
            candidate = data.candidates[index][choice.index]
            text = renderer.render(candidate.text, excluded_spellings=accepted_spellings)
            value = build_value(data.views[index], candidate, text)
            if value is not None:
                proposals.append((value, choice.log_odds, choice.margin))
        outcomes += compare_proposals(data.target, index, values, proposals)
    return outcomes


def _fit_threshold(outcomes: list[ComparisonOutcome], *, multiple: bool) -> float:
    """Return the confidence threshold for proposals that gives the best F1 score.

    For a field with multiple values, the threshold is at least 0.2. For other fields with fewer
    than _MIN_OUTCOMES outcomes, it is 0 if nearly all documents have a value, and
    _CAUTIOUS_THRESHOLD otherwise.
    """
    support = sum(outcome.support for outcome in outcomes)
    if len(outcomes) < _MIN_OUTCOMES and not multiple:
        document_count = len({outcome.document_index for outcome in outcomes})
        return 0.0 if support >= _NEARLY_ALL_FRACTION * document_count else _CAUTIOUS_THRESHOLD
    best_f1, best_threshold = -1.0, 0.0
    for threshold in _CONFIDENCE_THRESHOLDS:
        proposals = [
            outcome for outcome in outcomes if outcome.proposed and outcome.confidence >= threshold
        ]
        correct_count = sum(outcome.correct for outcome in proposals)
        f1 = 2 * correct_count / max(len(proposals) + support, 1)
        if f1 > best_f1 + 1e-9:
            best_f1, best_threshold = f1, threshold
    return max(best_threshold, 0.2) if multiple else best_threshold


def _find_usual_currency(corpus: _Corpus, target: Target) -> str:
    counts = Counter(
        str(value["currency"])
        for example in corpus.prepared_examples
        for value in example.values.get(target.name, [])
        if isinstance(value, dict) and value.get("currency")
    )
    return min(counts, key=lambda code: (-counts[code], code)) if counts else ""
