"""Collect candidates for a field in a document, and build tags from the chosen candidates."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from app.engines.extraction.alignment import Searcher
from app.engines.extraction.analysis import Analysis
from app.engines.extraction.candidates import Candidate, Range, list_candidates
from app.engines.extraction.context import Contexts, build_contexts
from app.engines.extraction.memory import Memory
from app.engines.extraction.options import ABSENT, list_options
from app.engines.extraction.rules import View, build_view, find_place, score_candidate
from app.engines.extraction.spans import SpanScores, list_spans
from app.engines.extraction.values import Target, to_value
from app.engines.fields import JsonValue, Tag

MAX_CANDIDATES = 36
_MAX_BY_SPAN_SCORE = 24
MAX_VALUES = 50


@dataclass(slots=True)
class Reading:
    """A document's analysis, contexts and searcher, which all fields share."""

    analysis: Analysis
    contexts: Contexts
    searcher: Searcher


def read_document(analysis: Analysis) -> Reading:
    """Build the contexts and the searcher of an analyzed document."""
    return Reading(analysis, build_contexts(analysis), Searcher(analysis))


def collect_candidates(
    reading: Reading,
    target: Target,
    memory: Memory,
    *,
    scores: SpanScores | None = None,
    excluded_document: int | None = None,
) -> tuple[View, list[Candidate]]:
    """Return the best candidates for a field; the memory of `excluded_document` is not used."""
    spans = list_spans(scores) if scores else []
    candidates = list_all_candidates(reading, target, spans)
    if target.kind in ("lines", "code", "text"):
        candidates += _list_remembered_candidates(
            reading, target, memory, excluded_document, candidates
        )
    view = build_view(reading.analysis, target, reading.contexts)
    if scores:
        scores.record_best_means(candidates)
    return view, _select_best(view, candidates, scores)


def list_all_candidates(
    reading: Reading, target: Target, spans: Iterable[Range] = ()
) -> list[Candidate]:
    """Return all candidates for a field, including candidates without a place in the document."""
    if target.kind in ("option", "currency"):
        return list_options(reading.analysis, reading.searcher, target)
    return list_candidates(reading.analysis, target, spans)


def _list_remembered_candidates(
    reading: Reading,
    target: Target,
    memory: Memory,
    excluded_document: int | None,
    candidates: list[Candidate],
) -> list[Candidate]:
    known_keys = {(c.ranges, c.start, c.key) for c in candidates}
    remembered: list[Candidate] = []
    for letters in memory.list_values(target.name):
        if memory.get_documents(target.name, letters) == [excluded_document]:
            continue
        matches = reading.searcher.build_candidates(letters, "memory")
        remembered += [c for c in matches if (c.ranges, c.start, c.key) not in known_keys]
    return remembered[:12]


def _select_best(
    view: View, candidates: list[Candidate], scores: SpanScores | None
) -> list[Candidate]:
    """Return at most MAX_CANDIDATES: remembered candidates, then the best by span or rules."""
    if len(candidates) <= MAX_CANDIDATES:
        return candidates
    kept_indexes: set[int] = {index for index, c in enumerate(candidates) if c.kind == "memory"}
    if scores:
        sums = [scores.sum_excess(candidate) for candidate in candidates]
        kept_indexes.update(
            sorted(range(len(candidates)), key=lambda index: -sums[index])[:_MAX_BY_SPAN_SCORE]
        )
    points = [score_candidate(view, c, find_place(view, c)) for c in candidates]
    for index in sorted(range(len(candidates)), key=lambda index: -points[index]):
        if len(kept_indexes) >= MAX_CANDIDATES:
            break
        kept_indexes.add(index)
    return [candidates[index] for index in sorted(kept_indexes)]


def build_value(
    view: View, candidate: Candidate, spelling: str | None = None, currency: str = ""
) -> JsonValue:
    """Return the canonical value of a candidate, or None if the field rejects it."""
    target = view.target
    if target.field["type"] == "money":
        return to_value(target, candidate.key, find_currency(view, candidate) or currency)
    if target.kind == "amount" and target.field["type"] != "text":
        return to_value(target, candidate.key)
    if target.kind in ("date", "time", "datetime") and target.field["type"] != "text":
        return to_value(target, candidate.key)
    if target.kind in ("option", "currency"):
        return to_value(target, candidate.key)
    return to_value(target, candidate.text if spelling is None else spelling)


def find_currency(view: View, candidate: Candidate) -> str:
    """Return the currency next to an amount, or a default.

    The default is the field's only currency, or else the document's most frequent currency.
    """
    signs = view.analysis.currencies
    allowed = view.target.field["constraints"].get("currencies") or []
    nearby_indexes = [
        i for i in (candidate.first - 1, candidate.last + 1, candidate.first - 2) if i in signs
    ]
    if nearby_indexes:
        code = signs[nearby_indexes[0]]
        return code if not allowed or code in allowed else str(allowed[0])
    if len(allowed) == 1:
        return str(allowed[0])
    counts = Counter(code for code in signs.values() if not allowed or code in allowed)
    return min(counts, key=lambda code: (-counts[code], code)) if counts else ""


def build_tag(
    view: View, candidate: Candidate, value: JsonValue, confidence: float, row: int | None = None
) -> Tag:
    """Return a tag with one piece of evidence per line of the candidate."""
    return {
        "field": view.target.name,
        "value": value,
        "row": row,
        "confidence": round(min(max(confidence, 0.0), 1.0), 4),
        "source": "model",
        "evidence": build_evidence(view.analysis, candidate),
    }


def build_evidence(analysis: Analysis, candidate: Candidate) -> list[dict[str, Any]]:
    """Return the evidence of a candidate: page, box and offsets of each line, and no text yet."""
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
    analysis: Analysis, span: tuple[int, int], start: int, end: int
) -> Iterable[dict[str, Any]]:
    """Yield one piece of evidence, or more if the tokens are not consecutive in the text."""
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


def _unite_boxes(tokens: Sequence[Any]) -> list[float] | None:
    boxes = [token.box for token in tokens]
    x0, y0 = min(b[0] for b in boxes), min(b[1] for b in boxes)
    x1, y1 = max(b[2] for b in boxes), max(b[3] for b in boxes)
    box = [round(min(max(edge, 0.0), 1.0), 5) for edge in (x0, y0, x1, y1)]
    return box if box[0] < box[2] and box[1] < box[3] else None
