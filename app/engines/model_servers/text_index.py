"""Find texts in a document, in time that does not depend on what they are.

An answer can be made so that every search is slow, and its thread shares the process with others.
So the words of the document are indexed once, and a search only compares at the places of the
rarest word.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from typing import NamedTuple

_MAX_PLACES = 1_000
"""The maximum number of places that one search compares."""

_MAX_MARKS = 10
"""The maximum length of a text without letters and digits."""

# Each of them matches any text in linear time.
_TOKEN = re.compile(r"\S+")
_WORD = re.compile(r"\w+")


class Range(NamedTuple):
    """Offsets in the text of the document."""

    start: int
    end: int


class TextIndex:
    """The words of a text without differences of case and white space."""

    def __init__(self, text: str) -> None:
        tokens = list(_TOKEN.finditer(text))
        pieces = [_lower(token.group()) for token in tokens]
        self._folded = " ".join(pieces)
        self._starts = [token.start() for token in tokens]
        self._folded_starts: list[int] = []
        start = 0
        for piece in pieces:
            self._folded_starts.append(start)
            start += len(piece) + 1
        self._places: dict[str, list[int]] = defaultdict(list)
        for word in _WORD.finditer(self._folded):
            self._places[word.group()].append(word.start())
        self._known: dict[str, Range | None] = {}

    def find(self, text: str) -> Range | None:
        """Return the first place of a text whose first and last words are not parts of words."""
        folded = " ".join(_lower(piece) for piece in text.split())
        if folded not in self._known:
            self._known[folded] = self._find(folded) if folded else None
        return self._known[folded]

    def _find(self, folded: str) -> Range | None:
        words = list(_WORD.finditer(folded))
        if not words:
            return self._find_marks(folded)
        rarest = min(words, key=lambda word: len(self._places.get(word.group(), ())))
        for place in self._places.get(rarest.group(), ())[:_MAX_PLACES]:
            start = place - rarest.start()
            if start >= 0 and self._folded.startswith(folded, start):
                found = self._check_edges(start, start + len(folded))
                if found is not None:
                    return found
        return None

    def _find_marks(self, folded: str) -> Range | None:
        start = -1
        for _ in range(_MAX_PLACES if len(folded) <= _MAX_MARKS else 0):
            start = self._folded.find(folded, start + 1)
            if start < 0:
                break
            found = self._check_edges(start, start + len(folded))
            if found is not None:
                return found
        return None

    def _check_edges(self, start: int, end: int) -> Range | None:
        # A number must not be found inside a longer one.
        before, after = self._folded[max(start - 1, 0) : start], self._folded[end : end + 1]
        if _WORD.match(before) or _WORD.match(after):
            return None
        return Range(self._to_offset(start), self._to_offset(end - 1) + 1)

    def _to_offset(self, place: int) -> int:
        number = bisect_right(self._folded_starts, place) - 1
        return self._starts[number] + place - self._folded_starts[number]


def _lower(piece: str) -> str:
    """Return a text in lower case with the same number of characters."""
    lowered = piece.lower()
    if len(lowered) == len(piece):
        return lowered
    return "".join(one.lower() if len(one.lower()) == 1 else one for one in piece)
