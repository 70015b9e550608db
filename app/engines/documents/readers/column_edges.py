"""Find the left edges at which columns may begin, and split lines at these edges."""

from dataclasses import dataclass
from itertools import chain, pairwise
from statistics import median

from app.engines.documents.readers.segments import (
    MIN_GUTTER,
    WIDE_GAP_FACTOR,
    Segment,
    find_gaps,
    find_wide_gaps,
)

MIN_COLUMN_LINES = 3
_MIN_ALIGNED_LINES = 4
_MAX_LINE_DISTANCE = 2.5  # the maximum distance to the next line, in line heights
_MAX_CANDIDATES = 12
_EDGE_TOLERANCE = 0.5  # the maximum difference between left edges of a column, in line heights
_EXACT_TOLERANCE = 0.2  # the maximum difference between exactly aligned edges, in line heights


@dataclass(frozen=True, slots=True)
class Edge:
    """The left edge of a possible column.

    `x` is its position in points. If `min_gutter` is set, the lines of the column must be exactly
    aligned, and each line must be at least `min_gutter` points away from the word to its left. This
    is necessary for justified text, in which spaces may be as wide as a gutter.
    """

    x: float
    min_gutter: float | None = None

    @property
    def min_lines(self) -> int:
        """Return the minimum number of lines that a column at this edge must have."""
        return MIN_COLUMN_LINES if self.min_gutter is None else _MIN_ALIGNED_LINES

    def find_split(self, segment: Segment) -> int | None:
        """Return the index of the word after a gap at the edge, or None if there is no such gap."""
        if self.min_gutter is None:
            tolerance = _EDGE_TOLERANCE * segment.height
            indexes = find_wide_gaps(segment)
            low, high = self.x - tolerance / 2, self.x + tolerance
        else:
            indexes = find_gaps(segment, self.min_gutter)
            low, high = self.x, self.x + _EXACT_TOLERANCE * segment.height
        return next((index for index in indexes if low <= segment.tokens[index].x0 <= high), None)


def find_left_edges(segments: list[Segment]) -> list[Edge]:
    """Return the left edges that several segments, or words after wide gaps, share.

    They are sorted from left to right, without the leftmost, which has no gutter to its left.
    """
    tolerance = _EDGE_TOLERANCE * median(segment.height for segment in segments)
    starts = [x0 for segment in segments for x0 in _get_starts(segment)]
    return [Edge(x) for x in _find_common_starts(starts, tolerance, MIN_COLUMN_LINES)]


def find_aligned_edges(segments: list[Segment]) -> list[Edge]:
    """Return the left edges that consecutive lines share exactly, sorted, without the leftmost."""
    height = median(segment.height for segment in segments)
    gaps = sorted(chain.from_iterable(segment.gaps for segment in segments))
    if not gaps:
        return []
    usual_gap = gaps[len(gaps) // 50]  # the width of a space that is not stretched
    min_gutter = max(MIN_GUTTER * height, WIDE_GAP_FACTOR * usual_gap)
    starts = [
        (segment.tokens[index].x0, segment.middle)
        for segment in segments
        for index in find_gaps(segment, min_gutter)
    ]
    starts += [(segment.x0, segment.middle) for segment in segments]
    tolerance = _EXACT_TOLERANCE * height
    return [
        Edge(x, min_gutter)
        for x in _find_common_starts([x0 for x0, _ in starts], tolerance, _MIN_ALIGNED_LINES)
        if _count_longest_run(
            [y for x0, y in starts if x <= x0 <= x + tolerance], _MAX_LINE_DISTANCE * height
        )
        >= _MIN_ALIGNED_LINES
    ]


def _count_longest_run(middles: list[float], max_distance: float) -> int:
    """Return the number of lines in the longest run of lines at most `max_distance` apart.

    `middles` contains the vertical centers of the lines.
    """
    longest = run = 1
    for above, below in pairwise(sorted(middles)):
        run = run + 1 if below - above <= max_distance else 1
        longest = max(longest, run)
    return longest


def _find_common_starts(starts: list[float], tolerance: float, min_count: int) -> list[float]:
    """Return the starts that at least `min_count` lines share, from left to right.

    The leftmost start is left out. Only the `_MAX_CANDIDATES` most common starts are returned. A
    start is a horizontal position in points. Starts that differ by at most `tolerance` points
    count as one start.
    """
    clusters: list[list[float]] = []
    for x0 in sorted(starts):
        if clusters and x0 - clusters[-1][0] <= tolerance:
            clusters[-1].append(x0)
        else:
            clusters.append([x0])
    common_clusters = [cluster for cluster in clusters[1:] if len(cluster) >= min_count]
    common_clusters.sort(key=len, reverse=True)
    return sorted(cluster[0] for cluster in common_clusters[:_MAX_CANDIDATES])


def _get_starts(segment: Segment) -> list[float]:
    """Return the left edge of a segment and of each word after a gap that may be a gutter."""
    indexes = find_wide_gaps(segment)
    return (
        [segment.x0, *(segment.tokens[index].x0 for index in indexes)] if indexes else [segment.x0]
    )


def split_segment(segment: Segment, edge: Edge) -> list[Segment]:
    """Split a segment into two at `edge`, or return it whole if it has no gap at the edge."""
    if not segment.x0 < edge.x - _EDGE_TOLERANCE * segment.height < segment.x1:
        return [segment]
    index = edge.find_split(segment)
    if index is None:
        return [segment]
    return [
        Segment.from_tokens(segment.tokens[:index]),
        Segment.from_tokens(segment.tokens[index:]),
    ]
