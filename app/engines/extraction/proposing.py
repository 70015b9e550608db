"""Collect candidates for a field in a document, and build tags from chosen candidates."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from app.engines.extraction.alignment import ValueSearcher
from app.engines.extraction.analysis import Analysis, analyze
from app.engines.extraction.candidates import Candidate, Range, list_candidates
from app.engines.extraction.context import KeywordContexts
from app.engines.extraction.currencies import read_currency
from app.engines.extraction.model import Document, enclose_boxes
from app.engines.extraction.options import ABSENT, list_options
from app.engines.extraction.rules import (
    FieldView,
    build_field_view,
    find_nearby_keywords,
    score_candidate,
)
from app.engines.extraction.spans import SpanScores, list_spans
from app.engines.extraction.training_index import TrainingIndex
from app.engines.extraction.values import Target, to_value
from app.engines.fields import JsonValue, Tag
from app.engines.fields.values.currencies import get_allowed_currencies

MAX_CANDIDATES = 36
"""The maximum number of candidates for a field in one document."""
_MAX_BY_SPAN_SCORE = 24
"""The number of candidates that `_select_best` keeps for their span scores."""
MAX_VALUES = 50
"""The maximum number of values that a trained model proposes for a field in one document."""


@dataclass(slots=True)
class PreparedDocument:
    """A document's analysis, keyword contexts and search index, which are shared by all fields."""

    analysis: Analysis
    contexts: KeywordContexts
    searcher: ValueSearcher


def prepare_document(document: Document) -> PreparedDocument:
    """Analyze a document, and build its keyword contexts and its search index."""
    analysis = analyze(document)
    return PreparedDocument(analysis, KeywordContexts(analysis), ValueSearcher(analysis))


def collect_candidates(
    prepared_document: PreparedDocument,
    target: Target,
    training_index: TrainingIndex,
    *,
    scores: SpanScores | None = None,
    excluded_document_number: int | None = None,
) -> tuple[FieldView, list[Candidate]]:
    """Collect the best candidates for a field, at most MAX_CANDIDATES.

    Returns the field's view of the document, and the candidates. If `scores` is not None, updates
    its `best_means`.

    Some candidates are values from `training_index` that occur in this document. Values that were
    accepted only in the training document `excluded_document_number` are not used.
    """
    spans = list_spans(scores) if scores else []
    candidates = list_all_candidates(prepared_document, target, spans)
    if target.kind in ("lines", "code", "text"):
        candidates += _list_training_value_candidates(
            prepared_document, target, training_index, excluded_document_number, candidates
        )
    view = build_field_view(prepared_document.analysis, target, prepared_document.contexts)
    if scores:
        scores.record_best_means(candidates)
    return view, _select_best(view, candidates, scores)


def list_all_candidates(
    prepared_document: PreparedDocument, target: Target, spans: Iterable[Range] = ()
) -> list[Candidate]:
    """Return all candidates for a field, including ABSENT candidates (values not in the document).

    `spans` are additional token ranges that are likely values according to the sequence model
    (`crf`).
    """
    if target.kind in ("option", "currency"):
        return list_options(prepared_document.analysis, prepared_document.searcher, target)
    return list_candidates(prepared_document.analysis, target, spans)


def _list_training_value_candidates(
    prepared_document: PreparedDocument,
    target: Target,
    training_index: TrainingIndex,
    excluded_document_number: int | None,
    candidates: list[Candidate],
) -> list[Candidate]:
    """Return up to 12 candidates, not in `candidates`, where values from the index occur."""
    known_keys = {(c.ranges, c.start, c.key) for c in candidates}
    training_value_candidates: list[Candidate] = []
    for compact_value in training_index.list_compact_values(target.name):
        document_numbers = set(training_index.list_document_numbers(target.name, compact_value))
        if document_numbers == {excluded_document_number}:
            continue
        matches = prepared_document.searcher.build_candidates(compact_value, "training_value")
        training_value_candidates += [
            c for c in matches if (c.ranges, c.start, c.key) not in known_keys
        ]
    return training_value_candidates[:12]


def _select_best(
    view: FieldView, candidates: list[Candidate], scores: SpanScores | None
) -> list[Candidate]:
    """Return at most MAX_CANDIDATES candidates, in the original order.

    Candidates with values from the training index are kept first, then the candidates with the best
    span scores, and then the candidates with the best rule scores.
    """
    if len(candidates) <= MAX_CANDIDATES:
        return candidates
    kept_indexes: set[int] = {
        index for index, c in enumerate(candidates) if c.kind == "training_value"
    }
    if scores:
        excess_sums = [scores.sum_excess_probability(candidate) for candidate in candidates]
        kept_indexes.update(
            sorted(range(len(candidates)), key=lambda index: -excess_sums[index])[
                :_MAX_BY_SPAN_SCORE
            ]
        )
    points = [score_candidate(view, c, find_nearby_keywords(view, c)) for c in candidates]
    for index in sorted(range(len(candidates)), key=lambda index: -points[index]):
        if len(kept_indexes) >= MAX_CANDIDATES:
            break
        kept_indexes.add(index)
    return [candidates[index] for index in sorted(kept_indexes)]


