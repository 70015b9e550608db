"""Decide whether lines side by side are columns of text, or the cells of a table or form."""

from collections.abc import Sequence
from statistics import median

from app.engines.documents.readers.column_edges import LEAST_LINES
from app.engines.documents.readers.segments import Segment

_LEAST_LINES_OF_CAPITALS = 5
_LEAST_WORDS = 3
_FLOWING = 0.25  # minimum share of lines that begin in lower case
_LETTERS = 0.7  # minimum share of letters among the characters of a column
_SAME_LINE = 0.1  # of a line's height; the maximum vertical difference within a line
_ALIGNED = 0.5  # minimum share of lines with a line beside them in a table


def are_columns(left: list[Segment], right: list[Segment]) -> bool:
    """Return whether two groups of lines are running text side by side."""
    if min(len(left), len(right)) < LEAST_LINES or not _overlap(left, right):
        return False
    lines = _lines(left), _lines(right)
    flows = _flow(lines[0]), _flow(lines[1])
    prose = _is_prose(lines[0]), _is_prose(lines[1])
    if all(prose) and min(flows) >= _FLOWING:
        return True
    if max(flows) >= _FLOWING and any(prose) and _aligned(left, right) < _ALIGNED:
        return True  # text beside margin notes, whose lines are not aligned with it
    # Few lines begin in lower case: two lists, or table cells. Only tables have very short cells.
    fewest = min(len(left), len(right))
    words = [len(one.tokens) for one in (*left, *right)]
    prose = _is_prose(left), _is_prose(right)
    return all(prose) and fewest >= _LEAST_LINES_OF_CAPITALS and min(words) >= _LEAST_WORDS


def _lines(segments: Sequence[Segment]) -> list[Segment]:
    """Join the segments of each line, because wide spaces in justified text separate them."""
    lines: list[list[Segment]] = []
    for segment in sorted(segments, key=lambda one: (one.middle, one.x0)):
        if lines and abs(lines[-1][0].middle - segment.middle) <= _SAME_LINE * segment.height:
            lines[-1].append(segment)
        else:
            lines.append([segment])
    found = []
    for line in lines:
        line.sort(key=lambda one: one.x0)
        found.append(Segment.of([token for one in line for token in one.tokens]))
    return found


def _overlap(left: list[Segment], right: list[Segment]) -> bool:
    """Return whether the groups are side by side over the height of several lines."""
    top = max(min(one.top for one in group) for group in (left, right))
    bottom = min(max(one.bottom for one in group) for group in (left, right))
    height = median(one.height for one in (*left, *right))
    return bottom - top >= (LEAST_LINES - 1) * height


def _flow(lines: Sequence[Segment]) -> float:
    """Return the share of lines that begin in lower case, or in a script without case."""
    first = [one.tokens[0].text[0] for one in lines]
    return sum(char.isalpha() and not char.isupper() for char in first) / len(first)


def _is_prose(lines: Sequence[Segment]) -> bool:
    """Return whether most lines have several words, and most characters are letters."""
    return _is_of_words(lines) and _is_of_letters(lines)


def _is_of_words(lines: Sequence[Segment]) -> bool:
    return median(len(one.tokens) for one in lines) >= _LEAST_WORDS


def _is_of_letters(lines: Sequence[Segment]) -> bool:
    text = "".join(token.text for one in lines for token in one.tokens)
    return sum(map(str.isalpha, text)) >= _LETTERS * len(text)


def _aligned(left: Sequence[Segment], right: Sequence[Segment]) -> float:
    """Return the share of the smaller group's lines that have a line of the other beside them."""
    fewer, more = sorted((left, right), key=len)
    middles = sorted(one.middle for one in more)
    beside = 0
    for one in fewer:
        reach = _SAME_LINE * one.height
        beside += any(abs(one.middle - middle) <= reach for middle in middles)
    return beside / len(fewer)


def is_tabular(left: Sequence[Segment], right: Sequence[Segment]) -> bool:
    """Return whether a block is a table or a form, which cannot be part of columns."""
    sides = [_lines(side) for side in (left, right) if side]
    if len(sides) == 1:
        return not _is_of_letters(sides[0])
    if _aligned(*sides) < _ALIGNED:
        return False  # text beside margin notes
    return not all(
        _is_of_letters(side) and (len(side) == 1 or _is_of_words(side)) for side in sides
    )
