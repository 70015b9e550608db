"""Find the text ranges that denote values in a document, and build evidence for them."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from time import thread_time
from typing import Any, NamedTuple

import orjson

from app.engines.extraction.model import Document, SourceWord, enclose_boxes
from app.engines.fields import ValueProblem
from app.engines.fields.model import Normalizer
from app.engines.model_servers.clues import CLUE_FUNCTIONS
from app.engines.model_servers.protocol import MAX_TEXT_CHARS
from app.engines.model_servers.text_index import TextIndex, TextRange

_BUDGET_SECONDS = 0.8
_MAX_WORDS = max(clue.max_words for clue in CLUE_FUNCTIONS.values())
_MAX_RUN_CHARS = 100
_MAX_WORD_CHARS = 300


class ProcessorTimeBudget:
    """A processor time limit for the search for one answer's values; callers check `is_spent`."""

    def __init__(self) -> None:
        self._ends_at = thread_time() + _BUDGET_SECONDS

    def is_spent(self) -> bool:
        """Return whether the processor time is used up, so that the search must end."""
        return thread_time() > self._ends_at


class SearchedValue(NamedTuple):
    """A canonical value that may have another spelling in the document."""

    field_type: str
    value: object
    normalize: Normalizer


class DocumentSearch:
    """Searches for values in the part of a document that was sent to the model."""

    def __init__(self, document: Document, budget: ProcessorTimeBudget) -> None:
        self._text = document.text[:MAX_TEXT_CHARS]
        self._words = sorted(
            (word for word in document.words if word.end <= len(self._text)),
            key=lambda word: word.start,
        )
        self._word_starts = [word.start for word in self._words]
        self._index = TextIndex(self._text)
        self._budget = budget

    def find_text(self, text: str) -> TextRange | None:
        """Return the first occurrence of `text`, or None; see `TextIndex.find`."""
        return self._index.find(text)

    def find_values(self, searched_values: Mapping[int, SearchedValue]) -> dict[int, TextRange]:
        """Find values in the document; return the text range of each value found, by the same key.

        The range of a value is the first word run that denotes it; runs of fewer words are searched
        first. The search ends when the time budget is spent.
        """
        normalizers: dict[tuple[str, str], list[Normalizer]] = defaultdict(list)
        pending_numbers: dict[tuple[Normalizer, bytes], list[int]] = defaultdict(list)
        for number, searched_value in searched_values.items():
            pending_numbers[searched_value.normalize, _encode(searched_value.value)].append(number)
            for clue in CLUE_FUNCTIONS[searched_value.field_type].list_value_clues(
                searched_value.value
            ):
                if searched_value.normalize not in normalizers[searched_value.field_type, clue]:
                    normalizers[searched_value.field_type, clue].append(searched_value.normalize)
        text_ranges: dict[int, TextRange] = {}
        seen_texts: set[tuple[str, str]] = set()
        for field_type, text_range in self._list_candidate_ranges(
            sorted({searched_value.field_type for searched_value in searched_values.values()})
        ):
            if not pending_numbers or self._budget.is_spent():
                break
            text = self._text[text_range.start : text_range.end]
            if (field_type, text) in seen_texts:
                continue
            seen_texts.add((field_type, text))
            for clue in CLUE_FUNCTIONS[field_type].list_text_clues(text):
                for value_key in self._normalize(text, normalizers.get((field_type, clue), [])):
                    text_ranges |= dict.fromkeys(pending_numbers.pop(value_key, ()), text_range)
        return text_ranges

    def _normalize(
        self, text: str, normalizers: Sequence[Normalizer]
    ) -> Iterator[tuple[Normalizer, bytes]]:
        for normalize in normalizers:
            if self._budget.is_spent():
                return
            try:
                yield normalize, _encode(normalize(text))
            except ValueProblem:
                continue

    def _list_candidate_ranges(self, field_types: list[str]) -> Iterator[tuple[str, TextRange]]:
        """Yield (field type, text range) pairs for word runs that may denote a value of the type.

        Runs of fewer words come first.
        """
        has_digit = [any(map(str.isdigit, word.text)) for word in self._words]
        for length in range(1, _MAX_WORDS + 1):
            candidate_types = [
                field_type
                for field_type in field_types
                if CLUE_FUNCTIONS[field_type].max_words >= length
            ]
            limit = _MAX_WORD_CHARS if length == 1 else _MAX_RUN_CHARS
            for first in range(len(self._words) - length + 1 if candidate_types else 0):
                text_range = TextRange(
                    self._words[first].start, self._words[first + length - 1].end
                )
                if text_range.end - text_range.start > limit:
                    continue
                contains_digit = any(has_digit[first : first + length])
                for field_type in candidate_types:
                    if contains_digit or field_type in _DIGIT_OPTIONAL_TYPES:
                        yield field_type, text_range

    def build_evidence(self, text_range: TextRange) -> dict[str, Any]:
        """Build the evidence for a text range: page, box, offsets and text.

        The page is the page of the first overlapping word, or 1 if there is none. The box is None
        if no overlapping word on this page has a box.
        """
        overlapping_words = self._list_overlapping_words(text_range)
        page = overlapping_words[0].page if overlapping_words else 1
        boxes = [
            word.box for word in overlapping_words if word.page == page and word.box is not None
        ]
        return {
            "page": page,
            "box": list(enclose_boxes(boxes)) if boxes else None,
            "start": text_range.start,
            "end": text_range.end,
            "text": self._text[text_range.start : text_range.end],
        }

    def _list_overlapping_words(self, text_range: TextRange) -> list[SourceWord]:
        end = first = bisect_left(self._word_starts, text_range.end)
        while first and self._words[first - 1].end > text_range.start:
            first -= 1
        return self._words[first:end]


_DIGIT_OPTIONAL_TYPES = frozenset({"email", "url"})


def _encode(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
