"""Choose the spelling of a value: as in the document, or as it was accepted before."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from app.engines.extraction.layout import compact

MODES = ("plain", "same_letters", "similar")
PUNCTUATION = ",.;:-"
USUAL = ",;:-"
_SIMILAR = 0.88
_SHORTEST = 6


@dataclass(slots=True)
class Renderer:
    """The spellings accepted for the values of one field, by their letters and digits.

    `mode` is how far a spelling may differ from the document: not at all, except for its
    punctuation and case, or also in a few letters. `strips` has the
    punctuation that is removed at the end.
    """

    spellings: Mapping[str, Counter[str]] = field(default_factory=dict)
    mode: str = "plain"
    strips: str = USUAL + " "

    def render(self, text: str, *, mode: str | None = None, without: str | None = None) -> str:
        """Return the spelling of `text`; `without` is one accepted spelling that must not count.

        The digits are always those of `text`.
        """
        plain = text.rstrip(self.strips) or text
        mode = mode or self.mode
        if mode == "plain":
            return plain
        letters = compact(text)
        spelling = self._choose(letters, without)
        if spelling is None and mode == "similar":
            spelling = self._choose_similar(letters, without)
        if spelling is None or _digits(spelling) != _digits(text):
            return plain
        return spelling

    def _choose(self, letters: str, without: str | None) -> str | None:
        counts = Counter(self.spellings.get(letters, {}))
        if without is not None and counts.get(without):
            counts[without] -= 1
        kept = {spelling: count for spelling, count in counts.items() if count > 0}
        return min(kept, key=lambda one: (-kept[one], one)) if kept else None

    def _choose_similar(self, letters: str, without: str | None) -> str | None:
        if len(letters) < _SHORTEST:
            return None
        pairs = _list_pairs(letters)
        best, found = _SIMILAR, None
        matcher = SequenceMatcher(None, "", letters, autojunk=False)
        for other in sorted(self.spellings):
            if abs(len(other) - len(letters)) > 0.15 * len(letters):
                continue
            shared = len(pairs & _list_pairs(other))
            if shared < 0.6 * len(pairs):
                continue
            matcher.set_seq1(other)
            ratio = matcher.ratio()
            if ratio > best and self._choose(other, without) is not None:
                best, found = ratio, self._choose(other, without)
        return found


def _list_pairs(text: str) -> set[str]:
    return {text[at : at + 2] for at in range(len(text) - 1)}


def _digits(text: str) -> str:
    return "".join(char for char in text if char.isdigit())


def find_stripped(pairs: Iterable[tuple[str, str]]) -> str:
    """Return the punctuation that labelers leave out at the end, from pairs of text and value.

    Without a sign of it they keep a point, which may end an abbreviation, and leave out the rest.
    """
    votes: Counter[str] = Counter()
    for text, value in pairs:
        last = text[-1:]
        if last in PUNCTUATION and text:
            votes[last] += (value == text.rstrip(PUNCTUATION)) - (value == text)
    return "".join(c for c in PUNCTUATION if votes[c] > 0 or (c in USUAL and not votes[c])) + " "
