"""Compare the text of evidence with the text of the document."""

import json
from collections.abc import Callable

from app.engines.normalization import normalize

MAX_EVIDENCE_TEXT_CHARS = 20_000
MAX_FILLED_IN_CHARS = 1_000_000
"""The maximum number of code points that one `SourceText` fills in as text of evidence."""

_EXCERPT_LENGTH = 40
_CHARS_BEFORE_DIFFERENCE = 10


class SourceText:
    """The text of a document, which is loaded on first use."""

    def __init__(self, load: Callable[[], str]) -> None:
        self._load = load
        self._text: str | None = None
        self._remaining_chars = MAX_FILLED_IN_CHARS

    def get_slice(self, start: int, end: int) -> str:
        """Return the code points from `start` up to, but not including, `end`."""
        if self._text is None:
            self._text = self._load()
        return self._text[start:end]

    def fill_in(self, start: int, end: int) -> str | None:
        """Return the text to fill in for evidence without text, or None if it is too long.

        The limits in code points are MAX_EVIDENCE_TEXT_CHARS for each text, and MAX_FILLED_IN_CHARS
        for all texts that this object fills in.
        """
        length = end - start
        if length > min(self._remaining_chars, MAX_EVIDENCE_TEXT_CHARS):
            return None
        self._remaining_chars -= length
        return self.get_slice(start, end)


def is_same_text(claimed_text: str, actual_text: str) -> bool:
    """Return whether `claimed_text` equals `actual_text` after Unicode normalization (NFC)."""
    if claimed_text == actual_text:
        return True
    if claimed_text.isascii() and actual_text.isascii():
        return False
    return normalize("NFC", claimed_text) == normalize("NFC", actual_text)


def describe_difference(claimed_text: str, actual_text: str) -> str:
    """Build an error message that shows where two texts differ, with short excerpts."""
    pairs = zip(claimed_text, actual_text, strict=False)
    min_length = min(len(claimed_text), len(actual_text))
    position = next(
        (index for index, (left, right) in enumerate(pairs) if left != right), min_length
    )
    start = (
        max(0, position - _CHARS_BEFORE_DIFFERENCE)
        if max(len(claimed_text), len(actual_text)) > _EXCERPT_LENGTH
        else 0
    )
    excerpt, expected = _build_excerpt(claimed_text, start), _build_excerpt(actual_text, start)
    return f"is {excerpt}, but the document has {expected} at this position"


def _build_excerpt(text: str, start: int) -> str:
    excerpt = text[start : start + _EXCERPT_LENGTH]
    before = "…" if start else ""
    after = "…" if start + _EXCERPT_LENGTH < len(text) else ""
    return json.dumps(f"{before}{excerpt}{after}", ensure_ascii=False)
