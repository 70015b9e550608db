"""Analyze a document once: layout, keywords, typed texts and words for similarity."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal

from app.engines.extraction import patterns
from app.engines.extraction.layout import Layout, Token, build_layout
from app.engines.extraction.lexicon import Keywords, find_keywords
from app.engines.extraction.model import Document

_SIGNS = {
    "rm": "MYR",
    "myr": "MYR",
    "rs": "INR",
    "inr": "INR",
    "eur": "EUR",
    "usd": "USD",
    "gbp": "GBP",
    "chf": "CHF",
    "sgd": "SGD",
    "aud": "AUD",
    "cad": "CAD",
    "pln": "PLN",
    "zl": "PLN",
    "jpy": "JPY",
    "$": "USD",
    "€": "EUR",
    "£": "GBP",
    "¥": "JPY",
    "₹": "INR",
    "us$": "USD",
    "s$": "SGD",
    "euro": "EUR",
}

_WIDE = 1.7


@dataclass(slots=True)
class Typed:
    """A typed text of a row: tokens `first` to `last`, code points `start` to `end`."""

    first: int
    last: int
    start: int
    end: int
    text: str
    value: str
    is_alternative: bool = False


@dataclass(slots=True)
class Analysis:
    """The analysis of a document that does not depend on fields."""

    layout: Layout
    keywords: Keywords
    dates: list[Typed]
    times: list[Typed]
    amounts: list[Typed]
    currencies: dict[int, str]
    words: frozenset[str]
    amount_counts: Counter[str]
    sums: dict[str, int]

    @property
    def tokens(self) -> list[Token]:
        """Return the tokens in reading order."""
        return self.layout.tokens


def analyze(document: Document) -> Analysis:
    """Return the analysis of a document."""
    layout = build_layout(document)
    dates = list(find_typed(layout, patterns.find_dates))
    times = list(find_typed(layout, patterns.find_times))
    taken = {index for typed in dates for index in range(typed.first, typed.last + 1)}
    amounts = [a for a in find_typed(layout, patterns.find_amounts) if a.first not in taken]
    currencies = {
        index: code
        for index, token in enumerate(layout.tokens)
        if (code := _SIGNS.get(token.text.lower().rstrip(".:")))
    }
    words = frozenset(
        token.compact
        for token in layout.tokens
        if len(token.compact) > 2 and not any(char.isdigit() for char in token.compact)  # noqa: PLR2004
    )
    values = [typed.value for typed in amounts]
    return Analysis(
        layout,
        find_keywords(layout),
        dates,
        times,
        amounts,
        currencies,
        words,
        Counter(values),
        _count_sums(amounts),
    )


def find_typed(
    layout: Layout,
    find: Callable[[str], Iterable[patterns.Found]],
    rows: Iterable[tuple[int, int]] | None = None,
) -> Iterable[Typed]:
    """Yield the texts that `find` finds in the rows, with their tokens and offsets."""
    for first, last in layout.rows if rows is None else rows:
        text, offsets = join_row(layout, first, last)
        for found in find(text):
            yield from _build_typed(layout, first, text, offsets, found)


def join_row(layout: Layout, first: int, last: int) -> tuple[str, list[int]]:
    """Return the text of tokens `first` to `last` and the offset of each."""
    parts: list[str] = []
    offsets: list[int] = []
    size = 0
    for index in range(first, last + 1):
        token = layout.tokens[index]
        if parts and layout.tokens[index - 1].end != token.start:
            # A wide gap becomes two blanks, which no pattern of numbers crosses.
            gap = token.box[0] - layout.tokens[index - 1].box[2]
            parts.append("  " if gap > _WIDE * layout.char_width else " ")
            size += len(parts[-1])
        offsets.append(size)
        parts.append(token.text)
        size += len(token.text)
    return "".join(parts), offsets


def _build_typed(
    layout: Layout, base: int, text: str, offsets: list[int], found: patterns.Found
) -> Iterable[Typed]:
    left = max(i for i, offset in enumerate(offsets) if offset <= found.start)
    right = max(i for i, offset in enumerate(offsets) if offset < found.end)
    begin, finish = layout.tokens[base + left], layout.tokens[base + right]
    start, end = begin.start, finish.end
    if begin.end - begin.start == len(begin.text):
        start += found.start - offsets[left]
    if finish.end - finish.start == len(finish.text):
        end = finish.start + found.end - offsets[right]
    part = text[found.start : found.end]
    yield Typed(base + left, base + right, start, end, part, found.value)
    if found.alternative:
        yield Typed(base + left, base + right, start, end, part, found.alternative, True)  # noqa: FBT003


def _count_sums(amounts: list[Typed]) -> dict[str, int]:
    """Count for each amount the pairs of other amounts whose sum or difference it is."""
    cents = {t.value: int(Decimal(t.value) * 100) for t in amounts if "." in t.value}
    kept = dict(list(cents.items())[-60:])
    present = set(kept.values())
    return {
        value: sum(1 for other in present if 0 < other < number and number - other in present) * 2
        + sum(1 for other in present if other > number > 0 and other - number in present)
        for value, number in kept.items()
    }
