"""Join the words of a page into segments: runs of words on one line.

Most lines do not overlap other lines, and all words of a line have the same metrics. Such a line is
cut at its wide gaps. If lines overlap, as with superscripts, their words are compared one by one.
To limit the comparisons, the page is divided into horizontal bands, each about as high as a word; a
word is only compared with the segments in its own band and in the bands above and below.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from statistics import median

from app.engines.documents.readers.segments import MAX_WORD_GAP, Line, Segment, Token, build_tokens

# A word is compared with at most this number of segments in each band or row. A malicious page may
# have thousands of segments at one position.
MAX_COMPARED_SEGMENTS = 64
_MAX_WORD_OVERLAP = 0.5  # in line heights; words that overlap more are not side by side
# The maximum vertical difference between words of a segment, in line heights.
_MAX_BASELINE_DIFFERENCE = 0.35
# Half of `_MAX_BASELINE_DIFFERENCE`, plus a margin for rounding errors. Lines have no common
# segments if they are further apart than this fraction of the sum of their heights.
_REACH_FACTOR = 0.18

_get_metrics = attrgetter("top", "bottom")
_get_left = attrgetter("x0")
_get_position = attrgetter("x0", "index")


def join_segments(words: Sequence[Token | Line]) -> list[Segment]:
    """Join neighboring words on one line into segments; return them sorted by their left edges."""
    segments: list[Segment] = []
    band_height = 0.0
    for lines in _split_into_clusters(words):
        joined_segments = _cut_line(lines[0]) if len(lines) == 1 else None
        if joined_segments is None:
            band_height = band_height or _compute_band_height(words)
            joined_segments = _join_cluster(
                [token for line in lines for token in build_tokens(line)], band_height
            )
        segments += joined_segments
    segments.sort(key=_get_position)
    return segments


def _compute_band_height(words: Iterable[Token | Line]) -> float:
    """Return the height of the bands of a page: the median word height, but at least one point."""
    return max(1.0, median(token.height for token in build_tokens(words)))


def _split_into_clusters(words: Iterable[Token | Line]) -> Iterator[list[list[Token | Line]]]:
    """Yield the words of the page in clusters, so that no segment has words from two clusters.

    Each cluster is a list of lines. The words of a line have the same top and bottom.
    """
    lines: dict[tuple[float, float], list[Token | Line]] = {}
    for metrics, group in groupby(words, _get_metrics):
        lines.setdefault(metrics, []).extend(group)
    extents = []
    for top, bottom in lines:
        reach = _REACH_FACTOR * (bottom - top)
        extents.append(((top + bottom) / 2 - reach, bottom + reach, top, bottom))
    cluster: list[list[Token | Line]] = []
    cluster_bottom = 0.0
    for reach_top, reach_bottom, top, bottom in sorted(extents):
        if cluster and reach_top > cluster_bottom:
            yield cluster
            cluster = []
        cluster_bottom = max(cluster_bottom, reach_bottom) if cluster else reach_bottom
        cluster.append(lines[top, bottom])
    if cluster:
        yield cluster


def _cut_line(line: list[Token | Line]) -> list[Segment] | None:
    """Cut a line into segments at its wide gaps.

    Returns None if words overlap, because overlapping words may belong to several lines. The words
    of `line` are in file order.
    """
    if len(line) == 1:
        return [Segment(line[0])]
    tokens = sorted(build_tokens(line), key=_get_left)
    height = tokens[0].height
    min_gap, max_gap = -_MAX_WORD_OVERLAP * height, MAX_WORD_GAP * height
    segments: list[Segment] = []
    first = 0
    x1 = tokens[0].x1
    for index, token in enumerate(tokens):
        gap = token.x0 - x1
        if gap > max_gap:
            segments.append(Segment.from_aligned_tokens(tokens[first:index], x1))
            first, x1 = index, token.x1
        elif gap < min_gap and index > first:
            return None
        elif token.x1 > x1:
            x1 = token.x1
    segments.append(Segment.from_aligned_tokens(tokens[first:], x1))
    return segments


def _join_cluster(tokens: Sequence[Token], band_height: float) -> list[Segment]:
    """Join words into segments, comparing each word with the segments in nearby bands."""
    segments: list[Segment] = []
    open_segments: dict[int, list[Segment]] = {}  # segments that may continue, by band
    for token in sorted(tokens, key=_get_position):
        band = int(token.middle // band_height)
        best_candidate: Segment | None = None
        for key in (band - 1, band, band + 1):
            candidates = open_segments.get(key)
            if candidates:
                max_gap = 2 * MAX_WORD_GAP * max(band_height, token.height)
                candidates[:] = [
                    segment
                    for segment in candidates[-MAX_COMPARED_SEGMENTS:]
                    if token.x0 - segment.x1 <= max_gap
                ]
                for candidate in candidates:
                    if _can_continue_segment(candidate, token) and (
                        best_candidate is None or candidate.x1 > best_candidate.x1
                    ):
                        best_candidate = candidate
        if best_candidate is None:
            segment = Segment(token)
            segments.append(segment)
            open_segments.setdefault(band, []).append(segment)
        else:
            best_candidate.add(token)
    return segments


def _can_continue_segment(candidate: Segment, token: Token) -> bool:
    height = max(candidate.height, token.height)
    gap = token.x0 - candidate.x1
    if not -_MAX_WORD_OVERLAP * height <= gap <= MAX_WORD_GAP * height:
        return False
    difference = min(abs(candidate.middle - token.middle), abs(candidate.bottom - token.bottom))
    return difference <= _MAX_BASELINE_DIFFERENCE * min(candidate.height, token.height)
