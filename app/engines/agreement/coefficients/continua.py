"""Split a text into the units that a rater marked and the gaps between these units."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from app.engines.agreement.marks import Mark


class Segment(NamedTuple):
    """A part of the text from `start` to `end`: a marked unit with its label, or a gap."""

    start: int
    end: int
    label: Hashable
    is_gap: bool


def build_segments(marks: Sequence[Mark], length: int) -> list[Segment]:
    """Build the segments of a text of `length` code points, in order and without overlap.

    Unitizing requires units that do not overlap. A unit that begins within the previous unit is
    therefore shortened to the part after the previous unit, and a unit within another unit is
    dropped.
    """
    segments: list[Segment] = []
    position = 0
    spans = [(int(mark.box[1]), int(mark.box[3]), mark.label) for mark in marks]
    for begin, stop, label in sorted(spans, key=lambda span: (span[0], span[1], repr(span[2]))):
        start, end = max(begin, position), min(stop, length)
        if start >= end:
            continue
        if start > position:
            segments.append(Segment(position, start, None, is_gap=True))
        segments.append(Segment(start, end, label, is_gap=False))
        position = end
    if position < length:
        segments.append(Segment(position, length, None, is_gap=True))
    return segments


def compute_common_length(left: Sequence[Segment], right: Sequence[Segment]) -> float:
    """Compute the length of the text that both raters labeled equally, or left unmarked."""
    total = 0
    i = j = 0
    while i < len(left) and j < len(right):
        a, b = left[i], right[j]
        if a.is_gap == b.is_gap and a.label == b.label:
            total += max(0, min(a.end, b.end) - max(a.start, b.start))
        if a.end <= b.end:
            i += 1
        else:
            j += 1
    return float(total)
