"""Collect the candidates of a field in a document, and turn the chosen ones into tags."""

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
from app.engines.extraction.rules import View, build_view, find_place, score
from app.engines.extraction.spans import SpanScores, list_spans
from app.engines.extraction.values import Target, to_value
from app.engines.fields import JsonValue, Tag

MAX_CANDIDATES = 36
_KEPT_BY_SPAN = 24
MAX_MULTIPLE = 50


@dataclass(slots=True)
class Reading:
    """A document prepared for all fields."""

    analysis: Analysis
    contexts: Contexts
    searcher: Searcher


def read(analysis: Analysis) -> Reading:
    """Prepare an analyzed document."""
    return Reading(analysis, build_contexts(analysis), Searcher(analysis))


def collect(
    reading: Reading,
    target: Target,
    memory: Memory,
    *,
    scores: SpanScores | None = None,
    without: int | None = None,
) -> tuple[View, list[Candidate]]:
    """Return the best candidates of a field; `without` excludes one document of the memory."""
    spans = list_spans(scores) if scores else []
    found = list_all(reading, target, spans)
    if target.kind in ("lines", "code", "text"):
        found += _recall_values(reading, target, memory, without, found)
    view = build_view(reading.analysis, target, reading.contexts)
    if scores:
        scores.collect(found)
    return view, _select(view, found, scores)


def list_all(reading: Reading, target: Target, spans: Iterable[Range] = ()) -> list[Candidate]:
    """Return all candidates of a field, including those without a place in the document."""
    if target.kind in ("option", "currency"):
        return list_options(reading.analysis, reading.searcher, target)
    return list_candidates(reading.analysis, target, spans)


def _recall_values(
    reading: Reading, target: Target, memory: Memory, without: int | None, found: list[Candidate]
) -> list[Candidate]:
    known = {(c.ranges, c.start, c.key) for c in found}
    recalled: list[Candidate] = []
    for letters in memory.list_values(target.name):
        if memory.get_documents(target.name, letters) == [without]:
            continue
        built = reading.searcher.build(letters, "memory")
        recalled += [c for c in built if (c.ranges, c.start, c.key) not in known]
    return recalled[:12]


def _select(view: View, found: list[Candidate], scores: SpanScores | None) -> list[Candidate]:
    """Return the candidates that are best by token probabilities or best by rules."""
    if len(found) <= MAX_CANDIDATES:
        return found
    kept: set[int] = {place for place, c in enumerate(found) if c.kind == "memory"}
    if scores:
        sums = [scores.sum(candidate) for candidate in found]
        kept.update(sorted(range(len(found)), key=lambda place: -sums[place])[:_KEPT_BY_SPAN])
    points = [score(view, c, find_place(view, c)) for c in found]
    for place in sorted(range(len(found)), key=lambda place: -points[place]):
        if len(kept) >= MAX_CANDIDATES:
            break
        kept.add(place)
    return [found[place] for place in sorted(kept)]


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
    """Return the currency next to an amount, else the field's only one, else the document's."""
    signs = view.analysis.currencies
    allowed = view.target.field["constraints"].get("currencies") or []
    near = [i for i in (candidate.first - 1, candidate.last + 1, candidate.first - 2) if i in signs]
    if near:
        code = signs[near[0]]
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
    """Return the evidence of a candidate: page, box, offsets and text of each of its lines."""
    if candidate.kind == ABSENT:
        return []
    pieces: list[dict[str, Any]] = []
    for place, (first, last) in enumerate(candidate.ranges):
        tokens = analysis.tokens[first : last + 1]
        start = candidate.start if place == 0 else tokens[0].start
        end = candidate.end if place == len(candidate.ranges) - 1 else tokens[-1].end
        pieces += _build_pieces(analysis, (first, last), start, end)
    return pieces


def _build_pieces(
    analysis: Analysis, span: tuple[int, int], start: int, end: int
) -> Iterable[dict[str, Any]]:
    """Yield pieces of text; one, unless the tokens are not in the order of the document's text."""
    tokens = analysis.tokens[span[0] : span[1] + 1]
    groups: list[list[Any]] = []
    for token in tokens:
        if groups and 0 <= token.start - groups[-1][-1].end <= _GAP:
            groups[-1].append(token)
        else:
            groups.append([token])
    for place, group in enumerate(groups):
        begin = start if place == 0 else group[0].start
        stop = end if place == len(groups) - 1 else group[-1].end
        if begin < stop:
            yield {
                "page": group[0].page,
                "box": _unite(group),
                "start": begin,
                "end": stop,
                "text": None,
            }


_GAP = 3


def _unite(tokens: Sequence[Any]) -> list[float] | None:
    boxes = [token.box for token in tokens]
    x0, y0 = min(b[0] for b in boxes), min(b[1] for b in boxes)
    x1, y1 = max(b[2] for b in boxes), max(b[3] for b in boxes)
    box = [round(min(max(edge, 0.0), 1.0), 5) for edge in (x0, y0, x1, y1)]
    return box if box[0] < box[2] and box[1] < box[3] else None
