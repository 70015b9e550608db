"""Train the whole pipeline on examples."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from threadpoolctl import threadpool_limits

from app.engines.extraction import calibration, crf, ranking, sequences
from app.engines.extraction.examples import (
    Prepared,
    build_empty_memory,
    find_headers,
    hash_version,
    list_all_targets,
    prepare,
    select_examples,
)
from app.engines.extraction.memory import Memory
from app.engines.extraction.model import MIN_EXAMPLES, Example, NotEnoughExamples
from app.engines.extraction.proposing import build_value
from app.engines.extraction.renderer import MODES, Renderer, find_stripped
from app.engines.extraction.reports import Outcome, build_report, judge
from app.engines.extraction.spans import SpanScores
from app.engines.extraction.trained import Learned, TrainedModel
from app.engines.extraction.values import Target
from app.engines.fields import Field

_FOLDS, _FOLDS_OF_MANY, _MANY = 5, 3, 150
_THRESHOLDS = (0.0, 0.1, 0.2, 0.3, 0.4)
_ENOUGH, _NEARLY_ALL, _CAUTIOUS = 100, 0.9, 0.3


@dataclass(slots=True)
class _Corpus:
    prepared: list[Prepared]
    targets: list[Target]
    memory: Memory
    folds: list[int]
    scores: list[list[SpanScores]]
    places: dict[str, int]


def train_model(
    examples: Sequence[Example], fields: Sequence[Field], schema_version: str
) -> TrainedModel:
    """Return a model with its out-of-fold report; see `app.engines.extraction.train`."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with threadpool_limits(limits=1):
        return _train(examples, fields, schema_version)


def _train(
    examples: Sequence[Example], fields: Sequence[Field], schema_version: str
) -> TrainedModel:
    selected = select_examples(examples)
    prepared = prepare(selected, fields)
    headers = find_headers(selected, prepared, fields)
    targets = list_all_targets(prepared, fields)
    aligned = [[sequences.align(one, target) for target in targets] for one in prepared]
    usable = [number for number, found in enumerate(aligned) if any(found)]
    if len(usable) < MIN_EXAMPLES:
        raise NotEnoughExamples(len(usable))
    prepared = [prepared[number] for number in usable]
    aligned = [aligned[number] for number in usable]
    corpus, field = _build_corpus(prepared, targets, aligned)
    learned, outcomes = {}, []
    for target in targets:
        if any(target.name in one.values for one in prepared):
            learned[target.name], found = _learn(corpus, target)
            outcomes += found
    report = build_report(outcomes, [one.id for one in prepared], targets, max(corpus.folds) + 1)
    version = hash_version(examples, fields, schema_version)
    return TrainedModel(
        version=version,
        fields=list(fields),
        targets=targets,
        field=field,
        places=corpus.places,
        learned=learned,
        memory=corpus.memory,
        report=report,
        headers=headers,
    )


def _build_corpus(
    prepared: list[Prepared], targets: list[Target], aligned: list[list[Any]]
) -> tuple[_Corpus, crf.Field]:
    counts = [sum(1 for found in aligned if found[n]) for n in range(len(targets))]
    frequent = sorted(range(len(targets)), key=lambda n: (-counts[n], n))[: sequences.MAX_TARGETS]
    kept = sorted(n for n in frequent if counts[n])
    labels = [
        sequences.label_tokens(one, [found[n] for n in kept])
        for one, found in zip(prepared, aligned, strict=True)
    ]
    folds = sequences.assign_folds(
        len(prepared), _FOLDS_OF_MANY if len(prepared) >= _MANY else _FOLDS
    )
    field, scores = sequences.train_fields(prepared, labels, 1 + 2 * len(kept), folds)
    memory = _remember(prepared, targets, aligned)
    places = {targets[n].name: position for position, n in enumerate(kept)}
    return _Corpus(prepared, targets, memory, folds, scores, places), field


def _remember(prepared: list[Prepared], targets: list[Target], aligned: list[list[Any]]) -> Memory:
    memory = build_empty_memory(prepared)
    for number, found in enumerate(aligned):
        for target, alignments in zip(targets, found, strict=True):
            for one in alignments:
                analysis = prepared[number].reading.analysis
                memory.add_value(number, target.name, analysis, one.candidate, one.spelling)
    memory.index()
    return memory


