"""Train and apply one ranker per field, which estimates how likely a candidate is to be correct.

In training, the features of a document's candidates never use the accepted values of the document.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from app.engines.extraction import trees
from app.engines.extraction.alignment import match_candidates
from app.engines.extraction.candidates import Candidate
from app.engines.extraction.examples import PreparedExample
from app.engines.extraction.features import FEATURE_COUNT, RULE_SCORE_INDEX, build_features
from app.engines.extraction.model import MIN_EXAMPLES
from app.engines.extraction.proposing import MAX_VALUES, collect_candidates
from app.engines.extraction.rules import FieldView
from app.engines.extraction.spans import SpanScores
from app.engines.extraction.training_index import TrainingIndex
from app.engines.extraction.trees import Array
from app.engines.extraction.values import Target

MIN_TREE_DOCUMENTS = 40
"""Trees are trained for a field if at least this number of documents have a correct candidate.

Otherwise, a logistic ranker is trained.
"""

RULE_PRIOR = 1.0
"""The log odds that a logistic ranker adds per point of the rule score.

This value applies if at most MIN_EXAMPLES documents have a correct candidate. If more documents
have a correct candidate, the ranker adds proportionally less.
"""


@dataclass(slots=True)
class RankingData:
    """The candidates for one field in all examples, with their features.

    `rows` is the matrix of features, and `is_correct` states whether each candidate is correct.
    `bounds` contains, for each example, the index of its first row and the index after its last
    row.
    """

    target: Target
    views: list[FieldView] = field(default_factory=list)
    candidates: list[list[Candidate]] = field(default_factory=list)
    bounds: list[tuple[int, int]] = field(default_factory=list)
    rows: Array = field(default_factory=lambda: np.zeros((0, FEATURE_COUNT)))
    is_correct: Array = field(default_factory=lambda: np.zeros(0, dtype=bool))


def build_ranking_data(
    prepared_examples: Sequence[PreparedExample],
    target: Target,
    training_index: TrainingIndex,
    scores: Sequence[SpanScores | None],
) -> RankingData:
    """Collect the candidates for a field in all examples, and compute their features."""
    data = RankingData(target)
    rows: list[list[float]] = []
    is_correct: list[bool] = []
    for number, example in enumerate(prepared_examples):
        view, candidates = collect_candidates(
            example.prepared_document,
            target,
            training_index,
            scores=scores[number],
            excluded_document_number=number,
        )
        similar_documents = training_index.find_similar_documents(
            example.prepared_document.analysis, number
        )
        data.bounds.append((len(rows), len(rows) + len(candidates)))
        rows += build_features(view, candidates, similar_documents, scores[number])
        is_correct += match_candidates(candidates, target, example.values.get(target.name, []))
        data.views.append(view)
        data.candidates.append(candidates)
    data.rows = np.array(rows, dtype=np.float64).reshape(len(rows), FEATURE_COUNT)
    data.is_correct = np.array(is_correct, dtype=bool)
    return data


def fit_ranker(data: RankingData, example_indexes: Sequence[int]) -> trees.Ranker | None:
    """Train a ranker on the candidates of the examples at `example_indexes`.

    Returns None if these examples have no correct candidate, or no incorrect candidate.
    """
    rows_by_example = [np.arange(*data.bounds[index]) for index in example_indexes]
    row_indexes = (
        np.concatenate(rows_by_example) if rows_by_example else np.zeros(0, dtype=np.int64)
    )
    is_correct = data.is_correct[row_indexes]
    if not is_correct.any() or is_correct.all():
        return None
    rows = data.rows[row_indexes]
    positive_count = sum(
        1 for example_rows in rows_by_example if data.is_correct[example_rows].any()
    )
    if positive_count < MIN_TREE_DOCUMENTS:
        ranker = trees.fit_logistic_ranker(rows, is_correct)
        return ranker.add_prior(
            RULE_SCORE_INDEX, RULE_PRIOR * MIN_EXAMPLES / max(positive_count, MIN_EXAMPLES)
        )
    return trees.fit_trees(rows, is_correct)


def score_out_of_fold(data: RankingData, folds: Sequence[int]) -> list[Array]:
    """Return the log odds of each example's candidates, from a ranker trained on the other folds.

    An example has an empty array if no ranker could be trained on the other folds.
    """
    log_odds: list[Array] = [np.zeros(0)] * len(data.bounds)
    for fold in sorted(set(folds)):
        ranker = fit_ranker(
            data, [index for index, example_fold in enumerate(folds) if example_fold != fold]
        )
        for index, example_fold in enumerate(folds):
            if example_fold == fold and ranker is not None:
                start, end = data.bounds[index]
                log_odds[index] = ranker.compute_log_odds(data.rows[start:end])
    return log_odds


@dataclass(frozen=True, slots=True)
class CandidateChoice:
    """A chosen candidate: its index in the candidates, its log odds (-12 to 12), and its margin.

    The margin is the difference between its log odds and those of the best candidate with a
    different value, but at most 10. The margin is 5 if all candidates have the same value. It is 0
    for a field with multiple values.
    """

    index: int
    log_odds: float
    margin: float


def choose_candidates(
    candidates: Sequence[Candidate], log_odds: Array, *, multiple: bool
) -> list[CandidateChoice]:
    """Choose the candidate with the highest log odds, or several candidates if `multiple` is true.

    If `multiple` is true, choose the best candidates that do not overlap and have log odds of at
    least -1, at most MAX_VALUES, in document order. Returns an empty list if `log_odds` is empty.
    """
    if not len(log_odds):
        return []
    ranked_indexes = sorted(range(len(candidates)), key=lambda index: (-log_odds[index], index))
    if multiple:
        return _choose_disjoint_candidates(candidates, log_odds, ranked_indexes)
    best_index = ranked_indexes[0]
    rival_index = next(
        (i for i in ranked_indexes if candidates[i].key != candidates[best_index].key), None
    )
    margin = (
        5.0
        if rival_index is None
        else min(float(log_odds[best_index] - log_odds[rival_index]), 10.0)
    )
    return [CandidateChoice(best_index, _clamp_log_odds(log_odds[best_index]), margin)]


def _choose_disjoint_candidates(
    candidates: Sequence[Candidate], log_odds: Array, ranked_indexes: list[int]
) -> list[CandidateChoice]:
    choices: list[CandidateChoice] = []
    used_token_indexes: set[int] = set()
    for index in ranked_indexes[: 4 * MAX_VALUES]:
        if log_odds[index] < -1.0:
            break
        token_indexes = {i for a, b in candidates[index].ranges for i in range(a, b + 1)}
        if not token_indexes & used_token_indexes and len(choices) < MAX_VALUES:
            choices.append(CandidateChoice(index, _clamp_log_odds(log_odds[index]), 0.0))
            used_token_indexes |= token_indexes
    return sorted(choices, key=lambda choice: candidates[choice.index].first)


def _clamp_log_odds(log_odds: float) -> float:
    return float(min(max(log_odds, -12.0), 12.0)) if math.isfinite(log_odds) else 0.0
