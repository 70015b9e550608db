"""Compare the text of evidence with the text of the document."""

import json
import unicodedata
from collections.abc import Callable

MAX_EVIDENCE_TEXT = 20_000
MAX_FILLED_IN = 1_000_000
"""The maximum total number of code points filled in for one list of tags."""

_EXCERPT_LENGTH = 40
_LEAD_LENGTH = 10


class SourceText:
    """The text of a document, loaded when evidence first needs it."""

    def __init__(self, load: Callable[[], str]) -> None:
        self._load = load
        self._text: str | None = None
        self._remaining = MAX_FILLED_IN

    def slice(self, start: int, end: int) -> str:
        """Return the code points from `start` up to `end`."""
        if self._text is None:
            self._text = self._load()
        return self._text[start:end]

    def fill_in(self, start: int, end: int) -> str | None:
        """Return the text for evidence that has none, or None if it would be too long."""
        length = end - start
        if length > min(self._remaining, MAX_EVIDENCE_TEXT):
            return None
        self._remaining -= length
        return self.slice(start, end)


def is_same_text(claimed: str, actual: str) -> bool:
    """Return whether two texts are equal after Unicode normalization (NFC)."""
    if claimed == actual:
        return True
    if claimed.isascii() and actual.isascii():
        return False
    return unicodedata.normalize("NFC", claimed) == unicodedata.normalize("NFC", actual)


def describe_difference(claimed: str, actual: str) -> str:
    """Return an error message with short excerpts that show how `claimed` differs from `actual`."""
    pairs = zip(claimed, actual, strict=False)
    shorter = min(len(claimed), len(actual))
    position = next((index for index, (left, right) in enumerate(pairs) if left != right), shorter)
    first = (
        max(0, position - _LEAD_LENGTH) if max(len(claimed), len(actual)) > _EXCERPT_LENGTH else 0
    )
    excerpt, expected = _build_excerpt(claimed, first), _build_excerpt(actual, first)
    return f"is {excerpt}, but the document has {expected} at this position"


def _build_excerpt(text: str, first: int) -> str:
    cut = text[first : first + _EXCERPT_LENGTH]
    before = "…" if first else ""
    after = "…" if first + _EXCERPT_LENGTH < len(text) else ""
    return json.dumps(f"{before}{cut}{after}", ensure_ascii=False)
