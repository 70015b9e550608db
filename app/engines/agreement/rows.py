"""Align the rows of a table across several tag sets.

A row number is only valid within its tag set: one inserted row shifts all rows below it. Rows are
therefore aligned by the content of their cells, in order, as a diff aligns lines of text. The
alignment has the greatest possible number of equal cells (Needleman and Wunsch 1970, J Mol Biol
48:443, without a penalty for gaps). Unmatched rows between two aligned rows are paired from the
top, so a row can be matched even if all its cells were changed.

Three or more tables are aligned one after another with the rows aligned so far, beginning with the
table that shares the most cells with the other tables; a cell counts once for each tag set that has
it (progressive alignment, Feng and Doolittle 1987). If the alignment would need too many
comparisons, only identical rows are aligned, and the rows between them are paired. If the tables
have too many rows, rows are matched by number. The result depends neither on the order of the tag
sets nor on the order of their tags.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

from app.engines.agreement.boxes import Budget, BudgetExceeded
from app.engines.agreement.marks import group_marks
from app.engines.agreement.sequences import align_sequences
from app.engines.agreement.tag_keys import (
    UNKNOWN_FIELD_SPEC,
    FieldSpec,
    FieldSpecs,
    build_value_key,
    list_marks,
    serialize_tag,
)
from app.engines.fields import MAX_ROW, Tag

MAX_ROW_PAIRS = 60_000_000
"""The maximum number of row pairs compared per table, over all tag sets: about 0.35 s of work.

Two tables of 5,000 different rows need less than half of this limit.
"""
MAX_ALIGNED_ROWS = 400_000
"""The budget for aligning rows, over all tag sets and tables: about half a second of work.

