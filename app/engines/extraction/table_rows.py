"""Find the rows of a table below its header, also on the pages on which it continues."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.engines.extraction.analysis import Analysis
from app.engines.extraction.model import Box
from app.engines.extraction.values import Target

_END_CONCEPTS = frozenset({"total", "subtotal", "tax", "cash", "rounding"})
"""The concepts of keywords (see `lexicon`) in rows below the items, such as the total."""
_MAX_ROW_GAP = 6.0  # the maximum distance to the row above, in median word heights
_MIN_FULL_COLUMNS = 4
_MIN_ITEM_COLUMNS = 3
_MIN_ITEM_LETTERS = 3
# These words, in the compact form of tokens, mark a sum that is carried forward to the next page.
_CARRIED_FORWARD = re.compile(
    "(?:carriedforward|broughtforward|ubertrag|areporter|riporto|sumaysigue)(?![^0-9])"
)
_MAX_SEARCHED_ROWS = 25
"""The maximum number of rows, from the top of a page, to search for a table's continuation."""


@dataclass(frozen=True, slots=True)
class Column:
    """A table column, and the left and right edges of its header (0 to 1).

    `target` is None for a column of the document that the field does not have.
    """

    target: Target | None
    left: float
    right: float


class TableRowFinder:
    """Finds the rows of a table, up to a total or to a page on which the table does not continue.

    A table continues on the next page below the same header, or, if it has at least three columns,
    with an item (see `_is_item`).
    """

    def __init__(self, analysis: Analysis, header_row: int, columns: Sequence[Column]) -> None:
        self._analysis, self._header_row, self._columns = analysis, header_row, columns
        self._layout = analysis.layout
        self._amount_starts = {typed_text.first for typed_text in analysis.amounts}

    def list_rows(self) -> list[int]:
        """Return the indexes of the table's rows below the header, from top to bottom."""
        rows: list[int] = []
        start, page = self._header_row + 1, self._get_page(self._header_row)
        while start > 0:
            end = start
            while end < len(self._layout.rows) and self._get_page(end) == page:
                end += 1
            page_rows = self._list_adjacent_rows(start, end)
            is_complete = self._add_rows(page_rows, rows)
            remaining_rows = range(page_rows[-1] + 1 if page_rows else start, end)
            if is_complete or any(map(self._find_end_concepts, remaining_rows)):
                break
            page += 1
            start = self._find_continuation(end, page)
        return rows

    def _list_adjacent_rows(self, start: int, end: int) -> list[int]:
        """Return the indexes of the rows from `start` up to a wide vertical gap, or up to `end`."""
        rows: list[int] = []
        for row in range(start, end):
            token = self._layout.tokens[self._layout.rows[row][0]]
            above = self._layout.tokens[self._layout.rows[row - 1][0]]
            gap = token.box[1] - above.box[3] if above.page == token.page else 0.0
            if gap > _MAX_ROW_GAP * self._layout.word_height:
                break
            rows.append(row)
        return rows

    def _add_rows(self, page_rows: list[int], rows: list[int]) -> bool:
        """Add a page's rows to `rows` up to the end of the table; return whether the end was found.

        Subtotals between items and sums carried forward are left out. A row with one of
        _END_CONCEPTS is added if it is full (see `_is_full`), or if it is an item before other
        items. Otherwise, it ends the table if it has the concept `total` or follows all items.
        """
        items = (row for row in page_rows if self._is_item(row))
        last_item = max((row for row in items if not self._find_end_concepts(row)), default=-1)
        for row in page_rows:
            if _CARRIED_FORWARD.search(self._read_row_text(row)):
                continue
            end_concepts = self._find_end_concepts(row)
            if not end_concepts or self._is_full(row) or (row < last_item and self._is_item(row)):
                rows.append(row)
            elif row > last_item or "total" in end_concepts:
                return True
        return False

    def _find_continuation(self, start: int, page: int) -> int:
        """Return the row (from `start`) where the table continues on `page`; 0 if it does not."""
        last = min(start + _MAX_SEARCHED_ROWS, len(self._layout.rows))
        rows = [row for row in range(start, last) if self._get_page(row) == page]
        header = self._read_row_text(self._header_row)
        for row in rows:
            if self._read_row_text(row) == header:
                return row + 1
        for row in rows:
            is_carried = _CARRIED_FORWARD.search(self._read_row_text(row)) is not None
            if self._find_end_concepts(row) and not is_carried:
                break
            if not is_carried and self._is_item(row):
                return row
        return 0

    def _get_page(self, row: int) -> int:
        return self._layout.tokens[self._layout.rows[row][0]].page

    def _read_row_text(self, row: int) -> str:
        first, last = self._layout.rows[row]
        return "".join(token.compact for token in self._layout.tokens[first : last + 1])

    def _find_end_concepts(self, row: int) -> frozenset[str]:
        first, last = self._layout.rows[row]
        return _END_CONCEPTS.intersection(self._analysis.keywords.concepts[first : last + 1])

    def _is_full(self, row: int) -> bool:
        """Return whether the table has at least four columns, and the row fills all of them.

        Rows with totals usually leave columns empty.
        """
        return len(self._columns) >= _MIN_FULL_COLUMNS and self._fills_columns(row)

    def _is_item(self, row: int) -> bool:
        """Return whether a row fills all columns, has words, and has an amount in amount columns.

        A table with fewer than three columns has no such rows.
        """
        if len(self._columns) < _MIN_ITEM_COLUMNS or not self._fills_columns(row):
            return False
        letter_count = sum(map(str.isalpha, self._read_row_text(row)))
        groups = group_by_column(self._analysis, row, self._columns)
        return letter_count >= _MIN_ITEM_LETTERS and all(
            not self._amount_starts.isdisjoint(groups[column_index])
            for column_index, column in enumerate(self._columns)
            if column.target is not None and column.target.kind == "amount"
        )

    def _fills_columns(self, row: int) -> bool:
        """Return whether a row has text in each column, with digits in columns of amounts."""
        groups = group_by_column(self._analysis, row, self._columns)
        return all(
            groups.get(column_index)
            and (
                column.target is None
                or column.target.kind != "amount"
                or any(
                    char.isdigit()
                    for index in groups[column_index]
                    for char in self._analysis.tokens[index].text
                )
            )
            for column_index, column in enumerate(self._columns)
        )


def group_by_column(
    analysis: Analysis, row: int, columns: Sequence[Column]
) -> dict[int, list[int]]:
    """Group the token indexes of a row by the index of the nearest column in `columns`."""
    first, last = analysis.layout.rows[row]
    groups: dict[int, list[int]] = {}
    column_index = 0
    for index in range(first, last + 1):
        token = analysis.tokens[index]
        is_continued = index > first and token.segment == analysis.tokens[index - 1].segment
        # A word stays in the column of the previous word until a gap or a number.
        if not (is_continued and not any(char.isdigit() for char in token.text)):
            column_index = _find_nearest_column(columns, token.box)
        groups.setdefault(column_index, []).append(index)
    return groups


def _find_nearest_column(columns: Sequence[Column], box: Box) -> int:
    distances = [max(column.left - box[2], box[0] - column.right, 0.0) for column in columns]
    return distances.index(min(distances))
