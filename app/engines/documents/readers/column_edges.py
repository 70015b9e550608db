"""Find the left edges at which columns may begin, and split lines at these edges."""

from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from app.engines.documents.readers.segments import (
    LEAST_GUTTER,
    WIDER,
    Segment,
    find_gaps,
    find_wide_gaps,
    get_gap_widths,
)

LEAST_LINES = 3
_LEAST_ALIGNED_LINES = 4
_NEXT_LINE = 2.5  # the maximum distance to the next line, in line heights
_MAX_CANDIDATES = 12
_EDGE = 0.5  # of a line's height; the maximum difference between left edges of a column
_EXACT = 0.2  # of a line's height; the maximum difference between exactly aligned lines


@dataclass(frozen=True, slots=True)
class Edge:
    """The left edge of a possible column.

    Justified text may have spaces as wide as a gutter. If `gutter` is given, the lines of the
    column must therefore be exactly aligned, and each must be at least `gutter` away from the word
    to its left.
    """

    x: float
    gutter: float | None = None

    @property
    def least_lines(self) -> int:
        """Return the minimum number of lines of a column."""
        return LEAST_LINES if self.gutter is None else _LEAST_ALIGNED_LINES

    def find_cut(self, segment: Segment) -> int | None:
        """Return the index of the first word right of the gutter, or None if there is no gap."""
        if self.gutter is None:
            reach = _EDGE * segment.height
            gaps = find_wide_gaps(segment)
            low, high = self.x - reach / 2, self.x + reach
        else:
            gaps = find_gaps(segment, self.gutter)
            low, high = self.x, self.x + _EXACT * segment.height
        return next((index for index in gaps if low <= segment.tokens[index].x0 <= high), None)


def find_left_edges(segments: list[Segment]) -> list[Edge]:
    """Return the most common left edges of segments, from left to right."""
    reach = _EDGE * median(one.height for one in segments)
    starts = [x0 for one in segments for x0 in _starts(one)]
    return [Edge(x) for x in _common(starts, reach, LEAST_LINES)]


def find_aligned_edges(segments: list[Segment]) -> list[Edge]:
    """Return the edges of columns whose gutter may be as narrow as the spaces in their lines."""
    height = median(one.height for one in segments)
    gaps = sorted(gap for one in segments for gap in get_gap_widths(one))
    if not gaps:
        return []
    usual = gaps[len(gaps) // 50]  # the width of a space that is not stretched
    gutter = max(LEAST_GUTTER * height, WIDER * usual)
    starts = [
        (one.tokens[index].x0, one.middle) for one in segments for index in find_gaps(one, gutter)
    ]
    starts += [(one.x0, one.middle) for one in segments]
    reach = _EXACT * height
    return [
        Edge(x, gutter)
        for x in _common([x0 for x0, _ in starts], reach, _LEAST_ALIGNED_LINES)
        if _longest_run([y for x0, y in starts if x <= x0 <= x + reach], _NEXT_LINE * height)
        >= _LEAST_ALIGNED_LINES
    ]


def _longest_run(middles: list[float], reach: float) -> int:
    """Return the length of the longest run of lines with at most `reach` between neighbors."""
    longest = run = 1
    for above, below in pairwise(sorted(middles)):
        run = run + 1 if below - above <= reach else 1
        longest = max(longest, run)
    return longest


def _common(starts: list[float], reach: float, least: int) -> list[float]:
    """Return the most common starts of lines from left to right, without the leftmost one."""
    clusters: list[list[float]] = []
    for x0 in sorted(starts):
        if clusters and x0 - clusters[-1][0] <= reach:
            clusters[-1].append(x0)
        else:
            clusters.append([x0])
    common = [one for one in clusters[1:] if len(one) >= least]
    common.sort(key=len, reverse=True)
    return sorted(one[0] for one in common[:_MAX_CANDIDATES])


def _starts(segment: Segment) -> list[float]:
    """Return the start of a segment, and of each word after a gap that may be a gutter."""
    tokens = segment.tokens
    return [segment.x0, *(tokens[index].x0 for index in find_wide_gaps(segment))]


def cut(segment: Segment, edge: Edge) -> list[Segment]:
    """Split a segment at the gutter left of `edge`; return it whole if it has no gap there."""
    if not segment.x0 < edge.x - _EDGE * segment.height < segment.x1:
        return [segment]
    index = edge.find_cut(segment)
    if index is None:
        return [segment]
    return [Segment.of(segment.tokens[:index]), Segment.of(segment.tokens[index:])]
