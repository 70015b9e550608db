"""Propose table rows.

Keywords locate the header row, and the positions of the headers locate the cells. There is no
trained model for tables. Only their column headers are learned, from the accepted cells in earlier
documents.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from app.engines.extraction.analysis import Analysis
from app.engines.extraction.candidates import Candidate, Range, find_field_keywords
from app.engines.extraction.context import KeywordContexts
from app.engines.extraction.proposing import build_tag, build_value
from app.engines.extraction.rules import FieldView
from app.engines.extraction.table_rows import Column, TableRowFinder, group_by_column
from app.engines.extraction.values import Target, build_target
from app.engines.fields import Field, JsonValue, Tag

_Cell = tuple[FieldView, Candidate, JsonValue]
MAX_PROPOSED_ROWS = 200
_MAX_CONFIDENCE = 0.75


def propose_tables(
    analysis: Analysis, fields: Sequence[Field], headers: dict[str, frozenset[str]]
) -> list[Tag]:
    """Propose a tag for each cell in at most MAX_PROPOSED_ROWS rows of each table.

    Columns with multiple values get no tags. `headers` is the result of `learn_headers`.
    """
    tags: list[Tag] = []
    for field in fields:
        if field["type"] == "table" and field["ai_assist"]:
            tags += _propose_table(analysis, field, headers)
    return tags


def _propose_table(
    analysis: Analysis, field: Field, headers: dict[str, frozenset[str]]
) -> list[Tag]:
    targets = _build_targets(field, headers)
    header_row, columns = _find_header(analysis, targets)
    if header_row < 0:
        return []
    tags: list[Tag] = []
    number = 0
    contexts = KeywordContexts(analysis)
    column_targets = [column.target for column in columns if column.target]
    has_amounts = any(target.kind == "amount" for target in column_targets)
    for row in TableRowFinder(analysis, header_row, columns).list_rows():
        cells = _read_cells(analysis, contexts, row, columns)
        amount_cells = [
            name for name, (view, _, _) in cells.items() if view.target.kind == "amount"
        ]
        if len(cells) * 2 < len(column_targets) or (has_amounts and not amount_cells):
            continue
        filled_fraction = len(cells) / len(column_targets)
        for view, candidate, value in cells.values():
            tags.append(
                build_tag(view, candidate, value, _MAX_CONFIDENCE * filled_fraction, number)
            )
        number += 1
        if number == MAX_PROPOSED_ROWS:
            break
    return tags


def _build_targets(field: Field, headers: dict[str, frozenset[str]]) -> list[Target]:
    targets = []
    for column in field["columns"]:
        if column["multiple"]:
            continue
        name = f"{field['key']}.{column['key']}"
        target = build_target(column, name=name)
        phrases = target.phrases | headers.get(name, frozenset())
        targets.append(Target(name, column, target.kind, target.concept, phrases))
    return targets


def _find_header(analysis: Analysis, targets: Sequence[Target]) -> tuple[int, list[Column]]:
    """Find the row that names the most columns, and return its index and all its columns.

    The columns are ordered from left to right. If no row names enough columns, return -1 and no
    columns.
    """
    columns_by_row: dict[int, dict[str, tuple[Target, Range]]] = {}
    for target in targets:
        for last, first in _find_column_keywords(analysis, target):
            named_columns = columns_by_row.setdefault(analysis.tokens[last].row, {})
            if target.name not in named_columns or (
                _is_exact_header(analysis, target, (first, last))
                and not _is_exact_header(analysis, *named_columns[target.name])
            ):
                named_columns[target.name] = (target, (first, last))
    min_count = min(2, len(targets))
    rows = [row for row, named_columns in columns_by_row.items() if len(named_columns) >= min_count]
    if not rows:
        return -1, []
    header_row = max(rows, key=lambda row: (len(columns_by_row[row]), -row))
    columns = [
        column
        for target, span in columns_by_row[header_row].values()
        for column in _split_header(analysis, header_row, target, span)
    ]
    columns += _list_other_columns(analysis, header_row, list(columns_by_row[header_row].values()))
    return header_row, sorted(columns, key=lambda column: column.left)


def _find_column_keywords(analysis: Analysis, target: Target) -> list[tuple[int, int]]:
    """Find the headers that name a column; a `total` column may have a header for a line total."""
    keywords = find_field_keywords(analysis, target)
    if target.concept == "total":
        keywords += find_field_keywords(analysis, replace(target, concept="line_total"))
    return sorted(set(keywords))


def _split_header(analysis: Analysis, header_row: int, target: Target, span: Range) -> list[Column]:
    """Return the column of a header, or two columns if its first word is a separate header.

    For example, the first word of `Item Description` is a separate header if the row below has a
    separate segment, such as a number, under this word.
    """
    tokens, (first, last) = analysis.tokens, span
    first = min(first, analysis.keywords.ends.get(last, first))
    if target.kind != "amount" and first < last and header_row + 1 < len(analysis.layout.rows):
        left, right = tokens[first].box[0], tokens[first + 1].box[0]
        row_first, row_last = analysis.layout.rows[header_row + 1]
        below = analysis.layout.segments[tokens[row_first].segment : tokens[row_last].segment + 1]
        if any(left - 0.01 <= segment.box[0] and segment.box[2] <= right for segment in below):
            return [
                Column(None, left, tokens[first].box[2]),
                Column(target, right, tokens[last].box[2]),
            ]
    return [Column(target, tokens[span[0]].box[0], tokens[last].box[2])]


def _is_exact_header(analysis: Analysis, target: Target, span: Range) -> bool:
    """Return whether a header equals the key or the label of its column, or a learned header."""
    tokens = analysis.tokens[span[0] : span[1] + 1]
    return "".join(token.compact for token in tokens) in target.phrases


def _list_other_columns(
    analysis: Analysis, header_row: int, named_columns: Sequence[tuple[Target, Range]]
) -> Iterable[Column]:
    """Yield the columns of a header row that the field does not have, such as a unit price.

    The names of these columns are keywords, or words that a wide gap separates from the names of
    the other columns. A keyword with the concept of a named column may belong to that column, so it
    is ignored unless the name of that column is exact (see `_is_exact_header`).
    """
    tokens, keywords = analysis.tokens, analysis.keywords
    named_indexes = {i for _, (first, last) in named_columns for i in range(first, last + 1)}
    named_segments = {tokens[index].segment for index in named_indexes}
    inexact_concepts = {
        t.concept for t, span in named_columns if not _is_exact_header(analysis, t, span)
    } - {""}
    first, last = analysis.layout.rows[header_row]
    ranges = [
        (start, end)
        for end, start in keywords.ends.items()
        if first <= start and end <= last and tokens[end].segment in named_segments
    ]
    ranges += [
        (segment.first, segment.last)
        for segment in analysis.layout.segments[tokens[first].segment : tokens[last].segment + 1]
        if tokens[segment.first].segment not in named_segments
    ]
    for start, end in ranges:
        is_named = not named_indexes.isdisjoint(range(start, end + 1))
        if not is_named and inexact_concepts.isdisjoint(keywords.concepts[start : end + 1]):
            yield Column(None, tokens[start].box[0], tokens[end].box[2])


def _read_cells(
    analysis: Analysis, contexts: KeywordContexts, row: int, columns: Sequence[Column]
) -> dict[str, _Cell]:
    groups = group_by_column(analysis, row, columns)
    cells: dict[str, _Cell] = {}
    for column_index, column in enumerate(columns):
        token_indexes = groups.get(column_index)
        if column.target is None or not token_indexes:
            continue
        candidate = _build_cell_candidate(analysis, column.target, token_indexes)
        if candidate is None:
            continue
        view = FieldView(analysis, column.target, {}, contexts, 0.0)
        value = build_value(view, candidate)
        if value is not None:
            cells[column.target.name] = (view, candidate, value)
    return cells


def _build_cell_candidate(
    analysis: Analysis, target: Target, token_indexes: list[int]
) -> Candidate | None:
    first, last = token_indexes[0], token_indexes[-1]
    if target.kind in ("amount", "date"):
        for typed_text in analysis.amounts if target.kind == "amount" else analysis.dates:
            if (
                first <= typed_text.first <= typed_text.last <= last
                and not typed_text.is_alternative
            ):
                key = target.build_key(typed_text.value)
                span = ((typed_text.first, typed_text.last),)
                return Candidate(
                    target.kind, span, typed_text.start, typed_text.end, typed_text.text, key
                )
        return None
    text = analysis.layout.join(first, last)
    first_token, last_token = analysis.tokens[first], analysis.tokens[last]
    return Candidate("lines", ((first, last),), first_token.start, last_token.end, text, text)
