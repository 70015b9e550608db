"""Find accepted and remembered values in a document."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from app.engines.extraction.analysis import Analysis
from app.engines.extraction.candidates import Candidate, Range, build_variants
from app.engines.extraction.layout import compact
from app.engines.extraction.values import Target
from app.engines.fields import JsonValue

_FUZZY = 0.84
_SHORT = 5


def mark_matches(
    candidates: Sequence[Candidate], target: Target, values: Sequence[JsonValue]
) -> list[bool]:
    """Return for each candidate whether it is one of the accepted values.

    If no candidate equals a value, those that equal it on letters and digits count; if there is
    none either, the one that is most similar does.
    """
    matches = [False] * len(candidates)
    for value in values:
        key = target.build_key(value)
        strict = [
            place
            for place, c in enumerate(candidates)
            if _strip_currency(c.key) == _strip_currency(key)
        ]
        if not strict and isinstance(value, str | dict):
            letters = compact(_to_text(value))
            loose = [p for p, c in enumerate(candidates) if letters and compact(c.text) == letters]
            strict = loose or _find_most_similar(candidates, letters)
        for place in strict:
            matches[place] = True
    return matches


def _strip_currency(key: str) -> str:
    return key[:-3] if key[-3:].isalpha() and key[:1].isdigit() and key[-3:].isupper() else key


def _to_text(value: JsonValue) -> str:
    if isinstance(value, dict):
        return " ".join(str(part) for part in value.values())
    return str(value)


def _find_most_similar(candidates: Sequence[Candidate], letters: str) -> list[int]:
    if len(letters) < _SHORT:
        return []
    best, place = _FUZZY, -1
    matcher = SequenceMatcher(None, "", letters, autojunk=False)
    for number, candidate in enumerate(candidates):
        text = compact(candidate.text)
        if abs(len(text) - len(letters)) > 0.2 * len(letters):
            continue
        matcher.set_seq1(text)
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
            ratio = matcher.ratio()
            if ratio > best:
                best, place = ratio, number
    return [place] if place >= 0 else []


def find_evidence_ranges(analysis: Analysis, evidence: Sequence[dict[str, Any]]) -> list[Range]:
    """Return the ranges of tokens that pieces of evidence with offsets or boxes cover."""
    ranges = []
    for piece in evidence:
        covered = [i for i, token in enumerate(analysis.tokens) if _is_covered(token, piece)]
        if covered:
            ranges.append((covered[0], covered[-1]))
    return ranges


def _is_covered(token: Any, piece: dict[str, Any]) -> bool:
    if piece.get("start") is not None:
        return bool(token.start < piece["end"] and token.end > piece["start"])
    box = piece.get("box")
    if box is None or piece.get("page") != token.page:
        return False
    x, y = (token.box[0] + token.box[2]) / 2, (token.box[1] + token.box[3]) / 2
    return bool(box[0] <= x <= box[2] and box[1] <= y <= box[3])


class Searcher:
    """Finds values in a document by their letters and digits, in reading order."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._starts: dict[int, int] = {}
        self._ends: dict[int, int] = {}
        size = 0
        parts = []
        for index, token in enumerate(analysis.tokens):
            if token.compact:
                self._starts[size] = index
                size += len(token.compact)
                self._ends[size] = index
                parts.append(token.compact)
        self._text = "".join(parts)

    def find(self, letters: str, limit: int = 4) -> list[Range]:
        """Return where whole tokens have these letters and digits, at most `limit` places."""
        found: list[Range] = []
        at = self._text.find(letters) if letters else -1
        while at >= 0 and len(found) < limit:
            first, last = self._starts.get(at), self._ends.get(at + len(letters))
            if first is not None and last is not None:
                found.append((first, last))
            at = self._text.find(letters, at + 1)
        return found

    def build(self, letters: str, kind: str) -> Iterator[Candidate]:
        """Yield candidates where the letters and digits were found, one range per row."""
        tokens = self._analysis.tokens
        for first, last in self.find(letters):
            ranges: list[Range] = []
            for index in range(first, last + 1):
                if ranges and tokens[ranges[-1][0]].row == tokens[index].row:
                    ranges[-1] = (ranges[-1][0], index)
                else:
                    ranges.append((index, index))
            yield from build_variants(self._analysis.layout, kind, tuple(ranges))