def _learn(corpus: _Corpus, target: Target) -> tuple[Learned, list[Outcome]]:
    place = corpus.places.get(target.name)
    scores = [None if place is None else one[place] for one in corpus.scores]
    problem = ranking.build_problem(corpus.prepared, target, corpus.memory, scores)
    odds = ranking.score_out_of_fold(problem, corpus.folds)
    multiple = bool(target.field["multiple"])
    choices = [
        ranking.choose(found, odds[number], multiple=multiple)
        for number, found in enumerate(problem.candidates)
    ]
    renderer = _fit_renderer(corpus, problem, choices)
    outcomes = _judge_all(corpus, problem, choices, renderer)
    scale = calibration.fit_scale(
        [(one.odds, one.margin) for one in outcomes if one.proposed],
        [one.correct for one in outcomes if one.proposed],
    )
    for one in outcomes:
        one.confidence = scale.apply(one.odds, one.margin) if one.proposed else 0.0
    threshold = _fit_threshold(outcomes, multiple=multiple)
    for one in outcomes:
        one.drop_below(threshold)
    ranker = ranking.fit(problem, range(len(corpus.prepared)))
    currency = _find_usual_currency(corpus, target)
    return Learned(ranker, scale, renderer, threshold, currency), outcomes


def _fit_renderer(corpus: _Corpus, problem: ranking.Problem, choices: list[Any]) -> Renderer:
    target = problem.target
    if target.field["type"] not in ("text", "address") or target.kind in ("date", "amount"):
        return Renderer(strips="")
    pairs = []
    for number, one in enumerate(corpus.prepared):
        values = [v for v in one.values.get(target.name, []) if isinstance(v, str)]
        first, _ = problem.bounds[number]
        for place, candidate in enumerate(problem.candidates[number]):
            if problem.labels[first + place]:
                pairs += [(candidate.text, value) for value in values]
    renderer = Renderer(corpus.memory.list_spellings(target.name), "plain", find_stripped(pairs))
    best = -1
    for mode in MODES:
        renderer.mode = mode
        correct = sum(one.correct for one in _judge_all(corpus, problem, choices, renderer))
        # A bolder mode must pay by more than a single value.
        if correct > best + (1 if best >= 0 else 0):
            best, chosen = correct, mode
    renderer.mode = chosen
    return renderer


def _judge_all(
    corpus: _Corpus, problem: ranking.Problem, choices: list[Any], renderer: Renderer
) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for number, one in enumerate(corpus.prepared):
        values = one.values.get(problem.target.name, [])
        own = next((value for value in values if isinstance(value, str)), None)
        proposals = []
        for choice in choices[number]:
            candidate = problem.candidates[number][choice.place]
            text = renderer.render(candidate.text, without=own)
            value = build_value(problem.views[number], candidate, text)
            if value is not None:
                proposals.append((value, choice.odds, choice.margin))
        outcomes += judge(problem.target, number, values, proposals)
    return outcomes


def _fit_threshold(outcomes: list[Outcome], *, multiple: bool) -> float:
    """Return the confidence below which proposals cost more than they bring, by F1.

    A few documents cannot show that; then a field that nearly all of them have is always proposed.
    """
    support = sum(one.support for one in outcomes)
    if len(outcomes) < _ENOUGH and not multiple:
        documents = len({one.document for one in outcomes})
        return 0.0 if support >= _NEARLY_ALL * documents else _CAUTIOUS
    best, chosen = -1.0, 0.0
    for threshold in _THRESHOLDS:
        kept = [one for one in outcomes if one.proposed and one.confidence >= threshold]
        correct = sum(one.correct for one in kept)
        f1 = 2 * correct / max(len(kept) + support, 1)
        if f1 > best + 1e-9:
            best, chosen = f1, threshold
    return max(chosen, 0.2) if multiple else chosen


def _find_usual_currency(corpus: _Corpus, target: Target) -> str:
    counts: dict[str, int] = {}
    for one in corpus.prepared:
        for value in one.values.get(target.name, []):
            if isinstance(value, dict) and value.get("currency"):
                code = str(value["currency"])
                counts[code] = counts.get(code, 0) + 1
    return min(counts, key=lambda code: (-counts[code], code)) if counts else ""
