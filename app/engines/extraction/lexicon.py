"""Find keywords such as "Total" or "Rechnungsdatum" in documents, in several languages.

A *concept* is the common meaning of keywords: the concept `date` has the keywords "Date" and
"Datum", among others.
"""

import functools
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from app.engines.extraction.layout import Layout, Token, compact_text
from app.engines.fields import Field

_MAX_KEYWORD_TOKENS = 5
_STREET_SUFFIXES = ("strasse", "straße", "allee", "straat", "gasse")


@dataclass(slots=True)
class DocumentKeywords:
    """The keywords in a document.

    `concepts` has, for each token, the concept of the keyword that contains it, `address` if it is
    a street name, or "". `ends` maps the last token index of a keyword to its first token index.
    """

    concepts: list[str]
    ends: dict[int, int] = field(default_factory=dict)


@functools.cache
def load_lexicon() -> dict[str, dict[str, list[str]]]:
    """Load the lexicon: the typical field `names` and the document `keywords` of each concept.

    The concepts are in alphabetical order.
    """
    path = Path(__file__).with_name("lexicon.json")
    lexicon: dict[str, dict[str, list[str]]] = json.loads(path.read_text(encoding="utf-8"))
    return dict(sorted(lexicon.items()))


@functools.cache
def _load_phrases() -> dict[str, str]:
    phrases: dict[str, str] = {}
    for concept, entry in load_lexicon().items():
        for phrase in entry["keywords"]:
            phrases.setdefault(compact_text(phrase), concept)
    return phrases


def find_keywords(layout: Layout) -> DocumentKeywords:
    """Find the lexicon's keywords in a document, in each row from left to right.

    If several keywords begin at a token, the longest one is used. A word with the ending of a
    street name, such as "gasse", gets the concept `address`.
    """
    phrases = _load_phrases()
    tokens = layout.tokens
    keywords = DocumentKeywords([""] * len(tokens))
    for first, last in layout.rows:
        index = first
        while index <= last:
            size, concept = _match_longest(phrases, tokens, index, last)
            if concept:
                keywords.concepts[index : index + size] = [concept] * size
                keywords.ends[index + size - 1] = index
            elif tokens[index].compact.endswith(_STREET_SUFFIXES):
                keywords.concepts[index] = "address"
            index += max(size, 1)
    return keywords


def _match_longest(
    phrases: dict[str, str], tokens: list[Token], index: int, last: int
) -> tuple[int, str]:
    """Return the number of tokens and the concept of the longest keyword at `index`, or (0, "")."""
    joined_words, best_match = "", (0, "")
    for end_index in range(index, min(index + _MAX_KEYWORD_TOKENS, last + 1)):
        joined_words += tokens[end_index].compact
        concept = phrases.get(joined_words)
        if concept:
            best_match = (end_index - index + 1, concept)
    return best_match


def find_concept(field: Field) -> str:
    """Return the lexicon concept that a field's key, label or description names, or ""."""
    names = {
        compact_text(name): concept
        for concept, entry in load_lexicon().items()
        for name in entry["names"]
    }
    phrases = _load_phrases()
    for text in (field["key"], field["label"]):
        words = _list_words(text)
        if concept := names.get(compact_text(text), ""):
            return concept
        for size in range(len(words), 0, -1):
            for start in range(len(words) - size, -1, -1):
                joined_words = "".join(words[start : start + size])
                concept = names.get(joined_words) or (
                    phrases.get(joined_words, "") if size > 1 else ""
                )
                if concept:
                    return concept
    words = _list_words(field["description"])[:12]
    pairs = ["".join(words[start : start + 2]) for start in range(len(words) - 1)]
    return next((names[pair] for pair in pairs if pair in names), "")


def get_field_phrases(field: Field) -> frozenset[str]:
    """Return the label and the key of a field, as returned by `compact_text`.

    Results of fewer than two characters are left out.
    """
    phrases = {compact_text(field["label"]), compact_text(field["key"])}
    return frozenset(phrase for phrase in phrases if len(phrase) > 1)


def _list_words(text: str) -> list[str]:
    parts: Iterable[str] = text.replace("_", " ").replace("-", " ").split()
    return [word for part in parts if (word := compact_text(part))]
