"""Compute the overlap of marks, and match or group overlapping marks.

A mark is the position of a span or region tag in the document: a range of text, or a box on a page.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import count
from operator import itemgetter
from typing import Any, NamedTuple

from app.engines.agreement.boxes import (
    Box,
    BoxIndex,
    Budget,
    build_sort_key,
    pair_by_key,
    select_disjoint_pairs,
)

MIN_OVERLAP = 0.5
"""The minimum intersection over union at which two marks count as the same (Everingham 2010)."""
MAX_PYTHON_PAIRS = 20_000
"""The maximum number of box pairs compared without numpy. Numpy gives equal results."""
SEARCH_COST = 8
"""The budget cost per mark if `dense_marks` searches for partners instead of listing all pairs."""


class Mark(NamedTuple):
    """The position of a span or region tag in the document.

    `box` is the box (x0, y0, x1, y1) of a region, or (0, start, 1, end) for a span, so that the
    overlap of both is computed in the same way. The page of a span is 0. Marks on different pages
    or with different labels never count as overlapping.
    """

    page: int
    box: Box
    label: Hashable = None


def get_span_mark(evidence: Sequence[dict[str, Any]]) -> Mark | None:
    """Return the mark for the first text span in the evidence, or None if there is no span."""
    for item in evidence:
        if item["start"] is not None:
            return Mark(0, (0, item["start"], 1, item["end"]))
    return None


def get_region_mark(evidence: Sequence[dict[str, Any]], label: Hashable) -> Mark | None:
    """Return the mark for the first box in the evidence, or None if there is no box."""
    for item in evidence:
        if item["box"] is not None:
            x0, y0, x1, y1 = item["box"]
            return Mark(item["page"], (x0, y0, x1, y1), label)
    return None


def compute_overlap(a: Box, b: Box) -> float:
    """Return the intersection over union of two boxes, from 0 to 1."""
    if a == b:
        return 1.0
    (a0, b0, a1, b1), (c0, d0, c1, d1) = a, b
    # Calls of `min` and `max` would dominate the run time, so values are compared directly.
    width = (a1 if a1 < c1 else c1) - (a0 if a0 > c0 else c0)
    height = (b1 if b1 < d1 else d1) - (b0 if b0 > d0 else d0)
    if width <= 0 or height <= 0:
        return 0.0
    intersection = height * width
    union = (a1 - a0) * (b1 - b0) + (c1 - c0) * (d1 - d0) - intersection
    # The areas of stored boxes with tiny sides are rounded to 0.
    return intersection / union if union > 0 else 0.0


def match_marks(
    left: Sequence[Mark],
    right: Sequence[Mark],
    min_overlap: float = MIN_OVERLAP,
    budget: Budget | None = None,
) -> list[tuple[int, int]]:
    """Match overlapping marks; return sorted pairs of positions in `left` and `right`.

    The overlap of a pair is at least `min_overlap`; if `min_overlap` is 0, any overlap is enough.
    Each mark is in at most one pair, and the greatest overlap is paired first. Among equal
    overlaps, the pair that is higher on the page is paired first, so the result depends neither on
    the order of the marks nor on the order of the sides. Raises BudgetExceeded when `budget` is
    used up.
    """
    if budget:
        budget.spend(len(left) + len(right))
    left_groups, right_groups = _group_by_page_and_label(left), _group_by_page_and_label(right)
    pairs: list[tuple[int, int]] = []
    for page_and_label in left_groups.keys() & right_groups.keys():
        identical_pairs, unpaired_left, unpaired_right = pair_by_key(
            left_groups[page_and_label],
            right_groups[page_and_label],
            lambda i: left[i].box,
            lambda j: right[j].box,
        )
        pairs += identical_pairs
        left_boxes, right_boxes = (
            [left[i].box for i in unpaired_left],
            [right[i].box for i in unpaired_right],
        )
        pairs += (
            (unpaired_left[i], unpaired_right[j])
            for i, j in _match_boxes(left_boxes, right_boxes, min_overlap, budget)
        )
    return sorted(pairs)


def group_marks(marks: Sequence[Mark]) -> list[int]:
    """Group marks that overlap by at least half, directly or through a chain of other marks.

    Returns, for each mark, the position of the topmost mark of its group. The order of the marks
    does not change the groups. Raises BudgetExceeded when many thousands of marks are near each
    other, but few of them overlap by at least half.
    """
    group_numbers = [0] * len(marks)
    for positions in _group_by_page_and_label(marks).values():
        boxes = list(dict.fromkeys(marks[position].box for position in positions))
        group_by_box = dict(zip(boxes, _group_boxes(boxes), strict=True))
        first_positions: dict[int, int] = {}
        for position in positions:
            group_numbers[position] = first_positions.setdefault(
                group_by_box[marks[position].box], position
            )
    return group_numbers


def find_choices(
    marks: Sequence[Mark], voters: Sequence[int], budget: Budget | None = None
) -> list[Hashable]:
    """Return, for each mark, the key of the choice that the mark votes for.

    A voter is a tag set; `voters` contains the voter number of each mark. Usually, a choice is a
    group from `group_marks`. Groups in which a voter has several marks are split: first, each mark
    of the voter with the most marks in such groups becomes a choice. Then the marks of each other
    voter are matched with the choices, at most one mark per choice, and unmatched marks become new
    choices. Identical marks of one voter are matched in their order. Raises BudgetExceeded when
    `budget` is used up, or when `group_marks` raises it.
    """
    choices: list[Hashable] = list(group_marks(marks))
    votes = list(zip(choices, voters, strict=True))
    repeated_groups = {group for (group, _), times in Counter(votes).items() if times > 1}
    positions_by_voter: dict[int, list[int]] = defaultdict(list)
    for position, (group, voter) in enumerate(votes):
        if group in repeated_groups:
            positions_by_voter[voter].append(position)
    # Marks of different groups overlap by less than half, so one pass can match all groups.
    for number, choice_positions in enumerate(
        _group_by_choice(marks, list(positions_by_voter.values()), budget)
    ):
        for position in choice_positions:
            choices[position] = ("separate", number)
    return choices


def _group_by_choice(
    marks: Sequence[Mark], positions_by_voter: list[list[int]], budget: Budget | None
) -> list[list[int]]:
    """Group the positions of marks by choice.

    `positions_by_voter` has a list of positions for each voter, and is sorted in place.
    """
    # The voter with the most marks comes first; voters with equal counts are sorted by the boxes.
    positions_by_voter.sort(
        key=lambda positions: (
            -len(positions),
            sorted(build_sort_key(marks[i].box) for i in positions),
        )
    )
    choice_positions: list[list[int]] = []
    numbers_by_marks: dict[tuple[Mark, ...], list[int]] = {}
    for positions in positions_by_voter:
        voter_marks = tuple(marks[i] for i in positions)
        if voter_marks not in numbers_by_marks:
            numbers_by_marks[voter_marks] = _match_choices(
                choice_positions, marks, voter_marks, budget
            )
        for position, number in zip(positions, numbers_by_marks[voter_marks], strict=True):
            if number == len(choice_positions):
                choice_positions.append([])
            choice_positions[number].append(position)
    return choice_positions


def _match_choices(
    earlier_choices: list[list[int]],
    marks: Sequence[Mark],
    voter_marks: Sequence[Mark],
    budget: Budget | None,
) -> list[int]:
    """Match the marks of a voter with the first mark of each choice; return their choice numbers.

    A mark without a matching choice gets the next unused number.
    """
    first_marks = [marks[choice[0]] for choice in earlier_choices]
    choice_numbers = {
        position: choice_number
        for choice_number, position in match_marks(first_marks, voter_marks, budget=budget)
    }
    next_numbers = count(len(first_marks))
    return [
        choice_numbers[position] if position in choice_numbers else next(next_numbers)
        for position in range(len(voter_marks))
    ]


def _group_by_page_and_label(marks: Sequence[Mark]) -> dict[tuple[int, Hashable], list[int]]:
    """Group the positions of marks by page and label, sorted from top to bottom."""
    groups: dict[tuple[int, Hashable], list[int]] = defaultdict(list)
    for position in sorted(
        range(len(marks)), key=lambda position: build_sort_key(marks[position].box)
    ):
        groups[marks[position].page, marks[position].label].append(position)
    return groups


def _match_boxes(
    left: list[Box], right: list[Box], min_overlap: float, budget: Budget | None
) -> Sequence[tuple[int, int]]:
    """Match boxes of one page as `match_marks` does; both sides are sorted from top to bottom."""
    candidate_ranges = _find_candidate_ranges(left, right, min_overlap)
    candidate_count = sum(end - start for start, end in candidate_ranges)
    if candidate_count > MAX_PYTHON_PAIRS:
        from app.engines.agreement import dense_marks  # noqa: PLC0415 - numpy, which few processes need

        if candidate_count > dense_marks.MAX_SORTED_PAIRS:
            if budget:
                budget.spend((SEARCH_COST - 1) * (len(left) + len(right)))
            return dense_marks.match_by_search(left, right, min_overlap)
        return dense_marks.match_by_sorting(left, right, candidate_ranges, min_overlap)
    scored_pairs = []
    for left_index, right_index in _iterate_pairs(candidate_ranges):
        overlap = compute_overlap(left[left_index], right[right_index])
        if overlap > 0 and overlap >= min_overlap:
            sort_keys = sorted(
                (build_sort_key(left[left_index]), build_sort_key(right[right_index]))
            )
            scored_pairs.append((-overlap, sort_keys, (left_index, right_index)))
    scored_pairs.sort(key=itemgetter(0, 1))
    return select_disjoint_pairs(pair for *_, pair in scored_pairs)


def _group_boxes(boxes: list[Box]) -> Sequence[int]:
    """Group boxes connected by a chain of overlaps of at least `MIN_OVERLAP`.

    The boxes must be distinct and sorted from top to bottom. Returns, for each box, the position of
    one box of its group, the same for the whole group.
    """
    candidate_ranges = _find_candidate_ranges(boxes, boxes, MIN_OVERLAP)
    if sum(end - start for start, end in candidate_ranges) > MAX_PYTHON_PAIRS:
        from app.engines.agreement import dense_marks  # noqa: PLC0415 - numpy, which few processes need

        return dense_marks.group_boxes(boxes, MIN_OVERLAP)
    parents = list(range(len(boxes)))

    def find_root(position: int) -> int:
        while parents[position] != position:
            parents[position] = parents[parents[position]]
            position = parents[position]
        return position

    for left, right in _iterate_pairs(candidate_ranges):
        if left < right and compute_overlap(boxes[left], boxes[right]) >= MIN_OVERLAP:
            parents[find_root(left)] = find_root(right)
    return [find_root(position) for position in range(len(boxes))]


def _find_candidate_ranges(
    left: list[Box], right: list[Box], min_overlap: float
) -> list[tuple[int, int]]:
    """Return, for each box in `left`, the range of boxes in `right` that may overlap it."""
    box_index = BoxIndex(right, min_overlap)
    return [box_index.find_range(box) for box in left]


def _iterate_pairs(candidate_ranges: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    return (
        (left_index, right_index)
        for left_index, (start, end) in enumerate(candidate_ranges)
        for right_index in range(start, end)
    )
