"""Sort the words of a page into the order in which people read them.

PDF files may draw words in any order, so the order is computed from their positions. Words are
joined into segments (runs of words on one line). Columns of running text are read one after the
other. Everything else is sorted into rows, so that the cells of a table row, or a label and its
value, stay together.
"""

from collections.abc import Iterator, Sequence
from statistics import median

from app.engines.documents.readers.columns import find_columns
from app.engines.documents.readers.joining import MAX_COMPARED_SEGMENTS, join_segments
from app.engines.documents.readers.segments import (
    MAX_WORD_GAP,
    Line,
    Segment,
    Token,
    build_tokens,
)

MAX_SEGMENTS = 2_000
"""Pages with more segments are read in rows, because finding columns would take too long."""

_MAX_DEPTH = 12
# The minimum vertical overlap of a segment with its row, as a fraction of the smaller height.
_MIN_OVERLAP = 0.5
_MIN_SLOPE_LINES = 3
_MIN_LINE_LENGTH = 60.0  # points; the slope of shorter lines is not reliable
_MIN_SLOPE, _MAX_SLOPE = 0.002, 0.18

Row = list[Segment]


def sort_into_rows(words: Sequence[Token | Line], *, right_to_left: bool = False) -> list[Row]:
    """Return the rows of a page in reading order, each with its segments from left to right.

    If the page is skewed, `top` and `bottom` of the tokens are changed.

    Args:
        words: The words in file order, in coordinates in which they are upright.
        right_to_left: Whether columns are read from right to left.
    """
    if not words:
        return []
    segments = join_segments(_straighten_words(words))
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


def _straighten_words(words: Sequence[Token | Line]) -> Sequence[Token | Line]:
    """Straighten the words of a skewed scan: return tokens that are moved onto horizontal lines.

    Returns `words` unchanged if the page is not skewed.
    """
    slopes = [
        (last.bottom - first.bottom) / length
        for first, last in _iterate_lines(words)
        if (length := _get_last_word_x0(last) - first.x0) > _MIN_LINE_LENGTH
    ]
    if len(slopes) < _MIN_SLOPE_LINES:
        return words
    slope = median(slopes)
    if not _MIN_SLOPE < abs(slope) < _MAX_SLOPE:
        return words
    tokens = build_tokens(words)
    for token in tokens:
        shift = slope * token.x0
        token.top, token.bottom = token.top - shift, token.bottom - shift
    return tokens


def _iterate_lines(words: Sequence[Token | Line]) -> Iterator[tuple[Token | Line, Token | Line]]:
    """Yield the first and last word of each line, in file order."""
    first = last = words[0]
    for word in words[1:]:
        top, bottom = last.top, last.bottom
        height = bottom - top
        if not (
            0 <= word.x0 - last.x1 <= MAX_WORD_GAP * height
            and abs((word.top + word.bottom) / 2 - (top + bottom) / 2) < height / 2
        ):
            yield first, last
            first = word
        last = word
    yield first, last


def _get_last_word_x0(word: Token | Line) -> float:
    """Return the left edge of a word, or of the last word of a line."""
    return word.boxes[-1][0] if isinstance(word, Line) else word.x0


def _build_rows(segments: Sequence[Segment]) -> list[Row]:
    """Group segments into rows by vertical position, and sort each row from left to right."""
    rows: list[list[Segment]] = []
    for segment in sorted(segments, key=lambda segment: (segment.middle, segment.x0)):
        best_row, best_overlap = None, _MIN_OVERLAP
        for row in rows[-4:]:
            shared_height = min(row[0].bottom, segment.bottom) - max(row[0].top, segment.top)
            if shared_height <= 0:
                continue
            overlap = shared_height / max(min(row[0].height, segment.height), 1e-6)
            if overlap >= best_overlap and not _is_occupied(row, segment):
                best_row, best_overlap = row, overlap
        if best_row is None:
            rows.append([segment])
        else:
            best_row.append(segment)
    return [sorted(row, key=lambda segment: segment.x0) for row in rows]


def _is_occupied(row: Sequence[Segment], segment: Segment) -> bool:
    """Return whether a row already has words at the horizontal position of the segment."""
    return any(
        min(other.x1, segment.x1) - max(other.x0, segment.x0) > max(other.height, segment.height)
        for other in row[-MAX_COMPARED_SEGMENTS:]
    )
