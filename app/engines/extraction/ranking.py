"""Train one ranker per field on out-of-fold features, and choose candidates by its scores."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.engines.extraction import trees
from app.engines.extraction.alignment import mark_matches
from app.engines.extraction.candidates import Candidate
from app.engines.extraction.examples import PreparedExample
from app.engines.extraction.features import FEATURE_COUNT, RULE_SCORE_INDEX, build_features
from app.engines.extraction.memory import Memory
from app.engines.extraction.model import MIN_EXAMPLES
from app.engines.extraction.proposing import MAX_VALUES, collect_candidates
from app.engines.extraction.rules import View
from app.engines.extraction.spans import SpanScores
from app.engines.extraction.values import Target

Array = np.ndarray[Any, Any]
MIN_TREE_DOCUMENTS = 40
"""With fewer documents that have a value, a logistic ranker is trained instead of trees."""

RULE_PRIOR = 1.0
"""The log odds added per point of the rule score at MIN_EXAMPLES documents; more reduce it."""


@dataclass(slots=True)
class Problem:
    """The candidates for one field in all examples.

    `rows` is one matrix of features; `bounds` has the first and the end row of each example.
    """

    target: Target
    views: list[View] = field(default_factory=list)
    candidates: list[list[Candidate]] = field(default_factory=list)
    bounds: list[tuple[int, int]] = field(default_factory=list)
    rows: Array = field(default_factory=lambda: np.zeros((0, FEATURE_COUNT)))
    labels: Array = field(default_factory=lambda: np.zeros(0, dtype=bool))


def build_problem(
    prepared_examples: Sequence[PreparedExample],
    target: Target,
    memory: Memory,
    scores: Sequence[SpanScores | None],
) -> Problem:
    """Return the candidates for a field with their features and whether each is correct."""
    problem = Problem(target)
    rows: list[list[float]] = []
    labels: list[bool] = []
    for number, example in enumerate(prepared_examples):
        view, candidates = collect_candidates(
            example.reading, target, memory, scores=scores[number], excluded_document=number
        )
        document_memory = memory.build_document_memory(example.reading.analysis, number)
        problem.bounds.append((len(rows), len(rows) + len(candidates)))
        rows += build_features(view, candidates, document_memory, scores[number])
        labels += mark_matches(candidates, target, example.values.get(target.name, []))
        problem.views.append(view)
        problem.candidates.append(candidates)
    problem.rows = np.array(rows, dtype=np.float64).reshape(len(rows), FEATURE_COUNT)
    problem.labels = np.array(labels, dtype=bool)
    return problem


def fit_ranker(problem: Problem, numbers: Sequence[int]) -> trees.Ranker | None:
    """Train a ranker on the examples `numbers`.

    Return None if the examples have no correct or no incorrect candidate.
    """
    rows_by_example = [np.arange(*problem.bounds[number]) for number in numbers]
    row_indexes = (
        np.concatenate(rows_by_example) if rows_by_example else np.zeros(0, dtype=np.int64)
    )
    labels = problem.labels[row_indexes]
    if not labels.any() or labels.all():
        return None
    rows = problem.rows[row_indexes]
    positive_count = sum(
        1 for example_rows in rows_by_example if problem.labels[example_rows].any()
    )
    if positive_count < MIN_TREE_DOCUMENTS:
        ranker = trees.fit_logistic(rows, labels)
        return ranker.add_prior(
            RULE_SCORE_INDEX, RULE_PRIOR * MIN_EXAMPLES / max(positive_count, MIN_EXAMPLES)
        )
    return trees.fit_trees(rows, labels)


def score_out_of_fold(problem: Problem, folds: Sequence[int]) -> list[Array]:
    """Return the log odds of the candidates of each example, by rankers trained without it."""
    result: list[Array] = [np.zeros(0)] * len(problem.bounds)
    for fold in sorted(set(folds)):
        ranker = fit_ranker(
            problem, [number for number, example_fold in enumerate(folds) if example_fold != fold]
        )
        for number, example_fold in enumerate(folds):
            if example_fold == fold and ranker is not None:
                first, last = problem.bounds[number]
                result[number] = ranker.decide(problem.rows[first:last])
    return result


@dataclass(frozen=True, slots=True)
class Choice:
    """A chosen candidate: its index in the list, its log odds, and its margin."""

    index: int
    odds: float
    margin: float


def choose_candidates(
    candidates: Sequence[Candidate], odds: Array, *, multiple: bool
) -> list[Choice]:
    """Return the best candidate.

    For a multiple field, return the candidates with log odds of at least -1 that do not overlap.
    """
    if not len(odds):
        return []
    order = sorted(range(len(candidates)), key=lambda index: (-odds[index], index))
    if multiple:
        return _choose_many(candidates, odds, order)
    best_index = order[0]
    rival_index = next((i for i in order if candidates[i].key != candidates[best_index].key), None)
    margin = 5.0 if rival_index is None else min(float(odds[best_index] - odds[rival_index]), 10.0)
    return [Choice(best_index, _clamp(odds[best_index]), margin)]


def _choose_many(candidates: Sequence[Candidate], odds: Array, order: list[int]) -> list[Choice]:
    chosen: list[Choice] = []
    used_tokens: set[int] = set()
    for index in order[: 4 * MAX_VALUES]:
        if odds[index] < -1.0:
            break
        token_indexes = {i for a, b in candidates[index].ranges for i in range(a, b + 1)}
        if not token_indexes & used_tokens and len(chosen) < MAX_VALUES:
            chosen.append(Choice(index, _clamp(odds[index]), 0.0))
            used_tokens |= token_indexes
    return sorted(chosen, key=lambda choice: candidates[choice.index].first)


def _clamp(odds: float) -> float:
    return float(min(max(odds, -12.0), 12.0)) if math.isfinite(odds) else 0.0
