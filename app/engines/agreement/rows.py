"""Which rows of a table in several label sets are the same row.

A number says where a row stands in its own label set; one row put in at the top moves all the
others. So rows are lined up by what their cells say, in order, as lines of text are by a diff: of
all ways to line up two tables without crossing, one under which the most cells are equal
(Needleman and Wunsch 1970, J Mol Biol 48:443, gaps free). What is left between two such rows, and
like none, is lined up from the top: a row of which every cell was changed is still that row.

More than two tables are lined up one after another with those already in line, the one first that
has the most rows in common with the others; a cell counts once for each label set that has it
(progressive alignment, Feng and Doolittle 1987). Where that would be too much work, rows that are
wholly alike are what the others are lined up between; where even that would be, rows of one number
are one row. Neither the order of the label sets nor that
of their tags matters.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

from app.engines.agreement.marks import groups
from app.engines.agreement.places import (
    UNKNOWN,
    Shape,
    Shapes,
    marks_of,
    value_key,
    written,
)
from app.engines.agreement.sequences import paired
from app.engines.agreement.windows import Effort, TooMuch
from app.engines.fields import Tag

MOST_WEIGHED = 60_000_000
"""Pairs of rows that are weighed for one table, over all label sets: a third of a second. Two
tables of 5,000 rows, no two alike, take less than half."""
MOST_LINES = 400_000
"""Rows that are looked at, over all label sets and tables, before the rest goes by number: half a
second. Twenty tables of 5,000 rows that are much alike take half of it."""
MAX_ROW = 9999
"""The last number that a row may have."""
_Cells: TypeAlias = list[list[int]]
"""Of each row of a table its cells, as numbers: equal ones for what says the same."""
_Table: TypeAlias = dict[int, list[Tag]]
"""The tags of each row of a table in one label set, by its number, in order."""
_Line: TypeAlias = tuple[int | None, ...]
"""One row of all: its number in each label set, None where a label set does not have it."""


@dataclass(frozen=True, slots=True)
class Lineup:
    """Label sets whose rows of one number are one row.

    `sets`: the tags in their order, with `row` renumbered. `rows`: {(table, number): the number of
    that row in each set as it was, None where the set has no such row}.
    """

    sets: list[list[Tag]]
    rows: dict[tuple[str, int], _Line] = field(default_factory=dict)


def line_up(sets: Sequence[Sequence[Tag]], known: Shapes) -> Lineup:
    """Label sets of one document with their rows lined up by content; other tags as they are.

    A row keeps its number as far as those above leave room: it gets the least that one of the sets
    gives it, or else the next one.
    """
    split = [_tables(tags) for tags in sets]
    rows: dict[tuple[str, int], _Line] = {}
    effort = Effort(MOST_LINES)
    for table in sorted(set(chain.from_iterable(split))):
        held = [tables.get(table, {}) for tables in split]
        lines = _lines(held, known, effort)
        for number, line in zip(numbered(lines), lines, strict=True):
            rows[table, number] = line
    moved = [
        {(table, line[n]): number for (table, number), line in rows.items() if line[n] != number}
        for n in range(len(sets))
    ]
    return Lineup([_renumbered(*one) for one in zip(sets, moved, strict=True)], rows)


def numbered(lines: Sequence[Sequence[int | None]]) -> list[int]:
    """A number for each row of all, rising: the least of those that it has, or the next."""
    found: list[int] = []
    for line in lines:
        least = min(number for number in line if number is not None)
        found.append(max(least, found[-1] + 1) if found else least)
    # Gaps that the sets leave between rows are kept, but not at the price of rows past the last.
    return list(range(len(lines))) if found and found[-1] > MAX_ROW else found


def table_of(name: str) -> str:
    """The table of a column's full name."""
    return name.partition(".")[0]


def _tables(tags: Sequence[Tag]) -> dict[str, _Table]:
    found: dict[str, _Table] = {}
    for tag in tags:
        if tag["row"] is not None:
            found.setdefault(table_of(tag["field"]), {}).setdefault(tag["row"], []).append(tag)
    return {name: dict(sorted(table.items())) for name, table in found.items()}


