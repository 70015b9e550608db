"""Find where the accepted values of a document, or of training documents, occur in a document."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from app.engines.extraction.analysis import Analysis
from app.engines.extraction.candidates import Candidate, Range, build_variants
from app.engines.extraction.layout import Token, compact_text
from app.engines.extraction.values import Target
from app.engines.fields import JsonValue

_MIN_SIMILARITY = 0.84  # the ratio of a SequenceMatcher
_MIN_FUZZY_LENGTH = 5  # in letters and digits


def match_candidates(
    candidates: Sequence[Candidate], target: Target, values: Sequence[JsonValue]
) -> list[bool]:
    """Return, for each candidate, whether it matches one of the accepted values.

    A candidate with the comparison key of a value matches; currencies are ignored. If there is none
    and the value is a string or an object, candidates with the same letters and digits match. If
    there are none either, the most similar candidate may match (see `_find_most_similar`).
    """
    matches = [False] * len(candidates)
    for value in values:
        key = target.build_key(value)
        indexes = [
            index
            for index, c in enumerate(candidates)
            if _strip_currency(c.key) == _strip_currency(key)
        ]
        if not indexes and isinstance(value, str | dict):
            compact_value = compact_text(_to_text(value))
            lenient_indexes = [
                i
                for i, c in enumerate(candidates)
                if compact_value and compact_text(c.text) == compact_value
            ]
            indexes = lenient_indexes or _find_most_similar(candidates, compact_value)
        for index in indexes:
            matches[index] = True
    return matches


def _strip_currency(key: str) -> str:
    """Return the comparison key of an amount without its currency, such as `12.5` for `12.5EUR`."""
    return key[:-3] if key[-3:].isalpha() and key[:1].isdigit() and key[-3:].isupper() else key


def _to_text(value: JsonValue) -> str:
    if isinstance(value, dict):
        return " ".join(str(part) for part in value.values())
    return str(value)


def _find_most_similar(candidates: Sequence[Candidate], compact_value: str) -> list[int]:
    """Return a list with the index of the most similar candidate, or [] if none is similar enough.

    `compact_value` is the result of `compact_text` for an accepted value. Returns [] if it is
    shorter than _MIN_FUZZY_LENGTH.
    """
    if len(compact_value) < _MIN_FUZZY_LENGTH:
        return []
    best_ratio, best_index = _MIN_SIMILARITY, -1
    matcher = SequenceMatcher(None, "", compact_value, autojunk=False)
    for index, candidate in enumerate(candidates):
        text = compact_text(candidate.text)
        if abs(len(text) - len(compact_value)) > 0.2 * len(compact_value):
            continue
        matcher.set_seq1(text)
        if matcher.real_quick_ratio() > best_ratio and matcher.quick_ratio() > best_ratio:
            ratio = matcher.ratio()
            if ratio > best_ratio:
                best_ratio, best_index = ratio, index
    return [best_index] if best_index >= 0 else []


def find_evidence_ranges(analysis: Analysis, evidence: Sequence[dict[str, Any]]) -> list[Range]:
    """Return the range of tokens that each piece of evidence covers with its offsets or its box.

    Pieces that cover no token are omitted.
    """
    ranges = []
    for piece in evidence:
        token_indexes = [i for i, token in enumerate(analysis.tokens) if _is_covered(token, piece)]
        if token_indexes:
            ranges.append((token_indexes[0], token_indexes[-1]))
    return ranges


def _is_covered(token: Token, piece: dict[str, Any]) -> bool:
    if piece.get("start") is not None:
        return bool(token.start < piece["end"] and token.end > piece["start"])
    box = piece.get("box")
    if box is None or piece.get("page") != token.page:
        return False
    x, y = (token.box[0] + token.box[2]) / 2, (token.box[1] + token.box[3]) / 2
    return bool(box[0] <= x <= box[2] and box[1] <= y <= box[3])


class ValueSearcher:
    """Searches a document for values, ignoring all characters except letters and digits.

    A `compact_value` is the result of `compact_text` for a value.
    """

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._first_by_offset: dict[int, int] = {}
        self._last_by_offset: dict[int, int] = {}
        size = 0
        parts = []
        for index, token in enumerate(analysis.tokens):
            if token.compact:
                self._first_by_offset[size] = index
                size += len(token.compact)
                self._last_by_offset[size] = index
                parts.append(token.compact)
        self._text = "".join(parts)

    def find(self, compact_value: str, limit: int = 4) -> list[Range]:
        """Find at most `limit` ranges of whole tokens whose compact text is `compact_value`."""
        ranges: list[Range] = []
        offset = self._text.find(compact_value) if compact_value else -1
        while offset >= 0 and len(ranges) < limit:
            first = self._first_by_offset.get(offset)
            last = self._last_by_offset.get(offset + len(compact_value))
            if first is not None and last is not None:
                ranges.append((first, last))
            offset = self._text.find(compact_value, offset + 1)
        return ranges

    def build_candidates(self, compact_value: str, kind: str) -> Iterator[Candidate]:
        """Yield candidates of a `kind` for the first four occurrences, with one range per row."""
        tokens = self._analysis.tokens
        for first, last in self.find(compact_value):
            ranges: list[Range] = []
            for index in range(first, last + 1):
                if ranges and tokens[ranges[-1][0]].row == tokens[index].row:
                    ranges[-1] = (ranges[-1][0], index)
                else:
                    ranges.append((index, index))
            yield from build_variants(self._analysis.layout, kind, tuple(ranges))
