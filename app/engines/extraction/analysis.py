"""Analyze a document once for all fields: layout, keywords, dates, times, amounts and words."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal

from app.engines.extraction import patterns
from app.engines.extraction.currencies import find_currencies
from app.engines.extraction.layout import Layout, Token, build_layout
from app.engines.extraction.lexicon import DocumentKeywords, find_keywords
from app.engines.extraction.model import Document

_CENTS = re.compile(r"\d[.,]\d\d$")
_THREE_DIGITS = re.compile(r"\D?[1-9]\d{0,2}[.,]\d{3}")
_WIDE_GAP = 1.7  # in median character widths


@dataclass(slots=True)
class TypedText:
    """A date, time, amount, email address, URL, phone number or code within one row.

    It covers the tokens with the indexes `first` to `last`, and the code points from `start` up to
    `end`. `value` is the canonical form of `text`. `is_alternative` is True for the less likely of
    two readings, such as a date with the month first.
    """

    first: int
    last: int
    start: int
    end: int
    text: str
    value: str
    is_alternative: bool = False


@dataclass(slots=True)
class Analysis:
    """A document's analysis, which is shared by all fields.

    `date_token_indexes` are the indexes of all tokens in dates. `decimal_start_indexes` are the
    indexes of the first tokens of the amounts with decimals. `currencies` maps token indexes to
    currency codes and signs. `words` contains the words that are compared between documents.
    `amount_counts` maps each amount to the number of its occurrences. `sum_scores` maps an amount
    to a score for the amounts that add up to it; see `_score_sums`.
    """

    layout: Layout
    keywords: DocumentKeywords
    dates: list[TypedText]
    times: list[TypedText]
    amounts: list[TypedText]
    date_token_indexes: set[int]
    decimal_start_indexes: set[int]
    currencies: dict[int, str]
    words: frozenset[str]
    amount_counts: Counter[str]
    sum_scores: dict[str, int]

    @property
    def tokens(self) -> list[Token]:
        """Return the layout's tokens in reading order."""
        return self.layout.tokens


def analyze(document: Document) -> Analysis:
    """Analyze a document: find its layout, keywords, dates, times, amounts and currencies."""
    layout = build_layout(document)
    dates = _resolve_ambiguous_dates(list(find_typed_texts(layout, patterns.find_dates)))
    times = list(find_typed_texts(layout, patterns.find_times))
    date_indexes = {
        index for typed_text in dates for index in range(typed_text.first, typed_text.last + 1)
    }
    amounts = _resolve_ambiguous_amounts(
        [a for a in find_typed_texts(layout, patterns.find_amounts) if a.first not in date_indexes]
    )
    words = frozenset(
        token.compact
        for token in layout.tokens
        if len(token.compact) > 2 and not any(char.isdigit() for char in token.compact)  # noqa: PLR2004
    )
    values = [typed_text.value for typed_text in amounts]
    return Analysis(
        layout,
        find_keywords(layout),
        dates,
        times,
        amounts,
        date_indexes,
        {typed_text.first for typed_text in amounts if "." in typed_text.value},
        find_currencies(layout.tokens),
        words,
        Counter(values),
        _score_sums(amounts),
    )


def _resolve_ambiguous_amounts(amounts: list[TypedText]) -> list[TypedText]:
    """Return the amounts, with `1,000` read as 1 if all amounts with cents have a decimal comma.

    The same applies to `1.000` and the decimal point.
    """
    separators = {typed_text.text[-3] for typed_text in amounts if _CENTS.search(typed_text.text)}
    if len(separators) != 1:
        return amounts
    separator = separators.pop()
    return [
        replace(typed_text, value=f"{typed_text.value[:-3]}.{typed_text.value[-3:]}")
        if separator in typed_text.text and _THREE_DIGITS.fullmatch(typed_text.text)
        else typed_text
        for typed_text in amounts
    ]


def _resolve_ambiguous_dates(dates: list[TypedText]) -> list[TypedText]:
    """Return the dates; prefer the month-first reading if all unambiguous dates have it.

    The other reading becomes the alternative. For example, `04/05/2022` is in April if the document
    contains `04/25/2022`.
    """
    if {patterns.detect_month_first(typed_text.text) for typed_text in dates} - {None} != {True}:
        return dates
    ambiguous = {
        (typed_text.start, typed_text.end) for typed_text in dates if typed_text.is_alternative
    }
    return [
        replace(typed_text, is_alternative=not typed_text.is_alternative)
        if (typed_text.start, typed_text.end) in ambiguous
        else typed_text
        for typed_text in dates
    ]


def find_typed_texts(
    layout: Layout,
    find_matches: Callable[[str], Iterable[patterns.PatternMatch]],
) -> Iterable[TypedText]:
    """Yield the typed texts for all matches that `find_matches` finds in the rows' texts."""
    for first, last in layout.rows:
        text, offsets = join_row(layout, first, last)
        for match in find_matches(text):
            yield from _build_typed_texts(layout, first, text, offsets, match)


def join_row(layout: Layout, first: int, last: int) -> tuple[str, list[int]]:
    """Join the tokens from `first` to `last`, and return the text and the tokens' offsets in it."""
    parts: list[str] = []
    offsets: list[int] = []
    size = 0
    for index in range(first, last + 1):
        token = layout.tokens[index]
        if parts and layout.tokens[index - 1].end != token.start:
            # A wide gap becomes two spaces, so that no number pattern matches across it.
            gap = token.box[0] - layout.tokens[index - 1].box[2]
            parts.append("  " if gap > _WIDE_GAP * layout.char_width else " ")
            size += len(parts[-1])
        offsets.append(size)
        parts.append(token.text)
        size += len(token.text)
    return "".join(parts), offsets


def _build_typed_texts(
    layout: Layout, row_start: int, text: str, offsets: list[int], match: patterns.PatternMatch
) -> Iterable[TypedText]:
    """Yield the typed text of a match, and a second typed text if the match has an alternative.

    `row_start` is the index of the first token of the row; `text` and `offsets` are results of
    `join_row`.
    """
    left = bisect_right(offsets, match.start) - 1
    right = bisect_left(offsets, match.end) - 1
    first_token, last_token = layout.tokens[row_start + left], layout.tokens[row_start + right]
    start, end = first_token.start, last_token.end
    if first_token.end - first_token.start == len(first_token.text):
        start += match.start - offsets[left]
    if last_token.end - last_token.start == len(last_token.text):
        end = last_token.start + match.end - offsets[right]
    part = text[match.start : match.end]
    first, last = row_start + left, row_start + right
    yield TypedText(first, last, start, end, part, match.value)
    if match.alternative:
        yield TypedText(first, last, start, end, part, match.alternative, True)  # noqa: FBT003


def _score_sums(amounts: list[TypedText]) -> dict[str, int]:
    """Score each of the last 60 distinct amounts as a sum or difference of other amounts.

    Each ordered pair of amounts adds 2 to the score of its sum, and 1 to the score of its
    difference. Amounts without decimals are ignored.
    """
    cents = {
        typed_text.value: int(Decimal(typed_text.value) * 100)
        for typed_text in amounts
        if "." in typed_text.value
    }
    last_amounts = dict(list(cents.items())[-60:])
    values = set(last_amounts.values())
    return {
        key: sum(1 for value in values if 0 < value < number and number - value in values) * 2
        + sum(1 for value in values if value > number > 0 and value - number in values)
        for key, number in last_amounts.items()
    }