def _renumbered(tags: Sequence[Tag], moved: dict[tuple[str, int | None], int]) -> list[Tag]:
    if not moved:
        return list(tags)
    return [
        tag
        if tag["row"] is None or (place := (table_of(tag["field"]), tag["row"])) not in moved
        else {**tag, "row": moved[place]}
        for tag in tags
    ]


def _lines(held: list[_Table], known: Shapes, effort: Effort) -> list[_Line]:
    """The rows of one table, lined up."""
    numbers = [list(table) for table in held]
    # Revisions of one label set are often the same from the first row on: nothing to look into.
    head = _same(held, numbers)
    first = list(zip(*(rows[:head] for rows in numbers), strict=True))
    rest = [rows[head:] for rows in numbers]
    try:
        return [*first, *_progressively(held, rest, known, effort)]
    except TooMuch:
        return [*first, *_by_number(rest)]


def _same(held: list[_Table], numbers: list[list[int]]) -> int:
    """How many of the first rows have the same tags in all."""
    count = 0
    for line in zip(*numbers, strict=False):
        one = held[0][line[0]]
        if any(table[row] != one for table, row in zip(held, line, strict=True)):
            break
        count += 1
    return count


def _by_number(numbers: list[list[int]]) -> list[_Line]:
    having = [set(rows) for rows in numbers]
    return [
        tuple(row if row in rows else None for rows in having) for row in sorted(set.union(*having))
    ]


def _progressively(
    held: list[_Table], numbers: list[list[int]], known: Shapes, effort: Effort
) -> list[_Line]:
    """The rows of `numbers` lined up, the label sets one after another. Raises TooMuch."""
    said = _said(held, numbers, known)
    lines: list[list[int | None]] = []
    votes: list[Counter[int]] = []
    for count, one in enumerate(_order(held, numbers, said)):
        rows = [Counter(row) for row in said[one]]
        effort.spend(len(votes) + len(rows))
        found = paired(votes, rows, count, large=MOST_WEIGHED // len(held))
        # What the others have in line is kept as it is: there may be 100,000 rows of it.
        lines, others = (
            [[None] * len(held) if here is None else lines[here] for here, _ in found],
            votes,
        )
        votes = []
        for line, (here, there) in zip(lines, found, strict=True):
            vote = Counter() if here is None else others[here]
            if there is not None:
                line[one] = numbers[one][there]
                for cell, times in rows[there].items():
                    vote[cell] += times
            votes.append(vote)
    return list(map(tuple, lines))


def _order(held: list[_Table], numbers: list[list[int]], said: list[_Cells]) -> list[int]:
    """First the label set whose cells most of the others have; content decides among equals."""
    having = Counter(chain.from_iterable(set(chain.from_iterable(rows)) for rows in said))

    def rank(one: int) -> tuple[int, list[bytes]]:
        others = sum(having[cell] - 1 for row in said[one] for cell in row)
        return -others, [
            form for row in numbers[one] for form in sorted(map(written, held[one][row]))
        ]

    return sorted(range(len(held)), key=rank)


def _said(held: list[_Table], numbers: list[list[int]], known: Shapes) -> list[_Cells]:
    """The cells of each row in each label set."""
    columns: dict[str, list[tuple[int, int, Tag]]] = {}
    for one, rows in enumerate(numbers):
        for place, row in enumerate(rows):
            for tag in held[one][row]:
                columns.setdefault(tag["field"], []).append((one, place, tag))
    cells: dict[tuple[int, int, str], list[Hashable]] = {}
    for name, column in columns.items():
        values = _values([tag for *_, tag in column], known.get(name, UNKNOWN))
        for (one, place, _), value in zip(column, values, strict=True):
            cells.setdefault((one, place, name), []).append(value)
    said: list[_Cells] = [[[] for _ in rows] for rows in numbers]
    numbered_cells: dict[Hashable, int] = {}
    for (one, place, name), held_values in cells.items():
        # What a cell of several values holds has no order.
        several = len(held_values) > 1
        value = frozenset(Counter(held_values).items()) if several else held_values[0]
        number = numbered_cells.setdefault((name, several, value), len(numbered_cells))
        said[one][place].append(number)
    return said


def _values(tags: list[Tag], shape: Shape) -> Iterable[Hashable]:
    marks = marks_of(tags, shape)
    if marks is None:
        return map(value_key, tags)
    try:
        return groups(marks)
    except TooMuch:
        return marks
