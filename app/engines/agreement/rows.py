"""Align the rows of a table across several tag sets.

A row number is only valid within its tag set: one inserted row shifts all rows below it. Rows are
therefore aligned by the content of their cells, in order, as a diff aligns lines of text. The
alignment is one with the most equal cells (Needleman and Wunsch 1970, J Mol Biol 48:443, without a
penalty for gaps). Unmatched rows between two aligned rows are paired from the top, so a row whose
cells were all changed is still the same row.

More than two tables are aligned one after another with the rows aligned so far, beginning with the
table that has the most in common with the others; a cell counts once for each tag set that has it
(progressive alignment, Feng and Doolittle 1987). If that is too much work, only identical rows are
aligned and the rows between them are paired; if even that is too much, rows are matched by number.
The result depends neither on the order of the tag sets nor on the order of their tags.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

from app.engines.agreement.marks import group_marks
from app.engines.agreement.places import (
    UNKNOWN_SHAPE,
    Shape,
    Shapes,
    build_value_key,
    list_marks,
    serialize_tag,
)
from app.engines.agreement.sequences import align_sequences
from app.engines.agreement.windows import Budget, BudgetExceeded
from app.engines.fields import Tag

MAX_ROW_PAIRS = 60_000_000
"""The maximum number of row pairs compared per table, over all tag sets: about 0.35 s of work.

Two tables of 5,000 different rows need less than half of this limit.
"""
MAX_LINES = 400_000
"""The maximum number of rows aligned over all tag sets and tables: about half a second of work.

Twenty similar tables of 5,000 rows need half of this limit. Further rows are matched by number.
"""
MAX_ROW = 9999
"""The highest row number allowed."""
_Cells: TypeAlias = list[list[int]]
"""The cells of each row as numbers; equal cells have equal numbers."""
_Table: TypeAlias = dict[int, list[Tag]]
"""The tags of each row of a table in one tag set, by row number in ascending order."""
_Line: TypeAlias = tuple[int | None, ...]
"""One aligned row: its number in each tag set, or None where the set does not have it."""


@dataclass(frozen=True, slots=True)
class Lineup:
    """Tag sets in which rows with equal numbers are the same row.

    `sets` has the tags in their original order, with `row` renumbered. `rows` maps (table, number)
    to the original number of that row in each set, or None where the set has no such row.
    """

    sets: list[list[Tag]]
    rows: dict[tuple[str, int], _Line] = field(default_factory=dict)


def align_rows(sets: Sequence[Sequence[Tag]], shapes: Shapes) -> Lineup:
    """Align the table rows of several tag sets by content; other tags stay as they are.

    A row gets the lowest number that it has in any of the sets, or the next free number if a row
    above has that number.
    """
    split = [_group_by_table(tags) for tags in sets]
    rows: dict[tuple[str, int], _Line] = {}
    budget = Budget(MAX_LINES)
    for table in sorted(set(chain.from_iterable(split))):
        set_tables = [tables.get(table, {}) for tables in split]
        lines = _align_table(set_tables, shapes, budget)
        for number, line in zip(number_rows(lines), lines, strict=True):
            rows[table, number] = line
    new_numbers = [
        {(table, line[n]): number for (table, number), line in rows.items() if line[n] != number}
        for n in range(len(sets))
    ]
    return Lineup([_renumber(*pair) for pair in zip(sets, new_numbers, strict=True)], rows)


def number_rows(lines: Sequence[Sequence[int | None]]) -> list[int]:
    """Return ascending numbers for rows: the lowest original number, or the next free number."""
    result: list[int] = []
    for line in lines:
        lowest = min(number for number in line if number is not None)
        result.append(max(lowest, result[-1] + 1) if result else lowest)
    # Gaps between rows are kept unless a row would then exceed the highest number allowed.
    return list(range(len(lines))) if result and result[-1] > MAX_ROW else result


def get_table(name: str) -> str:
    """Return the table part of a column's full name."""
    return name.partition(".")[0]


def _group_by_table(tags: Sequence[Tag]) -> dict[str, _Table]:
    tables: dict[str, _Table] = {}
    for tag in tags:
        if tag["row"] is not None:
            tables.setdefault(get_table(tag["field"]), {}).setdefault(tag["row"], []).append(tag)
    return {name: dict(sorted(table.items())) for name, table in tables.items()}


def _renumber(tags: Sequence[Tag], new_numbers: dict[tuple[str, int | None], int]) -> list[Tag]:
    if not new_numbers:
        return list(tags)
    return [
        tag
        if tag["row"] is None or (place := (get_table(tag["field"]), tag["row"])) not in new_numbers
        else {**tag, "row": new_numbers[place]}
        for tag in tags
    ]


