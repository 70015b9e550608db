"""Sort the words of a page into the order in which people read them.

PDF files may draw words in any order, so the positions of the words decide. Words are joined to
segments (runs of words on one line). Columns of running text are read one after the other.
Everything else is sorted into rows, so that the cells of a table row stay together, and so do a
label and its value.
"""

from collections.abc import Iterator, Sequence
from statistics import median

from app.engines.documents.readers.columns import find_columns
from app.engines.documents.readers.joining import MAX_NEAR, MAX_WORD_GAP, join_segments
from app.engines.documents.readers.segments import Segment, Token

MAX_SEGMENTS = 2_000
"""Pages with more segments are read in rows, because finding columns would take too long."""

_MAX_DEPTH = 12
_MIN_OVERLAP = 0.5  # of a segment's height; the minimum overlap with its row
_MIN_LINES = 3
_MIN_LENGTH = 60.0  # points; the slope of shorter lines is not reliable
_MIN_SLOPE, _MAX_SLOPE = 0.002, 0.18

Row = list[Token]


def sort_into_rows(tokens: Sequence[Token], *, right_to_left: bool = False) -> list[Row]:
    """Return the rows of a page in reading order, each with its words from left to right.

    Changes `top` and `bottom` of the tokens if the page is skewed.

    Args:
        tokens: The words, in coordinates in which they are upright.
        right_to_left: Whether columns are read from right to left.
    """
    if not tokens:
        return []
    _straighten_tokens(tokens)
    segments = join_segments(tokens)
    if len(segments) > MAX_SEGMENTS:
        return _build_rows(segments)
    return _order_segments(segments, 0, right_to_left=right_to_left)


def _order_segments(segments: list[Segment], depth: int, *, right_to_left: bool) -> list[Row]:
    bands = find_columns(segments) if depth < _MAX_DEPTH else None
    if bands is None:
        return _build_rows(segments)
    rows: list[Row] = []
    for band in bands:
        parts = [band] if isinstance(band, list) else list(band)
        for part in reversed(parts) if right_to_left else parts:
            rows += _order_segments(part, depth + 1, right_to_left=right_to_left)
    return rows


def _straighten_tokens(tokens: Sequence[Token]) -> None:
    """Move the tokens of a skewed scan so that its lines become horizontal."""
    slopes = [
        (last.bottom - first.bottom) / (last.x0 - first.x0)
        for first, last in _iterate_lines(tokens)
        if last.x0 - first.x0 > _MIN_LENGTH
    ]
    if len(slopes) < _MIN_LINES:
        return
    slope = median(slopes)
    if _MIN_SLOPE < abs(slope) < _MAX_SLOPE:
        for token in tokens:
            shift = slope * token.x0
            token.top, token.bottom = token.top - shift, token.bottom - shift


def _iterate_lines(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    """Yield the first and last token of each line, as the file draws it."""
    first = last = tokens[0]
    for token in tokens[1:]:
        height = last.bottom - last.top
        if not (
            0 <= token.x0 - last.x1 <= MAX_WORD_GAP * height
            and (token.top == last.top or abs(token.middle - last.middle) < height / 2)
        ):
            yield first, last
            first = token
        last = token
    yield first, last


def _build_rows(segments: Sequence[Segment]) -> list[Row]:
    """Sort segments into rows by vertical position, and each row from left to right."""
    rows: list[list[Segment]] = []
    for segment in sorted(segments, key=lambda one: (one.middle, one.x0)):
        best, best_overlap = None, _MIN_OVERLAP
        for row in rows[-4:]:
            shared = min(row[0].bottom, segment.bottom) - max(row[0].top, segment.top)
            if shared <= 0:
                continue
            overlap = shared / max(min(row[0].height, segment.height), 1e-6)
            if overlap >= best_overlap and not _is_occupied(row, segment):
                best, best_overlap = row, overlap
        if best is None:
            rows.append([segment])
        else:
            best.append(segment)
    return [
        [token for one in sorted(row, key=lambda one: one.x0) for token in one.tokens]
        for row in rows
    ]


def _is_occupied(row: Sequence[Segment], segment: Segment) -> bool:
    """Return whether a row already has words at the position of the segment."""
    return any(
        min(one.x1, segment.x1) - max(one.x0, segment.x0) > max(one.height, segment.height)
        for one in row[-MAX_NEAR:]
    )
