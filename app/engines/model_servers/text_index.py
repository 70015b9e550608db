"""Find strings in a document in bounded time.

A malicious model server could answer with strings that make a plain search slow, which would delay
the other threads of the process. The words of the document are therefore indexed once, and a
search checks at most `_MAX_POSITIONS` positions of the string's rarest word.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from typing import NamedTuple

_MAX_POSITIONS = 1_000
"""The maximum number of positions that one search checks."""

_MAX_SYMBOL_CHARS = 10
"""The maximum length, in characters, of a search string without letters and digits."""

# Both patterns match any text in linear time.
_TOKEN = re.compile(r"\S+")
_WORD = re.compile(r"\w+")


class TextRange(NamedTuple):
    """A range of offsets in the text of a document; `end` is exclusive."""

    start: int
    end: int


class TextIndex:
    """An index of the words in a text. Case and the amount of white space are ignored."""

    def __init__(self, text: str) -> None:
        tokens = list(_TOKEN.finditer(text))
        lowered_tokens = [_lower_text(token.group()) for token in tokens]
        self._folded = " ".join(lowered_tokens)
        self._starts = [token.start() for token in tokens]
        self._folded_starts: list[int] = []
        start = 0
        for lowered_token in lowered_tokens:
            self._folded_starts.append(start)
            start += len(lowered_token) + 1
        self._word_positions: dict[str, list[int]] = defaultdict(list)
        for word in _WORD.finditer(self._folded):
            self._word_positions[word.group()].append(word.start())
        self._ranges: dict[str, TextRange | None] = {}

    def find(self, text: str) -> TextRange | None:
        """Return the first occurrence of `text` that consists of whole words, or None.

        An occurrence after the first _MAX_POSITIONS checked positions is not found. Text without
        letters and digits is only found if it has at most _MAX_SYMBOL_CHARS characters.
        """
        folded = " ".join(_lower_text(word) for word in text.split())
        if folded not in self._ranges:
            self._ranges[folded] = self._find_folded_text(folded) if folded else None
        return self._ranges[folded]

    def _find_folded_text(self, folded: str) -> TextRange | None:
        words = list(_WORD.finditer(folded))
        if not words:
            return self._find_symbol_text(folded)
        rarest = min(words, key=lambda word: len(self._word_positions.get(word.group(), ())))
        for position in self._word_positions.get(rarest.group(), ())[:_MAX_POSITIONS]:
            start = position - rarest.start()
            if start >= 0 and self._folded.startswith(folded, start):
                text_range = self._build_range_of_whole_words(start, start + len(folded))
                if text_range is not None:
                    return text_range
        return None

    def _find_symbol_text(self, folded: str) -> TextRange | None:
        """Find text without letters or digits, which is not in the word index, or return None."""
        start = -1
        for _ in range(_MAX_POSITIONS if len(folded) <= _MAX_SYMBOL_CHARS else 0):
            start = self._folded.find(folded, start + 1)
            if start < 0:
                break
            text_range = self._build_range_of_whole_words(start, start + len(folded))
            if text_range is not None:
                return text_range
        return None

    def _build_range_of_whole_words(self, start: int, end: int) -> TextRange | None:
        # A number must not be found inside a longer number.
        before, after = self._folded[max(start - 1, 0) : start], self._folded[end : end + 1]
        if _WORD.match(before) or _WORD.match(after):
            return None
        return TextRange(self._to_offset(start), self._to_offset(end - 1) + 1)

    def _to_offset(self, position: int) -> int:
        token_index = bisect_right(self._folded_starts, position) - 1
        return self._starts[token_index] + position - self._folded_starts[token_index]


def _lower_text(text: str) -> str:
    """Convert `text` to lower case without changing its length."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
