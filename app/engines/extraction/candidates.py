"""List the candidates for a field: locations in a document that may contain its value."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.engines.extraction import patterns
from app.engines.extraction.analysis import Analysis, TypedText, find_typed_texts
from app.engines.extraction.layout import Layout, Segment
from app.engines.extraction.values import Target

Range = tuple[int, int]
"""The indexes of the first and the last token of a range; both tokens belong to it."""
MAX_LINES = 7  # the maximum number of lines of one candidate
MAX_START_SEGMENTS = 45  # the number of leading segments in which a "lines" candidate may begin
_CUTTING_CONCEPTS = frozenset({"phone", "tax_id", "email", "website", "date", "iban", "number"})
"""The concepts of keywords (see `lexicon`) at which content of another type begins in a line."""
_DESCRIPTIVE_CONCEPTS = frozenset({"company", "address"})
_CODE_KINDS = frozenset({"code", "after"})
_STRIPPED_CHARACTERS = " ,.;:-#*"


@dataclass(slots=True)
class Candidate:
    """A location that may contain a field's value: ranges of token indexes, one for each line.

    `kind` states how the location was found, for example `amount`, `lines`, `after` (right of or
    below a keyword) or `training_value` (a value that was accepted in a training document). `start`
    and `end` are code point offsets into the document's text; `end` is exclusive. `text` contains
    the lines of the location, joined by spaces, or the value of an option. `key` is the value for
    comparisons (see `Target.build_key`). `is_alternative` is true for the less likely of two
    readings of the same text, such as a date with the month first.
    """

    kind: str
    ranges: tuple[Range, ...]
    start: int
    end: int
    text: str
    key: str
    is_alternative: bool = False

    @property
    def first(self) -> int:
        """Return the index of the location's first token."""
        return self.ranges[0][0]

    @property
    def last(self) -> int:
        """Return the index of the location's last token."""
        return self.ranges[-1][1]


def list_candidates(
    analysis: Analysis, target: Target, spans: Iterable[Range] = ()
) -> list[Candidate]:
    """Return the candidates for a field without duplicates, in a fixed order.

    `spans` are additional token ranges that are likely values according to the sequence model
    (`crf`).
    """
    candidates: dict[tuple[object, ...], Candidate] = {}
    for candidate in _generate_candidates(analysis, target, spans):
        candidates.setdefault((candidate.ranges, candidate.start, candidate.key), candidate)
    return list(candidates.values())


def _generate_candidates(
    analysis: Analysis, target: Target, spans: Iterable[Range]
) -> Iterator[Candidate]:
    kind = target.kind
    if kind == "amount":
        yield from _build_amount_candidates(analysis, target)
    elif kind in ("date", "time"):
        source = analysis.dates if kind == "date" else analysis.times
        yield from (
            _build_typed_candidate(kind, typed_text, typed_text.value) for typed_text in source
        )
    elif kind == "datetime":
        yield from _build_datetime_candidates(analysis)
    elif kind in ("email", "url", "phone"):
        for typed_text in find_typed_texts(
            analysis.layout, lambda text: patterns.find_pattern_matches(kind, text)
        ):
            yield _build_typed_candidate(kind, typed_text, typed_text.text)
    else:
        yield from _build_text_candidates(analysis, target, spans)


def _build_text_candidates(
    analysis: Analysis, target: Target, spans: Iterable[Range]
) -> Iterator[Candidate]:
    layout, kind = analysis.layout, target.kind
    for first, last in spans:
        yield from build_variants(layout, "span", ((first, last),))
    if kind in ("lines", "text"):
        yield from _build_line_candidates(analysis)
    if kind in ("code", "text"):
        yield from _build_code_candidates(layout)
    if kind == "code" and (target.field["constraints"].get("formats") or target.concept == "iban"):
        for typed_text in find_typed_texts(
            layout, lambda text: patterns.find_pattern_matches("code", text)
        ):
            yield _build_typed_candidate("code", typed_text, typed_text.text)
    yield from _build_keyword_candidates(analysis, target)


def build_variants(layout: Layout, kind: str, ranges: tuple[Range, ...]) -> Iterator[Candidate]:
    """Yield a candidate for the ranges, without leading punctuation.

    For the kinds in _CODE_KINDS, yield a second candidate without trailing punctuation, if there is
    any. For all other kinds, the renderer removes trailing punctuation.
    """
    joined_text = " ".join(layout.join(first, last) for first, last in ranges)
    first_token, last_token = layout.tokens[ranges[0][0]], layout.tokens[ranges[-1][1]]
    leading_count = len(joined_text) - len(joined_text.lstrip(_STRIPPED_CHARACTERS))
    if leading_count >= len(first_token.text):
        leading_count = 0
    full_text = joined_text[leading_count:]
    yield Candidate(
        kind, ranges, first_token.start + leading_count, last_token.end, full_text, full_text
    )
    stripped_text = full_text.rstrip(_STRIPPED_CHARACTERS)
    trailing_count = len(full_text) - len(stripped_text)
    if kind in _CODE_KINDS and 0 < trailing_count < len(last_token.text) and stripped_text:
        yield Candidate(
            kind,
            ranges,
            first_token.start + leading_count,
            last_token.end - trailing_count,
            stripped_text,
            stripped_text,
        )


def _build_typed_candidate(kind: str, typed_text: TypedText, key: str) -> Candidate:
    ranges = ((typed_text.first, typed_text.last),)
    return Candidate(
        kind,
        ranges,
        typed_text.start,
        typed_text.end,
        typed_text.text,
        key,
        typed_text.is_alternative,
    )


