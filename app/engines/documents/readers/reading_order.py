"""Sort the words of a page into the order in which people read them.

PDF files may draw words in any order, so the positions of the words decide. Words are joined to
segments (runs of words on one line). Columns of running text are read one after the other.
Everything else is sorted into rows, so that the cells of a table row stay together, and so do a
label and its value.
"""

from collections.abc import Sequence
from statistics import median

from app.engines.documents.readers.columns import find_columns
from app.engines.documents.readers.segments import Segment, Token

MAX_SEGMENTS = 2_000
"""Pages with more segments are read in rows, because finding columns would take too long."""

_MAX_DEPTH = 12
_MAX_NEAR = 64  # segments compared with each word; a malicious page may have thousands in one place
_MAX_WORD_GAP = 0.9  # of a line's height; more space ends a segment
_MAX_BASELINE_DIFFERENCE = (
    0.35  # of a line's height; the maximum vertical difference between words of a segment
)
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
    segments = _join_segments(tokens)
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
    slopes = []
    first = last = tokens[0]
    for token in (*tokens[1:], None):
        if token is not None and _continues_line(last, token):
            last = token
            continue
        length = last.x0 - first.x0
        if length > _MIN_LENGTH:
            slopes.append((last.bottom - first.bottom) / length)
        if token is not None:
            first = last = token
    if len(slopes) < _MIN_LINES:
        return
    slope = median(slopes)
    if _MIN_SLOPE < abs(slope) < _MAX_SLOPE:
        for token in tokens:
            shift = slope * token.x0
            token.top, token.bottom = token.top - shift, token.bottom - shift


def _continues_line(last: Token, token: Token) -> bool:
    """Return whether `token` continues the line of `last`, the previous token in the file."""
    gap = token.x0 - last.x1
    return (
        0 <= gap <= _MAX_WORD_GAP * last.height
        and abs(token.middle - last.middle) < last.height / 2
    )


def _join_segments(tokens: Sequence[Token]) -> list[Segment]:
    """Join neighboring words on one line to segments."""
    step = max(1.0, median(token.height for token in tokens))
    segments: list[Segment] = []
    open_segments: dict[int, list[Segment]] = {}  # segments that may continue, by vertical position
    for token in sorted(tokens, key=lambda token: (token.x0, token.index)):
        band = int(token.middle // step)
        best: Segment | None = None
        for key in (band - 1, band, band + 1):
            candidates = open_segments.get(key)
            if candidates:
                max_gap = 2 * _MAX_WORD_GAP * max(step, token.height)
                candidates[:] = [
                    one for one in candidates[-_MAX_NEAR:] if token.x0 - one.x1 <= max_gap
                ]
                for candidate in candidates:
                    if _continues_segment(candidate, token) and (
                        best is None or candidate.x1 > best.x1
                    ):
                        best = candidate
        if best is None:
            segment = Segment(token)
            segments.append(segment)
            open_segments.setdefault(band, []).append(segment)
        else:
            best.add(token)
    return segments


def _continues_segment(candidate: Segment, token: Token) -> bool:
    height = max(candidate.height, token.height)
    if not -height / 2 <= token.x0 - candidate.x1 <= _MAX_WORD_GAP * height:
        return False
    difference = min(abs(candidate.middle - token.middle), abs(candidate.bottom - token.bottom))
    return difference <= _MAX_BASELINE_DIFFERENCE * min(candidate.height, token.height)


def _build_rows(segments: Sequence[Segment]) -> list[Row]:
    """Sort segments into rows by vertical position, and each row from left to right."""
    rows: list[list[Segment]] = []
    for segment in sorted(segments, key=lambda one: (one.middle, one.x0)):
        best, best_overlap = None, _MIN_OVERLAP
        for row in rows[-4:]:
            shared = min(row[0].bottom, segment.bottom) - max(row[0].top, segment.top)
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
        for one in row[-_MAX_NEAR:]
    )
