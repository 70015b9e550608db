"""A document as conditions see it, and how its texts are compared and shown."""

import unicodedata
from collections.abc import Mapping
from typing import Any

MAX_TEXT = 100_000
"""How many characters of a document's text conditions look at."""

EXCERPT = 200
"""How much of a text an explanation shows, in characters."""


def fold(text: str) -> str:
    """What two spellings have in common that differ in case or in how accents are composed."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def excerpt(text: str, at: int = 0) -> str:
    """At most `EXCERPT` characters of a text, of around the place `at`; marked where it was cut."""
    if len(text) <= EXCERPT:
        return text
    room = EXCERPT - 2
    start = max(0, min(at - room // 4, len(text) - room))
    end = start + room
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")


class Facts:
    """Values by attribute; what is left out or None is missing. Texts are folded once, when asked
    for."""

    __slots__ = ("_folded", "values")

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self._folded: dict[str, str] = {}

    def folded(self, attribute: str) -> str | None:
        """The folded text of an attribute; None where there is no text."""
        found = self._folded.get(attribute)
        if found is None:
            value = self.values.get(attribute)
            if not isinstance(value, str):
                return None
            found = self._folded[attribute] = fold(value)
        return found