def _align_table(set_tables: list[_Table], shapes: Shapes, budget: Budget) -> list[_Line]:
    """Return the aligned rows of one table."""
    numbers = [list(table) for table in set_tables]
    # Revisions of one tag set usually share their first rows, which need no alignment.
    head_count = _count_equal_rows(set_tables, numbers)
    head_lines = list(zip(*(rows[:head_count] for rows in numbers), strict=True))
    remaining_rows = [rows[head_count:] for rows in numbers]
    try:
        return [*head_lines, *_align_progressively(set_tables, remaining_rows, shapes, budget)]
    except BudgetExceeded:
        return [*head_lines, *_align_by_number(remaining_rows)]


def _count_equal_rows(set_tables: list[_Table], numbers: list[list[int]]) -> int:
    """Return the number of leading rows that have the same tags in all sets."""
    count = 0
    for line in zip(*numbers, strict=False):
        first = set_tables[0][line[0]]
        if any(table[row] != first for table, row in zip(set_tables, line, strict=True)):
            break
        count += 1
    return count


def _align_by_number(numbers: list[list[int]]) -> list[_Line]:
    row_sets = [set(rows) for rows in numbers]
    return [
        tuple(row if row in rows else None for rows in row_sets)
        for row in sorted(set.union(*row_sets))
    ]


def _align_progressively(
    set_tables: list[_Table], numbers: list[list[int]], shapes: Shapes, budget: Budget
) -> list[_Line]:
    """Align the rows one tag set after another. Raises BudgetExceeded."""
    cells = _list_cells(set_tables, numbers, shapes)
    lines: list[list[int | None]] = []
    cell_counts: list[Counter[int]] = []
    for count, index in enumerate(_order_tables(set_tables, numbers, cells)):
        rows = [Counter(row) for row in cells[index]]
        budget.spend(len(cell_counts) + len(rows))
        aligned = align_sequences(
            cell_counts, rows, count, max_pairs=MAX_ROW_PAIRS // len(set_tables)
        )
        # Aligned rows are updated in place, because there may be 100,000 of them.
        lines, previous_counts = (
            [
                [None] * len(set_tables) if line_index is None else lines[line_index]
                for line_index, _ in aligned
            ],
            cell_counts,
        )
        cell_counts = []
        for line, (line_index, row_index) in zip(lines, aligned, strict=True):
            line_cells = Counter() if line_index is None else previous_counts[line_index]
            if row_index is not None:
                line[index] = numbers[index][row_index]
                for cell, times in rows[row_index].items():
                    line_cells[cell] += times
            cell_counts.append(line_cells)
    return list(map(tuple, lines))


def _order_tables(
    set_tables: list[_Table], numbers: list[list[int]], cells: list[_Cells]
) -> list[int]:
    """Return the order of alignment: tag sets that share the most cells first, then by content."""
    set_counts = Counter(chain.from_iterable(set(chain.from_iterable(rows)) for rows in cells))

    def rank(index: int) -> tuple[int, list[bytes]]:
        shared_count = sum(set_counts[cell] - 1 for row in cells[index] for cell in row)
        return -shared_count, [
            serialized_tag
            for row in numbers[index]
            for serialized_tag in sorted(map(serialize_tag, set_tables[index][row]))
        ]

    return sorted(range(len(set_tables)), key=rank)


def _list_cells(set_tables: list[_Table], numbers: list[list[int]], shapes: Shapes) -> list[_Cells]:
    """Return the cells of each row in each tag set as numbers."""
    columns: dict[str, list[tuple[int, int, Tag]]] = {}
    for index, rows in enumerate(numbers):
        for place, row in enumerate(rows):
            for tag in set_tables[index][row]:
                columns.setdefault(tag["field"], []).append((index, place, tag))
    cells: dict[tuple[int, int, str], list[Hashable]] = {}
    for name, column in columns.items():
        values = _list_values([tag for *_, tag in column], shapes.get(name, UNKNOWN_SHAPE))
        for (index, place, _), value in zip(column, values, strict=True):
            cells.setdefault((index, place, name), []).append(value)
    row_cells: list[_Cells] = [[[] for _ in rows] for rows in numbers]
    numbered_cells: dict[Hashable, int] = {}
    for (index, place, name), cell_values in cells.items():
        # The values of one cell have no order.
        has_many = len(cell_values) > 1
        value = frozenset(Counter(cell_values).items()) if has_many else cell_values[0]
        number = numbered_cells.setdefault((name, has_many, value), len(numbered_cells))
        row_cells[index][place].append(number)
    return row_cells


def _list_values(tags: list[Tag], shape: Shape) -> Iterable[Hashable]:
    marks = list_marks(tags, shape)
    if marks is None:
        return map(build_value_key, tags)
    try:
        return group_marks(marks)
    except BudgetExceeded:
        return marks
