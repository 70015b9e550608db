"""Read marks document by document, and keep only the sums that the coefficients need.

A mark is the position of a span or region tag in the document.
"""

from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from app.engines.agreement.coefficients.ratings import Floats, Integers
from app.engines.agreement.coefficients.values import compute_digest
from app.engines.agreement.marks import Mark, compute_overlap, match_marks

_COLUMNS_WITH_LENGTH = 4
"""The number of columns of a row that has a text length (see `build_mark_sets`)."""


class _Segment(NamedTuple):
    """A part of the text from `start` to `end`: a marked unit with its label, or a gap."""

    start: int
    end: int
    label: Hashable
    is_gap: bool


@dataclass(frozen=True, slots=True)
class MarkSets:
    """The marks of one span or region field, created by `build_mark_sets`.

    Attributes whose name begins with `pair` have an entry for each pair of raters on each document.
    `pair_a` and `pair_b` are indexes into `raters`, the smaller index first.
    """

    raters: tuple[str, ...]
    document_count: int
    single_count: int
    """The number of documents that only one person saw. These documents are not compared."""
    pair_documents: Integers
    pair_a: Integers
    pair_b: Integers
    pair_sums: Floats
    """Rows: exact matches, matches by overlap, marks of both raters, sum of overlaps, overlapping
    pairs, documents, documents on which both agree, common length of segments, text length."""
    segments: Floats
    """One column for each rater and category of each document with two or more raters. Rows: the
    numbers of the document, rater and category, total length of the segments, sum of their squared
    lengths (for gaps, the length again). The array is empty if the text lengths are unknown."""
    has_lengths: bool


def build_mark_sets(rows: Iterable[tuple[Any, ...]]) -> MarkSets:
    """Build the mark sets of one field from rows.

    A row is (document, rater, marks) or (document, text length, rater, marks).

    The rows of one document must be consecutive; otherwise ValueError is raised. A rater who saw
    the document and marked nothing has a row without marks. The text length is needed for the
    unitizing alpha of spans. Memory: about 100 bytes for each pair of raters on each document.
    """
    reader = _MarkReader()
    for row in rows:
        length = int(row[1]) if len(row) == _COLUMNS_WITH_LENGTH else None
        reader.add(row[0], length, row[-2], row[-1])
    return reader.finish()


