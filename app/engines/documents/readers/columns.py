"""Find columns of running text, as opposed to the columns of a table.

A candidate is a left edge that several lines share. The strip left of it is the gutter. Lines that
cross the gutter, such as headings, end the columns. Both sides of the gutter must be running text:
most lines have several words, and many lines begin in lower case. Short cells and numbers belong to
a table or a form, which is read row by row.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import chain

from app.engines.documents.readers.column_edges import (
    LEAST_LINES,
    Edge,
    cut,
    find_aligned_edges,
    find_left_edges,
)
from app.engines.documents.readers.column_text import are_columns, is_tabular
from app.engines.documents.readers.segments import Segment

_CUT_COST = 3  # the words in columns that an edge must add for each segment that it cuts

Columns = tuple[list[Segment], list[Segment]]
Band = list[Segment] | Columns


def find_columns(segments: list[Segment]) -> list[Band] | None:
    """Return bands from top to bottom, including columns; or None if there are no columns."""
    if len(segments) < 2 * LEAST_LINES:
        return None
    best: list[Band] | None = None
    most = 0
    ordered = sorted(segments, key=lambda one: (one.middle, one.x0))
    for edge in (*find_left_edges(segments), *find_aligned_edges(segments)):
        bands = _bands(ordered, edge)
        gain = sum(
            len(one.tokens) for band in bands if isinstance(band, tuple) for one in chain(*band)
        )
        cuts = sum(len(band) if isinstance(band, list) else sum(map(len, band)) for band in bands)
        gain -= _CUT_COST * (cuts - len(segments))
        if gain > most:
            best, most = bands, gain
    return best


def _bands(ordered: list[Segment], edge: Edge) -> list[Band]:
    """Split segments into bands; a segment that crosses the gutter of `edge` ends the columns."""
    bands: list[Band] = []
    rest: list[Segment] = []
    left: list[Segment] = []
    right: list[Segment] = []

    def close() -> None:
        nonlocal rest, left, right
        for band in _split(left, right, edge.least_lines):
            if isinstance(band, list):
                rest += band
            else:
                bands.extend([rest, band] if rest else [band])
                rest = []
        left, right = [], []

    for segment in chain.from_iterable(cut(one, edge) for one in ordered):
        slack = 0.1 * segment.height
        if segment.x0 >= edge.x - 2 * slack:
            right.append(segment)
        elif segment.x1 <= edge.x + slack:
            left.append(segment)
        else:
            close()
            rest.append(segment)
    close()
    if rest:
        bands.append(rest)
    return bands


def _split(left: list[Segment], right: list[Segment], least: int) -> list[Band]:
    """Split the segments of both sides into bands from top to bottom.

    Columns have at least `least` lines. A table or form ends the columns above it, even if none of
    its lines crosses the gutter.
    """
    if min(len(left), len(right)) < LEAST_LINES:
        return [[*left, *right]]
    is_left = set(map(id, left))
    bands: list[Band] = []
    run: list[Segment] = []
    for block in _blocks([*left, *right]):
        sides = _sides(block, is_left)
        if is_tabular(*sides):
            bands += [*_judge(run, is_left, least), block]
            run = []
        else:
            run += block
    return [*bands, *_judge(run, is_left, least)]


def _sides(segments: Sequence[Segment], is_left: AbstractSet[int]) -> Columns:
    left = [one for one in segments if id(one) in is_left]
    return left, [one for one in segments if id(one) not in is_left]


def _judge(segments: list[Segment], is_left: AbstractSet[int], least: int) -> list[Band]:
    """Return the margin above two columns, the columns, and the margin below them.

    Returns all segments as one band if they are not columns.
    """
    above, body, below = _split_margins(segments)
    columns = _sides(body, is_left)
    if min(map(len, columns)) < least or not are_columns(*columns):
        return [segments]
    return [above, columns, below]


def _blocks(segments: Sequence[Segment]) -> list[list[Segment]]:
    """Split segments into blocks, from top to bottom, at gaps higher than a line."""
    blocks: list[list[Segment]] = []
    bottom = 0.0
    for segment in sorted(segments, key=lambda one: one.top):
        if not blocks or segment.top > bottom + segment.height:
            blocks.append([])
            bottom = segment.bottom
        blocks[-1].append(segment)
        bottom = max(bottom, segment.bottom)
    return blocks


def _split_margins(
    segments: list[Segment],
) -> tuple[list[Segment], list[Segment], list[Segment]]:
    """Split off headers and footers: single rows at a distance from the rest."""
    blocks = _blocks(segments)
    above: list[Segment] = []
    below: list[Segment] = []
    while len(blocks) > 1 and _is_one_row(blocks[0]):
        above += blocks.pop(0)
    while len(blocks) > 1 and _is_one_row(blocks[-1]):
        below = blocks.pop() + below
    return above, [one for block in blocks for one in block], below


def _is_one_row(chunk: list[Segment]) -> bool:
    extent = max(one.bottom for one in chunk) - min(one.top for one in chunk)
    return extent < 1.8 * max(one.height for one in chunk)