def _build_amount_candidates(analysis: Analysis, target: Target) -> Iterator[Candidate]:
    for typed_text in analysis.amounts:
        key = target.build_key(typed_text.value)
        if len(key) < 13:  # noqa: PLR2004 - longer numbers are identifiers
            yield _build_typed_candidate("amount", typed_text, key)


def _build_datetime_candidates(analysis: Analysis) -> Iterator[Candidate]:
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


def _build_line_candidates(analysis: Analysis) -> Iterator[Candidate]:
    """Yield candidates with one or more lines: a segment and the segments that continue it below.

    If the last line contains other content at its end (see `_find_cut_index`), yield a second
    candidate without that content. Finally, yield candidates of whole rows.
    """
    layout = analysis.layout
    next_segments = find_next_segments(layout)
    for start_index in range(min(len(layout.segments), MAX_START_SEGMENTS)):
        ranges: list[Range] = []
        segment_index: int | None = start_index
        while segment_index is not None and len(ranges) < MAX_LINES:
            segment = layout.segments[segment_index]
            ranges.append((segment.first, segment.last))
            yield from build_variants(layout, "lines", tuple(ranges))
            cut_index = _find_cut_index(analysis, segment)
            if cut_index:
                shortened_ranges = (*ranges[:-1], (segment.first, cut_index - 1))
                yield from build_variants(layout, "lines", shortened_ranges)
            segment_index = next_segments[segment_index]
    yield from _build_wide_row_candidates(layout)


def _find_cut_index(analysis: Analysis, segment: Segment) -> int:
    """Return the index of the token at which content of another type begins, or 0.

    That token has a concept in _CUTTING_CONCEPTS, or begins with "(" and contains a digit.
    """
    for index in range(segment.first + 1, segment.last + 1):
        if analysis.keywords.concepts[index] in _CUTTING_CONCEPTS:
            return index
        text = analysis.tokens[index].text
        if text.startswith("(") and any(char.isdigit() for char in text):
            return index
    return 0


def _build_wide_row_candidates(layout: Layout) -> Iterator[Candidate]:
    """Yield a candidate for each run of 1 to 5 rows (of the first 15) on a page with a wide gap."""
    rows = layout.rows[:15]
    for start in range(len(rows)):
        for end in range(start, min(start + 5, len(rows))):
            run = rows[start : end + 1]
            pages = {layout.tokens[first].page for first, _ in run}
            has_wide_gap = any(layout.tokens[a].segment != layout.tokens[b].segment for a, b in run)
            if has_wide_gap and len(pages) == 1:
                yield from build_variants(layout, "rows", tuple(run))


def find_next_segments(layout: Layout) -> list[int | None]:
    """Return, for each segment, the index of the segment that continues it below, or None."""
    segments = layout.segments
    next_segments: list[int | None] = [None] * len(segments)
    for index, segment in enumerate(segments):
        for below_index in range(index + 1, min(index + 12, len(segments))):
            below = segments[below_index]
            if below.page != segment.page or below.row > segment.row + 2:
                break
            if below.row > segment.row and _is_continuation(segment, below, layout.word_height):
                next_segments[index] = below_index
                break
    return next_segments


def _is_continuation(above: Segment, below: Segment, word_height: float) -> bool:
    shared_width = min(above.box[2], below.box[2]) - max(above.box[0], below.box[0])
    narrower_width = min(above.box[2] - above.box[0], below.box[2] - below.box[0])
    return shared_width > 0.3 * narrower_width and below.box[1] - above.box[3] < 1.6 * word_height


def _build_code_candidates(layout: Layout) -> Iterator[Candidate]:
    tokens = layout.tokens
    for index, token in enumerate(tokens):
        if not any(char.isdigit() for char in token.text):
            continue
        yield from build_variants(layout, "code", ((index, index),))
        for size in (1, 2):
            for first, last in ((index - size, index), (index, index + size)):
                is_inside = first >= 0 and last < len(tokens)
                if is_inside and tokens[first].segment == tokens[last].segment:
                    yield from build_variants(layout, "code", ((first, last),))


def _build_keyword_candidates(analysis: Analysis, target: Target) -> Iterator[Candidate]:
    """Yield the candidates to the right of, and below, each keyword that names the field."""
    layout, tokens = analysis.layout, analysis.tokens
    for last, first in find_field_keywords(analysis, target):
        segment = layout.segments[tokens[last].segment]
        _, row_end = layout.rows[tokens[last].row]
        if last < row_end:
            value_end = (
                segment.last
                if last < segment.last
                else layout.segments[tokens[last + 1].segment].last
            )
            yield from build_variants(layout, "after", ((last + 1, value_end),))
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


def find_field_keywords(analysis: Analysis, target: Target) -> list[tuple[int, int]]:
    """Find the keywords that name the field; return the token indexes (last, first) of each."""
    concepts = analysis.keywords.concepts
    keywords = {
        last: first
        for last, first in analysis.keywords.ends.items()
        # Descriptive concepts have keywords that are parts of values, such as "Ltd".
        if target.concept not in _DESCRIPTIVE_CONCEPTS
        and target.concept
        and concepts[last] == target.concept
    }
    tokens = analysis.tokens
    for phrase in sorted(target.phrases):
        for first in range(len(tokens)):
            joined_text = ""
            for last in range(first, min(first + 5, len(tokens))):
                joined_text += tokens[last].compact
                if len(joined_text) >= len(phrase):
                    if joined_text == phrase:
                        keywords.setdefault(last, first)
                    break
    return sorted(keywords.items())
