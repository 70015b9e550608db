"""Choose the spelling of a value: the spelling in the document, or an accepted spelling.

A *compact value* is the text of a value without spaces, punctuation, accents and case, as
`compact_text` returns it. Values with the same compact value differ only in their spelling.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from app.engines.extraction.layout import compact_text

RENDERING_MODES = ("plain", "same_letters", "similar")
PUNCTUATION = ",.;:-"
USUALLY_STRIPPED = ",;:-"  # punctuation that labelers usually remove from the end of values
_MIN_SIMILARITY = 0.88  # the ratio of a SequenceMatcher
_MIN_LENGTH = 6  # in letters and digits


@dataclass(slots=True)
class Renderer:
    """Renders the values of one field, with the help of the spellings that were accepted before.

    `spellings` counts the accepted spellings of each compact value. `mode` limits how a
    spelling may differ from the document: with "plain", not at all; with "same_letters", in
    punctuation, spaces and case; with "similar", also in a few letters. `stripped_chars` are
    the characters to remove from the end.
    """

    spellings: Mapping[str, Counter[str]] = field(default_factory=dict)
    mode: str = "plain"
    stripped_chars: str = USUALLY_STRIPPED + " "

    def render(self, text: str, *, excluded_spellings: Collection[str] = ()) -> str:
        """Return the best spelling of `text`; its digits never change.

        For each item of `excluded_spellings`, one acceptance of this spelling is not counted. In
        training, these are the spellings that were accepted for the same document.
        """
        stripped_text = text.rstrip(self.stripped_chars) or text
        if self.mode == "plain":
            return stripped_text
        compact_value = compact_text(text)
        spelling = self._choose_spelling(compact_value, excluded_spellings)
        if spelling is None and self.mode == "similar":
            spelling = self._choose_similar_spelling(compact_value, excluded_spellings)
        if spelling is None or _get_digits(spelling) != _get_digits(text):
            return stripped_text
        return spelling

    def _choose_spelling(
        self, compact_value: str, excluded_spellings: Collection[str]
    ) -> str | None:
        """Return the most frequent accepted spelling that has this compact value.

        Returns None if no acceptance remains after those in `excluded_spellings` are subtracted.
        """
        counts = Counter(self.spellings.get(compact_value, {}))
        counts.subtract(spelling for spelling in excluded_spellings if spelling in counts)
        remaining_counts = {spelling: count for spelling, count in counts.items() if count > 0}
        return (
            min(remaining_counts, key=lambda spelling: (-remaining_counts[spelling], spelling))
            if remaining_counts
            else None
        )

    def _choose_similar_spelling(
        self, compact_value: str, excluded_spellings: Collection[str]
    ) -> str | None:
        """Return the accepted spelling whose compact value is most similar to `compact_value`.

        Returns None if none is similar enough, or if `compact_value` is shorter than _MIN_LENGTH.
        """
        if len(compact_value) < _MIN_LENGTH:
            return None
        pairs = _build_letter_pairs(compact_value)
        best_ratio, best_spelling = _MIN_SIMILARITY, None
        matcher = SequenceMatcher(None, "", compact_value, autojunk=False)
        for known_value in sorted(self.spellings):
            if abs(len(known_value) - len(compact_value)) > 0.15 * len(compact_value):
                continue
            shared_count = len(pairs & _build_letter_pairs(known_value))
            if shared_count < 0.6 * len(pairs):
                continue
            matcher.set_seq1(known_value)
            ratio = matcher.ratio()
            if ratio > best_ratio:
                spelling = self._choose_spelling(known_value, excluded_spellings)
                if spelling is not None:
                    best_ratio, best_spelling = ratio, spelling
        return best_spelling


def _build_letter_pairs(text: str) -> set[str]:
    return {text[index : index + 2] for index in range(len(text) - 1)}


def _get_digits(text: str) -> str:
    return "".join(char for char in text if char.isdigit())


def find_stripped_punctuation(pairs: Iterable[tuple[str, str]]) -> str:
    """Return the characters that labelers usually remove from the end of values.

    `pairs` contains (text in the document, accepted value) tuples. A space is always included. If
    the pairs do not show whether a punctuation character is removed, it is included unless it is a
    period, which may end an abbreviation.
    """
    votes: Counter[str] = Counter()
    for text, value in pairs:
        last_char = text[-1:]
        if last_char in PUNCTUATION and text:
            votes[last_char] += (value == text.rstrip(PUNCTUATION)) - (value == text)
    return (
        "".join(c for c in PUNCTUATION if votes[c] > 0 or (c in USUALLY_STRIPPED and not votes[c]))
        + " "
    )