def build_value(
    view: FieldView, candidate: Candidate, spelling: str | None = None, currency: str = ""
) -> JsonValue:
    """Build the canonical value of a candidate, or return None if the field does not allow it.

    For values that are text, `spelling` replaces the candidate's text. `currency` is used if
    `find_currency` finds none.
    """
    target = view.target
    if target.field["type"] == "money":
        return to_value(target, candidate.key, find_currency(view, candidate) or currency)
    is_parsed = target.kind in ("amount", "date", "time", "datetime")
    if target.kind in ("option", "currency") or (is_parsed and target.field["type"] != "text"):
        return to_value(target, candidate.key)
    return to_value(target, candidate.text if spelling is None else spelling)


def find_currency(view: FieldView, candidate: Candidate) -> str:
    """Find the currency of the code or sign next to an amount, even if the field does not allow it.

    If there is no clear code or sign, returns the only currency that the field allows, or else the
    most frequent allowed currency of the document, or "" if the document has none.
    """
    tokens, currencies = view.analysis.tokens, view.analysis.currencies
    allowed_currencies = get_allowed_currencies(view.target.field)
    for index in (candidate.first - 1, candidate.last + 1, candidate.first - 2):
        if index in currencies and tokens[index].row == tokens[candidate.first].row:
            if currency := read_currency(currencies[index], allowed_currencies):
                return currency
            break
    if len(allowed_currencies) == 1:
        return allowed_currencies[0]
    codes = (read_currency(sign, allowed_currencies) for sign in currencies.values())
    counts = Counter(
        code for code in codes if code and (not allowed_currencies or code in allowed_currencies)
    )
    return min(counts, key=lambda code: (-counts[code], code)) if counts else ""


def build_tag(
    view: FieldView,
    candidate: Candidate,
    value: JsonValue,
    confidence: float,
    row: int | None = None,
) -> Tag:
    """Build a tag with the source "model" for a candidate, with evidence for each line."""
    return {
        "field": view.target.name,
        "value": value,
        "row": row,
        "confidence": round(min(max(confidence, 0.0), 1.0), 4),
        "source": "model",
        "evidence": build_evidence(view.analysis, candidate),
    }


def build_evidence(analysis: Analysis, candidate: Candidate) -> list[dict[str, Any]]:
    """Build a candidate's evidence: the page, box and offsets of each line.

    `complete_evidence` adds the text later. An ABSENT candidate has no evidence.
    """
    if candidate.kind == ABSENT:
        return []
    pieces: list[dict[str, Any]] = []
    for index, (first, last) in enumerate(candidate.ranges):
        tokens = analysis.tokens[first : last + 1]
        start = candidate.start if index == 0 else tokens[0].start
        end = candidate.end if index == len(candidate.ranges) - 1 else tokens[-1].end
        pieces += _build_line_evidence(analysis, (first, last), start, end)
    return pieces


def _build_line_evidence(
    analysis: Analysis, span: Range, start: int, end: int
) -> Iterable[dict[str, Any]]:
    """Yield one piece of evidence for each group of tokens that are consecutive in the text."""
    tokens = analysis.tokens[span[0] : span[1] + 1]
    groups: list[list[Any]] = []
    for token in tokens:
        if groups and 0 <= token.start - groups[-1][-1].end <= _MAX_GAP:
            groups[-1].append(token)
        else:
            groups.append([token])
    for index, group in enumerate(groups):
        group_start = start if index == 0 else group[0].start
        group_end = end if index == len(groups) - 1 else group[-1].end
        if group_start < group_end:
            yield {
                "page": group[0].page,
                "box": _unite_boxes(group),
                "start": group_start,
                "end": group_end,
                "text": None,
            }


_MAX_GAP = 3
"""The maximum number of code points between consecutive tokens of one piece of evidence."""


def _unite_boxes(tokens: Sequence[Any]) -> list[float] | None:
    edges = enclose_boxes([token.box for token in tokens])
    box = [round(min(max(edge, 0.0), 1.0), 5) for edge in edges]
    return box if box[0] < box[2] and box[1] < box[3] else None
