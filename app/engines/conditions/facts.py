"""Hold the attribute values of a document for conditions, and fold and shorten its texts."""

import unicodedata
from collections.abc import Mapping
from typing import Any

MAX_TEXT = 100_000
"""The number of leading characters of a document's text that conditions examine."""

EXCERPT = 200
"""The maximum number of characters of a text in an explanation."""


def fold(text: str) -> str:
    """Return `text` in a form for comparisons that ignore case and the composition of accents."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def excerpt(text: str, at: int = 0) -> str:
    """Return at most `EXCERPT` characters of `text` around position `at`; "…" marks a cut."""
    if len(text) <= EXCERPT:
        return text
    room = EXCERPT - 2
    start = max(0, min(at - room // 4, len(text) - room))
    end = start + room
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")


class Facts:
    """The attribute values of one document; a value of None counts as missing.

    Texts are folded on first use and cached.
    """

    __slots__ = ("_folded", "values")

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self._folded: dict[str, str] = {}

    def folded(self, attribute: str) -> str | None:
        """Return the folded text of an attribute, or None if its value is missing or not text."""
        text = self._folded.get(attribute)
        if text is None:
            value = self.values.get(attribute)
            if not isinstance(value, str):
                return None
            text = self._folded[attribute] = fold(value)
        return text
