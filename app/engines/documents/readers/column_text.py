"""Determine whether lines side by side are columns of text, or cells of a table or form."""

from collections.abc import Sequence
from statistics import median

from app.engines.documents.readers.column_edges import MIN_COLUMN_LINES
from app.engines.documents.readers.segments import Segment

_MIN_CAPITALIZED_LINES = 5
_MIN_WORDS = 3
_MIN_LOWER_CASE_FRACTION = 0.25  # the minimum fraction of lines that begin in lower case
_MIN_LETTER_FRACTION = 0.7  # the minimum fraction of letters among the characters of a column
_LINE_TOLERANCE = 0.1  # the maximum vertical difference within a line, in line heights
_MIN_ALIGNED_FRACTION = 0.5  # in a table, the minimum fraction of lines beside another line


def are_columns(left: list[Segment], right: list[Segment]) -> bool:
    """Return whether two groups of lines are columns of running text side by side."""
    if min(len(left), len(right)) < MIN_COLUMN_LINES or not _are_side_by_side(left, right):
        return False
    lines = _join_lines(left), _join_lines(right)
    lower_case_fractions = _get_lower_case_fraction(lines[0]), _get_lower_case_fraction(lines[1])
    prose_flags = _is_prose(lines[0]), _is_prose(lines[1])
    if all(prose_flags) and min(lower_case_fractions) >= _MIN_LOWER_CASE_FRACTION:
        return True
    if (
        max(lower_case_fractions) >= _MIN_LOWER_CASE_FRACTION
        and any(prose_flags)
        and _get_aligned_fraction(left, right) < _MIN_ALIGNED_FRACTION
    ):
        return True  # text beside margin notes, whose lines are not aligned with it
    # Few lines begin in lower case, so these are lists or table cells. Only cells are very short.
    line_count = min(len(left), len(right))
    word_counts = [len(segment.tokens) for segment in (*left, *right)]
    prose_flags = _is_prose(left), _is_prose(right)
    return (
        all(prose_flags) and line_count >= _MIN_CAPITALIZED_LINES and min(word_counts) >= _MIN_WORDS
    )


def _join_lines(segments: Sequence[Segment]) -> list[Segment]:
    """Join the segments of each line, because wide spaces in justified text separate them."""
    lines: list[list[Segment]] = []
    for segment in sorted(segments, key=lambda segment: (segment.middle, segment.x0)):
        if lines and abs(lines[-1][0].middle - segment.middle) <= _LINE_TOLERANCE * segment.height:
            lines[-1].append(segment)
        else:
            lines.append([segment])
    joined_segments = []
    for line in lines:
        line.sort(key=lambda segment: segment.x0)
        joined_segments.append(
            Segment.from_tokens([token for segment in line for token in segment.tokens])
        )
    return joined_segments


def _are_side_by_side(left: list[Segment], right: list[Segment]) -> bool:
    """Return whether two groups of lines overlap vertically by the height of several lines."""
    top = max(min(segment.top for segment in group) for group in (left, right))
    bottom = min(max(segment.bottom for segment in group) for group in (left, right))
    height = median(segment.height for segment in (*left, *right))
    return bottom - top >= (MIN_COLUMN_LINES - 1) * height


def _get_lower_case_fraction(lines: Sequence[Segment]) -> float:
    """Return the fraction of lines that begin in lower case, or in a script without case."""
    initials = [segment.tokens[0].text[0] for segment in lines]
    return sum(char.isalpha() and not char.isupper() for char in initials) / len(initials)


def _is_prose(lines: Sequence[Segment]) -> bool:
    """Return whether most lines have several words, and most characters are letters."""
    return _has_multiword_lines(lines) and _is_mostly_letters(lines)


def _has_multiword_lines(lines: Sequence[Segment]) -> bool:
    return median(len(segment.tokens) for segment in lines) >= _MIN_WORDS


def _is_mostly_letters(lines: Sequence[Segment]) -> bool:
    text = "".join(token.text for segment in lines for token in segment.tokens)
    return sum(map(str.isalpha, text)) >= _MIN_LETTER_FRACTION * len(text)


def _get_aligned_fraction(left: Sequence[Segment], right: Sequence[Segment]) -> float:
    """Return the fraction of lines in the smaller group that are beside a line of the other."""
    smaller_group, larger_group = sorted((left, right), key=len)
    middles = sorted(segment.middle for segment in larger_group)
    aligned_count = 0
    for segment in smaller_group:
        tolerance = _LINE_TOLERANCE * segment.height
        aligned_count += any(abs(segment.middle - middle) <= tolerance for middle in middles)
    return aligned_count / len(smaller_group)


def is_tabular(left: Sequence[Segment], right: Sequence[Segment]) -> bool:
    """Return whether a block is a table or form, which cannot be part of columns.

    `left` and `right` are the lines of the block on each side of the gutter.
    """
    sides = [_join_lines(side) for side in (left, right) if side]
    if len(sides) == 1:
        return not _is_mostly_letters(sides[0])
    if _get_aligned_fraction(*sides) < _MIN_ALIGNED_FRACTION:
        return False  # text beside margin notes
    return not all(
        _is_mostly_letters(side) and (len(side) == 1 or _has_multiword_lines(side))
        for side in sides
    )
