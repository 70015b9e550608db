"""List the places of a document that may contain the value of a field."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.engines.extraction import patterns
from app.engines.extraction.analysis import Analysis, Typed, find_typed
from app.engines.extraction.layout import Layout, Segment
from app.engines.extraction.values import Target

Range = tuple[int, int]
MAX_LINES = 7
MAX_STARTS = 45
_CUTTING = frozenset({"phone", "tax_id", "email", "website", "date", "iban", "number"})
_DESCRIPTIVE = frozenset({"company", "address"})
_CODES = frozenset({"code", "after"})
_STRIPPED = " ,.;:-#*"


@dataclass(slots=True)
class Candidate:
    """A place that may be the value: ranges of token indexes, one for each line.

    `start` and `end` are the code points of the first and after the last character; `text` is the
    text there, lines joined by a blank, and `key` its value for comparisons (`Target.build_key`).
    """

    kind: str
    ranges: tuple[Range, ...]
    start: int
    end: int
    text: str
    key: str
    is_alternative: bool = False
    is_remembered: bool = False

    @property
    def first(self) -> int:
        """Return the index of the first token."""
        return self.ranges[0][0]

    @property
    def last(self) -> int:
        """Return the index of the last token."""
        return self.ranges[-1][1]


def list_candidates(
    analysis: Analysis, target: Target, spans: Iterable[Range] = ()
) -> list[Candidate]:
    """Return the candidates of a field without duplicates, in a fixed order.

    `spans` are further ranges of tokens that a model considers likely.
    """
    found: dict[tuple[object, ...], Candidate] = {}
    for candidate in _generate(analysis, target, spans):
        found.setdefault((candidate.ranges, candidate.start, candidate.key), candidate)
    return list(found.values())


def _generate(analysis: Analysis, target: Target, spans: Iterable[Range]) -> Iterator[Candidate]:
    kind = target.kind
    if kind == "amount":
        yield from _build_amounts(analysis, target)
    elif kind in ("date", "time"):
        source = analysis.dates if kind == "date" else analysis.times
        yield from (_from_typed(kind, typed, typed.value) for typed in source)
    elif kind == "datetime":
        yield from _build_datetimes(analysis)
    elif kind in ("email", "url", "phone"):
        for typed in find_typed(analysis.layout, lambda text: patterns.find_simple(kind, text)):
            yield _from_typed(kind, typed, typed.text)
    else:
        yield from _build_texts(analysis, target, spans)


def _build_texts(analysis: Analysis, target: Target, spans: Iterable[Range]) -> Iterator[Candidate]:
    layout, kind = analysis.layout, target.kind
    for first, last in spans:
        yield from build_variants(layout, "span", ((first, last),))
    if kind in ("lines", "text"):
        yield from _build_runs(analysis)
    if kind in ("code", "text"):
        yield from _build_codes(layout)
    if kind == "code" and target.field["constraints"].get("formats"):
        for typed in find_typed(layout, lambda text: patterns.find_simple("code", text)):
            yield _from_typed("code", typed, typed.text)
    yield from _build_after_keywords(analysis, target)


def build_variants(layout: Layout, kind: str, ranges: tuple[Range, ...]) -> Iterator[Candidate]:
    """Yield the text of the ranges; of codes also the text without punctuation at its end.

    The renderer decides about punctuation at the end of other texts.
    """
    text = " ".join(layout.join(first, last) for first, last in ranges)
    head, tail = layout.tokens[ranges[0][0]], layout.tokens[ranges[-1][1]]
    left = len(text) - len(text.lstrip(_STRIPPED))
    if left >= len(head.text):
        left = 0
    whole = text[left:]
    yield Candidate(kind, ranges, head.start + left, tail.end, whole, whole)
    bare = whole.rstrip(_STRIPPED)
    right = len(whole) - len(bare)
    if kind in _CODES and 0 < right < len(tail.text) and bare:
        yield Candidate(kind, ranges, head.start + left, tail.end - right, bare, bare)


def _from_typed(kind: str, typed: Typed, key: str) -> Candidate:
    ranges = ((typed.first, typed.last),)
    return Candidate(kind, ranges, typed.start, typed.end, typed.text, key, typed.is_alternative)


def _build_amounts(analysis: Analysis, target: Target) -> Iterator[Candidate]:
    for typed in analysis.amounts:
        key = target.build_key(typed.value)
        if len(key) < 13:  # noqa: PLR2004 - longer digits are identifiers
            yield _from_typed("amount", typed, key)


def _build_datetimes(analysis: Analysis) -> Iterator[Candidate]:
    for day in analysis.dates:
        row = analysis.tokens[day.first].row
        for time in analysis.times:
            if analysis.tokens[time.first].row == row and time.first >= day.last:
                ranges = ((day.first, time.last),)
                text = analysis.layout.join(day.first, time.last)
                key = f"{day.value}T{time.value}Z"
                yield Candidate(
                    "datetime", ranges, day.start, time.end, text, key, day.is_alternative
                )


def _build_runs(analysis: Analysis) -> Iterator[Candidate]:
    """Yield runs of lines, each continued by the nearest segment below that overlaps it.

    A last line that goes on with a keyword or a number in brackets is also yielded without it.
    """
    layout = analysis.layout
    following = find_following(layout)
    for number in range(min(len(layout.segments), MAX_STARTS)):
        ranges: list[Range] = []
        at: int | None = number
        while at is not None and len(ranges) < MAX_LINES:
            segment = layout.segments[at]
            ranges.append((segment.first, segment.last))
            yield from build_variants(layout, "lines", tuple(ranges))
            cut = _find_cut(analysis, segment)
            if cut:
                shortened = (*ranges[:-1], (segment.first, cut - 1))
                yield from build_variants(layout, "lines", shortened)
            at = following[at]
    yield from _build_wide_runs(layout)


def _find_cut(analysis: Analysis, segment: Segment) -> int:
    """Return the index at which other content begins inside a line, or 0."""
    for index in range(segment.first + 1, segment.last + 1):
        if analysis.keywords.concepts[index] in _CUTTING:
            return index
        text = analysis.tokens[index].text
        if text.startswith("(") and any(char.isdigit() for char in text):
            return index
    return 0


def _build_wide_runs(layout: Layout) -> Iterator[Candidate]:
    """Yield runs of whole rows, where a wide gap inside a line made two segments of it."""
    rows = layout.rows[:15]
    for start in range(len(rows)):
        for end in range(start, min(start + 5, len(rows))):
            run = rows[start : end + 1]
            pages = {layout.tokens[first].page for first, _ in run}
            wide = any(layout.tokens[a].segment != layout.tokens[b].segment for a, b in run)
            if wide and len(pages) == 1:
                yield from build_variants(layout, "rows", tuple(run))


def find_following(layout: Layout) -> list[int | None]:
    """Return for each segment the one that continues it below, or None."""
    segments = layout.segments
    following: list[int | None] = [None] * len(segments)
    for number, segment in enumerate(segments):
        for other in range(number + 1, min(number + 12, len(segments))):
            below = segments[other]
            if below.page != segment.page or below.row > segment.row + 2:
                break
            if below.row > segment.row and _continues(segment, below, layout.height):
                following[number] = other
                break
    return following


def _continues(above: Segment, below: Segment, height: float) -> bool:
    shared = min(above.box[2], below.box[2]) - max(above.box[0], below.box[0])
    narrow = min(above.box[2] - above.box[0], below.box[2] - below.box[0])
    return shared > 0.3 * narrow and below.box[1] - above.box[3] < 1.6 * height


def _build_codes(layout: Layout) -> Iterator[Candidate]:
    tokens = layout.tokens
    for index, token in enumerate(tokens):
        if not any(char.isdigit() for char in token.text):
            continue
        yield from build_variants(layout, "code", ((index, index),))
        for size in (1, 2):
            for first, last in ((index - size, index), (index, index + size)):
                inside = first >= 0 and last < len(tokens)
                if inside and tokens[first].segment == tokens[last].segment:
                    yield from build_variants(layout, "code", ((first, last),))


def _build_after_keywords(analysis: Analysis, target: Target) -> Iterator[Candidate]:
    """Yield the texts right of or below a keyword of the field."""
    layout, tokens = analysis.layout, analysis.tokens
    for last, first in find_own_keywords(analysis, target):
        segment = layout.segments[tokens[last].segment]
        _, end = layout.rows[tokens[last].row]
        if last < end:
            stop = (
                segment.last
                if last < segment.last
                else layout.segments[tokens[last + 1].segment].last
            )
            yield from build_variants(layout, "after", ((last + 1, stop),))
            yield from build_variants(layout, "after", ((last + 1, last + 1),))
        for below in layout.segments[tokens[last].segment + 1 :][:8]:
            box = tokens[first].box
            if (
                below.row > segment.row
                and below.box[0] < tokens[last].box[2]
                and below.box[2] > box[0]
            ):
                yield from build_variants(layout, "after", ((below.first, below.last),))
                break


def find_own_keywords(analysis: Analysis, target: Target) -> list[Range]:
    """Return (last, first) of each keyword that names the field."""
    concepts = analysis.keywords.concepts
    found = {
        last: first
        for last, first in analysis.keywords.ends.items()
        # Their keywords are parts of values, such as "Ltd" and "Street".
        if target.concept not in _DESCRIPTIVE
        and target.concept
        and concepts[last] == target.concept
    }
    tokens = analysis.tokens
    for phrase in sorted(target.phrases):
        for first in range(len(tokens)):
            joined = ""
            for last in range(first, min(first + 5, len(tokens))):
                joined += tokens[last].compact
                if len(joined) >= len(phrase):
                    if joined == phrase:
                        found.setdefault(last, first)
                    break
    return sorted(found.items())
