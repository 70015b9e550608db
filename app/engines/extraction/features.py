"""Compute the numeric features of candidates for the rankers."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from app.engines.extraction.candidates import Candidate
from app.engines.extraction.lexicon import load_lexicon
from app.engines.extraction.rules import (
    FieldView,
    NearbyKeywords,
    find_nearby_keywords,
    score_candidate,
)
from app.engines.extraction.spans import SpanScores
from app.engines.extraction.training_index import SimilarDocuments

_CONTEXT_CONCEPTS = (
    *("total", "subtotal", "tax", "cash", "change", "rounding", "discount", "date", "due_date"),
    *("number", "phone", "tax_id", "operator", "company", "address", "quantity", "customer"),
)
"""The concepts (see `lexicon`) whose keywords in or next to a candidate are features."""
_CANDIDATE_KINDS = ("amount", "date", "span", "lines", "rows", "code", "after", "training_value")
RULE_SCORE_INDEX = 29
"""The index of the rule score in a row of features."""

FEATURE_COUNT = 34 + 3 * len(_CONTEXT_CONCEPTS) + 7 + 6 + len(_CANDIDATE_KINDS)
"""The number of features for each candidate.

The features describe, in this order: layout, text, ranks and rules (34 together), nearby keywords
(3 for each concept), span scores (7), similar documents (6), and the candidate's kind (1 for each
of _CANDIDATE_KINDS).
"""


def build_features(
    view: FieldView,
    candidates: Sequence[Candidate],
    similar_documents: SimilarDocuments,
    scores: SpanScores | None,
) -> list[list[float]]:
    """Build the features: return one row of FEATURE_COUNT numbers for each candidate.

    `scores` is None for a field that the sequence model has not learned; its span scores are 0.
    """
    nearby_keywords = [find_nearby_keywords(view, candidate) for candidate in candidates]
    rows = []
    ranks = _CandidateRanks(candidates)
    for index, candidate in enumerate(candidates):
        keywords = nearby_keywords[index]
        row = _compute_layout_features(view, candidate)
        row += _compute_text_features(candidate)
        row += ranks.compute_features(index)
        row += [
            score_candidate(view, candidate, keywords),
            float(keywords.left_matches_field),
            float(min(keywords.distance, 20)),
            float(keywords.above_matches_field),
            float(view.analysis.sum_scores.get(candidate.key, 0)),
        ]
        row += _compute_context_features(view, candidate, keywords)
        row += scores.compute_features(candidate) if scores else [0.0] * 7
        row += similar_documents.build_features(view.analysis, view.target.name, candidate)
        row += [float(candidate.kind == kind) for kind in _CANDIDATE_KINDS]
        rows.append(row)
    return rows


def _compute_layout_features(view: FieldView, candidate: Candidate) -> list[float]:
    layout = view.analysis.layout
    first_token, last_token = layout.tokens[candidate.first], layout.tokens[candidate.last]
    first_segment, last_segment = (
        layout.segments[first_token.segment],
        layout.segments[last_token.segment],
    )
    row_first, row_last = layout.rows[first_token.row]
    row_count = len(layout.rows)
    return [
        float(first_token.row),
        float(row_count - last_token.row),
        first_token.row / row_count,
        first_token.box[0],
        last_token.box[2],
        first_token.box[1],
        (first_token.box[0] + last_token.box[2]) / 2,
        float(first_token.page),
        (first_token.box[3] - first_token.box[1]) / layout.word_height,
        float(candidate.first == first_segment.first),
        float(candidate.last == last_segment.last),
        float(candidate.first == row_first),
        float(candidate.last == layout.rows[last_token.row][1]),
        float(candidate.first - row_first),
        float(row_last - row_first + 1),
        float(len(candidate.ranges)),
    ]


def _compute_text_features(candidate: Candidate) -> list[float]:
    text = candidate.text
    size = max(len(text), 1)
    digit_count = sum(char.isdigit() for char in text)
    letter_count = sum(char.isalpha() for char in text)
    capital_count = sum(char.isupper() for char in text)
    return [
        float(size),
        digit_count / size,
        letter_count / size,
        capital_count / max(letter_count, 1),
        float(text.count(",")),
        float(text[-1:] in ",.;:"),
        float(text.count(" ")),
        float("." in text[-3:] or "," in text[-3:]),
        float("(" in text),
        float(candidate.is_alternative),
    ]


class _CandidateRanks:
    """Ranks candidates by amount, and counts the candidates with equal values."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self._keys = [candidate.key for candidate in candidates]
        self._counts = Counter(self._keys)
        is_amount = bool(candidates) and candidates[0].kind == "amount"
        self._values = [_to_number(key) if is_amount else 0.0 for key in self._keys]
        decimals = {
            value
            for value, candidate in zip(self._values, candidates, strict=True)
            if is_amount and ("." in candidate.text or "," in candidate.text)
        }
        self._ranking = sorted(decimals, reverse=True)

    def compute_features(self, index: int) -> list[float]:
        """Return a candidate's logarithmic amount, its rank, and the number of equal values."""
        value = self._values[index]
        rank = self._ranking.index(value) if value in self._ranking else len(self._ranking)
        log = math.copysign(math.log1p(abs(value)), value)
        return [log, float(min(rank, 20)), float(self._counts[self._keys[index]])]


def _to_number(key: str) -> float:
    try:
        return min(float(key.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")), 1e12)
    except ValueError:
        return 0.0


def _compute_context_features(
    view: FieldView, candidate: Candidate, keywords: NearbyKeywords
) -> list[float]:
    concepts = view.analysis.keywords.concepts
    candidate_concepts: set[str] = set()
    for first, last in candidate.ranges:
        candidate_concepts.update(concepts[first : last + 1])
    row: list[Any] = []
    for concept in _CONTEXT_CONCEPTS:
        row += [
            float(keywords.left == concept),
            float(keywords.above == concept),
            float(concept in candidate_concepts),
        ]
    return row


assert set(_CONTEXT_CONCEPTS) <= load_lexicon().keys()