The cost of a tag set is the number of its rows and of the rows aligned before it, so twenty similar
tables of 5,000 rows need half of the budget. Once the budget is used up, rows of the current and of
later tables are matched by number, except for equal leading rows.
"""
_CellNumbers: TypeAlias = list[list[int]]
"""The cells of each row as numbers; equal cells have equal numbers."""
_TagsByRow: TypeAlias = dict[int, list[Tag]]
"""The tags of a table in one tag set, by row number in ascending order."""
_AlignedRow: TypeAlias = tuple[int | None, ...]
"""The row number of one aligned row in each tag set, or None for a tag set without this row."""


@dataclass(frozen=True, slots=True)
class RowAlignment:
    """Tag sets with aligned rows: equal row numbers in different sets mean the same row.

    `tag_sets` contains the tags in their original order, with `row` renumbered. `rows` maps (table,
    row number) to the original number of the row in each set, or None if the set has no such row.
    """

    tag_sets: list[list[Tag]]
    rows: dict[tuple[str, int], _AlignedRow] = field(default_factory=dict)


def align_rows(tag_sets: Sequence[Sequence[Tag]], field_specs: FieldSpecs) -> RowAlignment:
    """Align the table rows of several tag sets by content; other tags do not change.

    `number_rows` renumbers the aligned rows: usually, a row gets the lowest number that it has in
    any of the sets.
    """
    tables_by_set = [_group_by_table(tags) for tags in tag_sets]
    rows: dict[tuple[str, int], _AlignedRow] = {}
    budget = Budget(MAX_ALIGNED_ROWS)
    for table in sorted(set(chain.from_iterable(tables_by_set))):
        set_tables = [tables.get(table, {}) for tables in tables_by_set]
        aligned_rows = _align_table(set_tables, field_specs, budget)
        for number, aligned_row in zip(number_rows(aligned_rows), aligned_rows, strict=True):
            rows[table, number] = aligned_row
    new_numbers = [
        {
            (table, aligned_row[n]): number
            for (table, number), aligned_row in rows.items()
            if aligned_row[n] != number
        }
        for n in range(len(tag_sets))
    ]
    return RowAlignment(
        [_renumber(*pair) for pair in zip(tag_sets, new_numbers, strict=True)], rows
    )


def number_rows(aligned_rows: Sequence[Sequence[int | None]]) -> list[int]:
    """Return ascending row numbers for the aligned rows.

    Each row gets its lowest original number, but at least 1 more than the number of the row above.
    If a number would exceed MAX_ROW, the rows are numbered from 0 without gaps.
    """
    numbers: list[int] = []
    for aligned_row in aligned_rows:
        lowest_number = min(number for number in aligned_row if number is not None)
        numbers.append(max(lowest_number, numbers[-1] + 1) if numbers else lowest_number)
    # Gaps between rows are kept unless a row would then exceed the highest number allowed.
    return list(range(len(aligned_rows))) if numbers and numbers[-1] > MAX_ROW else numbers


def get_table_key(name: str) -> str:
    """Return the key of the table from the full name of a column, `table.column`."""
    return name.partition(".")[0]


def _group_by_table(tags: Sequence[Tag]) -> dict[str, _TagsByRow]:
    tables: dict[str, _TagsByRow] = {}
    for tag in tags:
        if tag["row"] is not None:
            table_key = get_table_key(tag["field"])
            tables.setdefault(table_key, {}).setdefault(tag["row"], []).append(tag)
    return {name: dict(sorted(table.items())) for name, table in tables.items()}


def _renumber(tags: Sequence[Tag], new_numbers: dict[tuple[str, int | None], int]) -> list[Tag]:
    if not new_numbers:
        return list(tags)
    return [
        tag
        if tag["row"] is None
        or (table_and_row := (get_table_key(tag["field"]), tag["row"])) not in new_numbers
        else {**tag, "row": new_numbers[table_and_row]}
        for tag in tags
    ]


def _align_table(
    set_tables: list[_TagsByRow], field_specs: FieldSpecs, budget: Budget
) -> list[_AlignedRow]:
    """Align the rows of one table across the tag sets."""
    row_numbers = [list(table) for table in set_tables]
    # Revisions of one tag set usually share their first rows, which need no alignment.
    equal_count = _count_leading_equal_rows(set_tables, row_numbers)
    equal_rows = list(zip(*(rows[:equal_count] for rows in row_numbers), strict=True))
    remaining_rows = [rows[equal_count:] for rows in row_numbers]
    try:
        return [*equal_rows, *_align_progressively(set_tables, remaining_rows, field_specs, budget)]
    except BudgetExceeded:
        return [*equal_rows, *_align_by_number(remaining_rows)]


def _count_leading_equal_rows(set_tables: list[_TagsByRow], row_numbers: list[list[int]]) -> int:
    """Count the leading rows that have the same tags in all sets."""
    count = 0
    for position_rows in zip(*row_numbers, strict=False):
        first = set_tables[0][position_rows[0]]
        if any(table[row] != first for table, row in zip(set_tables, position_rows, strict=True)):
            break
        count += 1
    return count


def _align_by_number(row_numbers: list[list[int]]) -> list[_AlignedRow]:
    row_sets = [set(rows) for rows in row_numbers]
    return [
        tuple(row if row in rows else None for rows in row_sets)
        for row in sorted(set.union(*row_sets))
    ]


def _align_progressively(
    set_tables: list[_TagsByRow],
    row_numbers: list[list[int]],
    field_specs: FieldSpecs,
    budget: Budget,
) -> list[_AlignedRow]:
    """Align the rows of all tag sets, adding one tag set at a time.

    Raises BudgetExceeded if `budget` is too small.
    """
    cells = _list_cells(set_tables, row_numbers, field_specs)
    aligned_rows: list[list[int | None]] = []
    cell_counts: list[Counter[int]] = []
    for table_count, index in enumerate(_order_tables(set_tables, row_numbers, cells)):
        rows = [Counter(row) for row in cells[index]]
        budget.spend(len(cell_counts) + len(rows))
        index_pairs = align_sequences(
            cell_counts, rows, table_count, max_pairs=MAX_ROW_PAIRS // len(set_tables)
        )
        # Aligned rows are updated in place, because there may be 100,000 of them.
        aligned_rows, previous_counts = (
            [
                [None] * len(set_tables) if aligned_index is None else aligned_rows[aligned_index]
                for aligned_index, _ in index_pairs
            ],
            cell_counts,
        )
        cell_counts = []
        for aligned_row, (aligned_index, row_index) in zip(aligned_rows, index_pairs, strict=True):
            aligned_cells = Counter() if aligned_index is None else previous_counts[aligned_index]
            if row_index is not None:
                aligned_row[index] = row_numbers[index][row_index]
                for cell, cell_count in rows[row_index].items():
                    aligned_cells[cell] += cell_count
            cell_counts.append(aligned_cells)
    return list(map(tuple, aligned_rows))


def _order_tables(
    set_tables: list[_TagsByRow], row_numbers: list[list[int]], cells: list[_CellNumbers]
) -> list[int]:
    """Order the tables for the alignment, and return their indexes.

    Tables that share the most cells with other tables come first; ties are sorted by content.
    """
    set_counts = Counter(chain.from_iterable(set(chain.from_iterable(rows)) for rows in cells))

    def get_sort_key(index: int) -> tuple[int, list[bytes]]:
        shared_count = sum(set_counts[cell] - 1 for row in cells[index] for cell in row)
        return -shared_count, [
            serialized_tag
            for row in row_numbers[index]
            for serialized_tag in sorted(map(serialize_tag, set_tables[index][row]))
        ]

    return sorted(range(len(set_tables)), key=get_sort_key)


def _list_cells(
    set_tables: list[_TagsByRow], row_numbers: list[list[int]], field_specs: FieldSpecs
) -> list[_CellNumbers]:
    """List the cells of each row in each tag set as numbers; equal cells have equal numbers."""
    columns: dict[str, list[tuple[int, int, Tag]]] = {}
    for index, rows in enumerate(row_numbers):
        for row_index, row in enumerate(rows):
            for tag in set_tables[index][row]:
                columns.setdefault(tag["field"], []).append((index, row_index, tag))
    cells: dict[tuple[int, int, str], list[Hashable]] = {}
    for name, column in columns.items():
        values = _list_values(
            [tag for *_, tag in column], field_specs.get(name, UNKNOWN_FIELD_SPEC)
        )
        for (index, row_index, _), value in zip(column, values, strict=True):
            cells.setdefault((index, row_index, name), []).append(value)
    row_cells: list[_CellNumbers] = [[[] for _ in rows] for rows in row_numbers]
    numbered_cells: dict[Hashable, int] = {}
    for (index, row_index, name), cell_values in cells.items():
        # The values of one cell have no order.
        has_several_values = len(cell_values) > 1
        value = frozenset(Counter(cell_values).items()) if has_several_values else cell_values[0]
        number = numbered_cells.setdefault((name, has_several_values, value), len(numbered_cells))
        row_cells[index][row_index].append(number)
    return row_cells


def _list_values(tags: list[Tag], field_spec: FieldSpec) -> Iterable[Hashable]:
    marks = list_marks(tags, field_spec)
    if marks is None:
        return map(build_value_key, tags)
    try:
        return group_marks(marks)
    except BudgetExceeded:
        return marks
