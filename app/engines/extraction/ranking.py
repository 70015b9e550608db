"""Train one ranker per field on out-of-fold features, and choose values by its scores."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.engines.extraction import trees
from app.engines.extraction.alignment import mark_matches
from app.engines.extraction.candidates import Candidate
from app.engines.extraction.examples import Prepared
from app.engines.extraction.features import COUNT, RULES, build_features
from app.engines.extraction.memory import Memory
from app.engines.extraction.model import MIN_EXAMPLES
from app.engines.extraction.proposing import MAX_MULTIPLE, collect
from app.engines.extraction.rules import View
from app.engines.extraction.spans import SpanScores
from app.engines.extraction.values import Target

Array = np.ndarray[Any, Any]
SMALL = 40
"""Below this number of documents with a value, a logistic ranker is trained."""

PRIOR = 1.0
"""The log odds per point of the rules with MIN_EXAMPLES documents; with more, it decreases."""


@dataclass(slots=True)
class Problem:
    """The candidates of one field in all examples: one matrix, and the rows of each example."""

    target: Target
    views: list[View] = field(default_factory=list)
    candidates: list[list[Candidate]] = field(default_factory=list)
    bounds: list[tuple[int, int]] = field(default_factory=list)
    rows: Array = field(default_factory=lambda: np.zeros((0, COUNT)))
    labels: Array = field(default_factory=lambda: np.zeros(0, dtype=bool))


def build_problem(
    prepared: Sequence[Prepared],
    target: Target,
    memory: Memory,
    scores: Sequence[SpanScores | None],
) -> Problem:
    """Return the candidates of a field with their features and whether each is correct."""
    problem = Problem(target)
    rows: list[list[float]] = []
    labels: list[bool] = []
    for number, one in enumerate(prepared):
        view, found = collect(one.reading, target, memory, scores=scores[number], without=number)
        recall = memory.build_recall(one.reading.analysis, number)
        problem.bounds.append((len(rows), len(rows) + len(found)))
        rows += build_features(view, found, recall, scores[number])
        labels += mark_matches(found, target, one.values.get(target.name, []))
        problem.views.append(view)
        problem.candidates.append(found)
    problem.rows = np.array(rows, dtype=np.float64).reshape(len(rows), COUNT)
    problem.labels = np.array(labels, dtype=bool)
    return problem


def fit(problem: Problem, numbers: Sequence[int]) -> trees.Ranker | None:
    """Train on the examples `numbers`; None if they have no correct or no incorrect candidate."""
    picked = [np.arange(*problem.bounds[number]) for number in numbers]
    index = np.concatenate(picked) if picked else np.zeros(0, dtype=np.int64)
    labels = problem.labels[index]
    if not labels.any() or labels.all():
        return None
    rows = problem.rows[index]
    positive = sum(1 for one in picked if problem.labels[one].any())
    if positive < SMALL:
        ranker = trees.fit_logistic(rows, labels)
        return ranker.add_prior(RULES, PRIOR * MIN_EXAMPLES / max(positive, MIN_EXAMPLES))
    return trees.fit_trees(rows, labels)


def score_out_of_fold(problem: Problem, folds: Sequence[int]) -> list[Array]:
    """Return the log odds of the candidates of each example, by rankers trained without it."""
    result: list[Array] = [np.zeros(0)] * len(problem.bounds)
    for fold in sorted(set(folds)):
        ranker = fit(problem, [n for n, other in enumerate(folds) if other != fold])
        for number, other in enumerate(folds):
            if other == fold and ranker is not None:
                first, last = problem.bounds[number]
                result[number] = ranker.decide(problem.rows[first:last])
    return result


@dataclass(frozen=True, slots=True)
class Choice:
    """A candidate that was chosen: its place in the list, its log odds, and its margin."""

    place: int
    odds: float
    margin: float


def choose(candidates: Sequence[Candidate], odds: Array, *, multiple: bool) -> list[Choice]:
    """Return the best candidate, or for a multiple field all that are more likely than not."""
    if not len(odds):
        return []
    order = sorted(range(len(candidates)), key=lambda place: (-odds[place], place))
    if multiple:
        return _choose_many(candidates, odds, order)
    best = order[0]
    rival = next((p for p in order if candidates[p].key != candidates[best].key), None)
    margin = 5.0 if rival is None else min(float(odds[best] - odds[rival]), 10.0)
    return [Choice(best, _limit(odds[best]), margin)]


def _choose_many(candidates: Sequence[Candidate], odds: Array, order: list[int]) -> list[Choice]:
    chosen: list[Choice] = []
    taken: set[int] = set()
    for place in order[: 4 * MAX_MULTIPLE]:
        if odds[place] < -1.0:
            break
        covered = {i for a, b in candidates[place].ranges for i in range(a, b + 1)}
        if not covered & taken and len(chosen) < MAX_MULTIPLE:
            chosen.append(Choice(place, _limit(odds[place]), 0.0))
            taken |= covered
    return sorted(chosen, key=lambda choice: candidates[choice.place].first)


def _limit(odds: float) -> float:
    return float(min(max(odds, -12.0), 12.0)) if math.isfinite(odds) else 0.0
