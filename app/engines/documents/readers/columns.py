"""Find columns of running text, as opposed to the columns of a table.

A candidate is a left edge that several lines share. The strip to the left of the edge is the
gutter. Lines that cross the gutter, such as headings, end the columns. Columns are usually running
text (see `are_columns`): most lines have several words, and many lines begin in lower case. Short
cells and numbers belong to a table or a form, which is read row by row.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import chain

from app.engines.documents.readers.column_edges import (
    MIN_COLUMN_LINES,
    Edge,
    find_aligned_edges,
    find_left_edges,
    split_segment,
)
from app.engines.documents.readers.column_text import are_columns, is_tabular
from app.engines.documents.readers.segments import Segment

_SPLIT_COST = 3  # an edge must add this many words to columns for each segment that it cuts

Columns = tuple[list[Segment], list[Segment]]
Band = list[Segment] | Columns


def find_columns(segments: list[Segment]) -> list[Band] | None:
    """Return the bands of a page from top to bottom, or None if it has no columns.

    A band is either a left and a right column, or a list of segments to sort into rows.
    """
    if len(segments) < 2 * MIN_COLUMN_LINES:
        return None
    best_bands: list[Band] | None = None
    best_gain = 0
    sorted_segments = sorted(segments, key=lambda segment: (segment.middle, segment.x0))
    for edge in (*find_left_edges(segments), *find_aligned_edges(segments)):
        bands = _build_bands(sorted_segments, edge)
        gain = sum(
            len(segment.tokens)
            for band in bands
            if isinstance(band, tuple)
            for segment in chain(*band)
        )
        part_count = sum(
            len(band) if isinstance(band, list) else sum(map(len, band)) for band in bands
        )
        gain -= _SPLIT_COST * (part_count - len(segments))
        if gain > best_gain:
            best_bands, best_gain = bands, gain
    return best_bands


def _build_bands(sorted_segments: list[Segment], edge: Edge) -> list[Band]:
    """Split sorted segments into bands; a segment that crosses the gutter ends the columns."""
    bands: list[Band] = []
    row_segments: list[Segment] = []
    left: list[Segment] = []
    right: list[Segment] = []

    def end_columns() -> None:
        nonlocal row_segments, left, right
        for band in _split_into_bands(left, right, edge.min_lines):
            if isinstance(band, list):
                row_segments += band
            else:
                bands.extend([row_segments, band] if row_segments else [band])
                row_segments = []
        left, right = [], []

    for segment in chain.from_iterable(split_segment(segment, edge) for segment in sorted_segments):
        slack = 0.1 * segment.height
        if segment.x0 >= edge.x - 2 * slack:
            right.append(segment)
        elif segment.x1 <= edge.x + slack:
            left.append(segment)
        else:
            end_columns()
            row_segments.append(segment)
    end_columns()
    if row_segments:
        bands.append(row_segments)
    return bands


def _split_into_bands(left: list[Segment], right: list[Segment], min_lines: int) -> list[Band]:
    """Split the segments of both sides into bands from top to bottom.

    Columns have at least `min_lines` lines. A table or form ends the columns above it, even if none
    of its lines crosses the gutter.
    """
    if min(len(left), len(right)) < MIN_COLUMN_LINES:
        return [[*left, *right]]
    left_ids = set(map(id, left))
    bands: list[Band] = []
    pending_segments: list[Segment] = []
    for block in _split_into_blocks([*left, *right]):
        sides = _separate_sides(block, left_ids)
        if is_tabular(*sides):
            bands += [*_separate_margins(pending_segments, left_ids, min_lines), block]
            pending_segments = []
        else:
            pending_segments += block
    return [*bands, *_separate_margins(pending_segments, left_ids, min_lines)]


def _separate_sides(segments: Sequence[Segment], left_ids: AbstractSet[int]) -> Columns:
    """Return the segments whose `id` is in `left_ids`, and the other segments."""
    left = [segment for segment in segments if id(segment) in left_ids]
    return left, [segment for segment in segments if id(segment) not in left_ids]


def _separate_margins(
    segments: list[Segment], left_ids: AbstractSet[int], min_lines: int
) -> list[Band]:
    """Return three bands: the header, the columns below it, and the footer.

    If the segments between header and footer do not form columns, returns all segments as one band.
    """
    header, body, footer = _split_margins(segments)
    columns = _separate_sides(body, left_ids)
    if min(map(len, columns)) < min_lines or not are_columns(*columns):
        return [segments]
    return [header, columns, footer]


def _split_into_blocks(segments: Sequence[Segment]) -> list[list[Segment]]:
    """Split segments into blocks, from top to bottom, at vertical gaps taller than a line."""
    blocks: list[list[Segment]] = []
    bottom = 0.0
    for segment in sorted(segments, key=lambda segment: segment.top):
        if not blocks or segment.top > bottom + segment.height:
            blocks.append([])
            bottom = segment.bottom
        blocks[-1].append(segment)
        bottom = max(bottom, segment.bottom)
    return blocks


def _split_margins(
    segments: list[Segment],
) -> tuple[list[Segment], list[Segment], list[Segment]]:
    """Split segments into header, body and footer.

    Header and footer consist of single rows that are separated from the body by a gap.
    """
    blocks = _split_into_blocks(segments)
    header: list[Segment] = []
    footer: list[Segment] = []
    while len(blocks) > 1 and _is_one_row(blocks[0]):
        header += blocks.pop(0)
    while len(blocks) > 1 and _is_one_row(blocks[-1]):
        footer = blocks.pop() + footer
    return header, [segment for block in blocks for segment in block], footer


def _is_one_row(block: list[Segment]) -> bool:
    extent = max(segment.bottom for segment in block) - min(segment.top for segment in block)
    return extent < 1.8 * max(segment.height for segment in block)