class _MarkReader:
    """Collects the sums of the documents read so far, and the marks of the current document."""

    def __init__(self) -> None:
        self._rater_numbers: dict[Any, int] = {}
        self._documents = array("Q")
        self._current_document: Hashable = None
        self._length: int | None = None
        self._marks: dict[int, list[Mark]] = {}
        self._pairs = array("i")
        self._pair_sums = array("d")
        self._segments = array("d")
        self._categories: dict[Hashable, int] = {}
        self._single_count = 0
        self._has_lengths = True

    def add(
        self, document: Hashable, length: int | None, rater: object, marks: Sequence[Mark]
    ) -> None:
        """Add the marks of one rater; if `document` is new, first close the current document.

        If a rater has several rows for a document, the last row counts.
        """
        if document != self._current_document:
            self._close_document()
            self._current_document, self._length = document, length
            self._has_lengths &= length is not None
        rater_number = self._rater_numbers.setdefault(rater, len(self._rater_numbers))
        self._marks[rater_number] = list(marks)

    def _close_document(self) -> None:
        """Close the current document: compute its sums and store them."""
        if not self._marks:
            return
        self._documents.append(compute_digest(self._current_document))
        if len(self._marks) == 1:
            self._single_count += 1
        document_number = len(self._documents) - 1
        length = self._length or 0
        segments = {
            rater: _build_segments(marks, length) if self._length is not None else []
            for rater, marks in self._marks.items()
        }
        for (a, left), (b, right) in combinations(self._marks.items(), 2):
            self._pairs.extend((document_number, a, b))
            self._pair_sums.extend(_compare_marks(left, right))
            self._pair_sums.extend(
                (_compute_common_length(segments[a], segments[b]), float(length))
            )
        if len(self._marks) > 1:
            for rater, parts in segments.items():
                self._add_segments(document_number, rater, parts)
        self._marks.clear()

    def _add_segments(self, document: int, rater: int, segments: list[_Segment]) -> None:
        lengths: Counter[int] = Counter()
        squares: Counter[int] = Counter()
        for start, end, label, is_gap in segments:
            # The expected agreement shuffles gaps letter by letter, so their length is not squared.
            category_key = "gap" if is_gap else ("unit", label)
            category = self._categories.setdefault(category_key, len(self._categories))
            lengths[category] += end - start
            squares[category] += end - start if is_gap else (end - start) ** 2
        for category, length in lengths.items():
            self._segments.extend((document, rater, category, length, squares[category]))

    def finish(self) -> MarkSets:
        """Finish reading; return the mark sets. Raises ValueError for nonconsecutive rows."""
        self._close_document()
        documents = np.frombuffer(self._documents, dtype=np.uint64)
        if len(np.unique(documents)) < len(documents):
            raise ValueError("the rows of a document must be consecutive")
        names = sorted(self._rater_numbers, key=str)
        rater_positions = np.empty(len(names), dtype=np.int64)
        for position, name in enumerate(names):
            rater_positions[self._rater_numbers[name]] = position
        # The resamples must not depend on the order of the documents or rows.
        order = np.argsort(documents)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        pairs = np.frombuffer(self._pairs, dtype=np.int32).reshape(-1, 3)
        a, b = rater_positions[pairs[:, 1]], rater_positions[pairs[:, 2]]
        segments = np.frombuffer(self._segments, dtype=np.float64).reshape(-1, 5).T.copy()
        segments[0] = rank[segments[0].astype(np.int64)]
        segments[1] = rater_positions[segments[1].astype(np.int64)]
        return MarkSets(
            raters=tuple(map(str, names)),
            document_count=len(documents),
            single_count=self._single_count,
            pair_documents=rank[pairs[:, 0]],
            pair_a=np.minimum(a, b),
            pair_b=np.maximum(a, b),
            pair_sums=np.frombuffer(self._pair_sums, dtype=np.float64).reshape(-1, 9).T.copy(),
            segments=segments,
            has_lengths=self._has_lengths,
        )


def _compare_marks(left: list[Mark], right: list[Mark]) -> tuple[float, ...]:
    """Return the first seven rows of `MarkSets.pair_sums` for two raters of one document."""
    mark_count = len(left) + len(right)
    exact = (Counter(left) & Counter(right)).total()
    if 2 * exact == mark_count:  # the most frequent case needs no search
        return exact, exact, mark_count, exact, exact, 1.0, 1.0
    matched_count = len(match_marks(left, right))
    overlapping = match_marks(left, right, 0.0)
    overlap = sum(compute_overlap(left[i].box, right[j].box) for i, j in overlapping)
    return (
        exact,
        matched_count,
        mark_count,
        overlap,
        len(overlapping),
        1.0,
        float(2 * matched_count == mark_count),
    )


def _build_segments(marks: Sequence[Mark], length: int) -> list[_Segment]:
    """Build the segments of a text of `length` code points, in order and without overlap.

    Unitizing requires units that do not overlap. A unit that begins within the previous unit is
    therefore shortened to the part after the previous unit, and a unit within another unit is
    dropped.
    """
    segments: list[_Segment] = []
    position = 0
    spans = [(int(mark.box[1]), int(mark.box[3]), mark.label) for mark in marks]
    for begin, stop, label in sorted(spans, key=lambda span: (span[0], span[1], repr(span[2]))):
        start, end = max(begin, position), min(stop, length)
        if start >= end:
            continue
        if start > position:
            segments.append(_Segment(position, start, None, is_gap=True))
        segments.append(_Segment(start, end, label, is_gap=False))
        position = end
    if position < length:
        segments.append(_Segment(position, length, None, is_gap=True))
    return segments


def _compute_common_length(left: Sequence[_Segment], right: Sequence[_Segment]) -> float:
    """Count the code points that both raters labeled equally, or left unmarked."""
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
