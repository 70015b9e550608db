"""Where columns may begin: left edges that lines have in common, and the cuts of lines there."""

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
_NEXT_LINE = 2.5  # line heights to the next line at most
_MAX_CANDIDATES = 12
_EDGE = 0.5  # of a line's height, by which the left edges of a column may differ
_EXACT = 0.2  # of a line's height, by which lines differ that begin exactly below one another


@dataclass(frozen=True, slots=True)
class Edge:
    """The left edge of what may be a column.

    Justified text has spaces as wide as a gutter. So where `gutter` is given, lines that begin
    exactly below one another are columns if each is at least so far from the word before it.
    """

    x: float
    gutter: float | None = None

    @property
    def least_lines(self) -> int:
        """The number of lines that make a column."""
        return LEAST_LINES if self.gutter is None else _LEAST_ALIGNED_LINES

    def find_cut(self, segment: Segment) -> int | None:
        """Return the index of the word that begins a segment's right part."""
        if self.gutter is None:
            reach = _EDGE * segment.height
            gaps = find_wide_gaps(segment)
            low, high = self.x - reach / 2, self.x + reach
        else:
            gaps = find_gaps(segment, self.gutter)
            low, high = self.x, self.x + _EXACT * segment.height
        return next((index for index in gaps if low <= segment.tokens[index].x0 <= high), None)


def find_left_edges(segments: list[Segment]) -> list[Edge]:
    """Return the left edges that most segments have in common, the leftmost first."""
    reach = _EDGE * median(one.height for one in segments)
    starts = [x0 for one in segments for x0 in _starts(one)]
    return [Edge(x) for x in _common(starts, reach, LEAST_LINES)]


def find_aligned_edges(segments: list[Segment]) -> list[Edge]:
    """Return the edges of columns whose gutter is no wider than the spaces of their lines."""
    height = median(one.height for one in segments)
    gaps = sorted(gap for one in segments for gap in get_gap_widths(one))
    if not gaps:
        return []
    usual = gaps[len(gaps) // 50]  # a space that nothing has stretched
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
    """Return how many lines there are below one another, each at most `reach` from the next."""
    longest = run = 1
    for above, below in pairwise(sorted(middles)):
        run = run + 1 if below - above <= reach else 1
        longest = max(longest, run)
    return longest


def _common(starts: list[float], reach: float, least: int) -> list[float]:
    """Return the places where most lines begin, the leftmost first, but for the page's own edge."""
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
    """Return where a segment begins, and where it goes on after a gap that may be a gutter."""
    tokens = segment.tokens
    return [segment.x0, *(tokens[index].x0 for index in find_wide_gaps(segment))]


def cut(segment: Segment, edge: Edge) -> list[Segment]:
    """Cut a segment at the gutter left of `edge`, unless it has words there."""
    if not segment.x0 < edge.x - _EDGE * segment.height < segment.x1:
        return [segment]
    index = edge.find_cut(segment)
    if index is None:
        return [segment]
    return [Segment.of(segment.tokens[:index]), Segment.of(segment.tokens[index:])]
