"""Propose table rows.

Keywords locate the header row, and the positions of the headers locate the cells. There is no
trained model for tables. Only their column headers are learned, from the accepted cells in earlier
documents.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.engines.extraction.analysis import Analysis
from app.engines.extraction.candidates import Candidate, Range, find_own_keywords
from app.engines.extraction.context import KeywordContexts, build_contexts
from app.engines.extraction.model import Box
from app.engines.extraction.proposing import build_tag, build_value
from app.engines.extraction.rules import FieldView
from app.engines.extraction.values import Target, build_target
from app.engines.fields import Field, JsonValue, Tag

_Cell = tuple[FieldView, Candidate, JsonValue]
MAX_ROWS = 200
_END_CONCEPTS = frozenset({"total", "subtotal", "tax", "cash", "rounding"})
_MAX_ROW_GAP = 6.0  # the maximum distance to the row above, in median word heights
_MAX_CONFIDENCE = 0.75
_MIN_FILLED_COLUMNS = 4


@dataclass(frozen=True, slots=True)
class _Column:
    """A table column, and the left and right edges of its header (0 to 1).

    `target` is None for a column of the document that the field does not have.
    """

    target: Target | None
    left: float
    right: float


def propose_tables(
    analysis: Analysis, fields: Sequence[Field], headers: dict[str, frozenset[str]]
) -> list[Tag]:
    """Propose one tag for each cell of each table.

    `headers` contains the column headers that `learn_headers` returned.
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
    header, columns = _find_header(analysis, targets)
    if header < 0:
        return []
    tags: list[Tag] = []
    number = 0
    contexts = build_contexts(analysis)
    own_targets = [column.target for column in columns if column.target]
    has_amounts = any(target.kind == "amount" for target in own_targets)
    for row in _list_body_rows(analysis, header, columns):
        cells = _read_row(analysis, contexts, row, columns)
        amount_cells = [
            name for name, (view, _, _) in cells.items() if view.target.kind == "amount"
        ]
        if len(cells) * 2 < len(own_targets) or (has_amounts and not amount_cells):
            continue
        filled_fraction = len(cells) / len(own_targets)
        for view, candidate, value in cells.values():
            tags.append(
                build_tag(view, candidate, value, _MAX_CONFIDENCE * filled_fraction, number)
            )
        number += 1
        if number == MAX_ROWS:
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


def _find_header(analysis: Analysis, targets: Sequence[Target]) -> tuple[int, list[_Column]]:
    """Find the row that names the most columns, and return its index and all its columns.

    The columns are ordered from left to right. If no row names enough columns, return -1 and no
    columns.
    """
    by_row: dict[int, dict[str, tuple[Target, Range]]] = {}
    for target in targets:
        for last, first in find_own_keywords(analysis, target):
            named_columns = by_row.setdefault(analysis.tokens[last].row, {})
            if target.name not in named_columns or (
                _is_exact(analysis, target, (first, last))
                and not _is_exact(analysis, *named_columns[target.name])
            ):
                named_columns[target.name] = (target, (first, last))
    min_count = min(2, len(targets))
    rows = [row for row, named_columns in by_row.items() if len(named_columns) >= min_count]
    if not rows:
        return -1, []
    header = max(rows, key=lambda row: (len(by_row[row]), -row))
    columns = [
        _Column(target, analysis.tokens[a].box[0], analysis.tokens[b].box[2])
        for target, (a, b) in by_row[header].values()
    ]
    columns += _list_other_columns(analysis, header, list(by_row[header].values()))
    return header, sorted(columns, key=lambda column: column.left)


def _is_exact(analysis: Analysis, target: Target, span: Range) -> bool:
    """Return whether the text of a header is the key, the label or a learned header."""
    tokens = analysis.tokens[span[0] : span[1] + 1]
    return "".join(token.compact for token in tokens) in target.phrases


def _list_other_columns(
    analysis: Analysis, header: int, named_columns: Sequence[tuple[Target, Range]]
) -> Iterable[_Column]:
    """Yield the columns of a header row that the field does not have, such as a unit price.

    They are other keywords, and words that a wide gap separates from the names of the columns. A
    synonym of a name may belong to its column, unless the name is exact.
    """
    tokens, keywords = analysis.tokens, analysis.keywords
    named_indexes = {i for _, (first, last) in named_columns for i in range(first, last + 1)}
    named_segments = {tokens[index].segment for index in named_indexes}
    synonyms = {t.concept for t, span in named_columns if not _is_exact(analysis, t, span)} - {""}
    first, last = analysis.layout.rows[header]
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
        if not is_named and synonyms.isdisjoint(keywords.concepts[start : end + 1]):
            yield _Column(None, tokens[start].box[0], tokens[end].box[2])


def _list_body_rows(analysis: Analysis, header: int, columns: Sequence[_Column]) -> list[int]:
    """Return the rows below the header, up to a total, a wide gap or the end of the page."""
    rows = []
    layout = analysis.layout
    bottom = layout.tokens[layout.rows[header][0]].box[3]
    page = layout.tokens[layout.rows[header][0]].page
    for row in range(header + 1, len(layout.rows)):
        first, last = layout.rows[row]
        token = layout.tokens[first]
        if token.page != page or token.box[1] - bottom > _MAX_ROW_GAP * layout.height:
            break
        is_end = bool(_END_CONCEPTS & set(analysis.keywords.concepts[first : last + 1]))
        if is_end and not _fills_all_columns(analysis, row, columns):
            break
        bottom = token.box[3]
        rows.append(row)
    return rows


def _fills_all_columns(analysis: Analysis, row: int, columns: Sequence[_Column]) -> bool:
    """Return whether a row fills all of at least four columns, unlike the totals below a table."""
    groups = _group_by_column(analysis, row, columns)
    return len(columns) >= _MIN_FILLED_COLUMNS and all(
        groups.get(number)
        and (
            column.target is None
            or column.target.kind != "amount"
            or any(
                char.isdigit() for index in groups[number] for char in analysis.tokens[index].text
            )
        )
        for number, column in enumerate(columns)
    )


def _group_by_column(
    analysis: Analysis, row: int, columns: Sequence[_Column]
) -> dict[int, list[int]]:
    """Return the token indexes of a row by the number of the column."""
    first, last = analysis.layout.rows[row]
    groups: dict[int, list[int]] = {}
    number = 0
    for index in range(first, last + 1):
        token = analysis.tokens[index]
        is_continued = index > first and token.segment == analysis.tokens[index - 1].segment
        # A word stays in the column of the previous word until a gap or a number.
        if not (is_continued and not any(char.isdigit() for char in token.text)):
            number = _find_nearest_column(columns, token.box)
        groups.setdefault(number, []).append(index)
    return groups


def _read_row(
    analysis: Analysis, contexts: KeywordContexts, row: int, columns: Sequence[_Column]
) -> dict[str, _Cell]:
    groups = _group_by_column(analysis, row, columns)
    cells: dict[str, _Cell] = {}
    for number, column in enumerate(columns):
        tokens = groups.get(number)
        if column.target is None or not tokens:
            continue
        candidate = _build_cell_candidate(analysis, column.target, tokens)
        if candidate is None:
            continue
        view = FieldView(analysis, column.target, {}, contexts, 0.0)
        value = build_value(view, candidate)
        if value is not None:
            cells[column.target.name] = (view, candidate, value)
    return cells


def _find_nearest_column(columns: Sequence[_Column], box: Box) -> int:
    distances = [max(column.left - box[2], box[0] - column.right, 0.0) for column in columns]
    return distances.index(min(distances))


def _build_cell_candidate(
    analysis: Analysis, target: Target, tokens: list[int]
) -> Candidate | None:
    first, last = tokens[0], tokens[-1]
    if target.kind in ("amount", "date"):
        for typed in analysis.amounts if target.kind == "amount" else analysis.dates:
            if first <= typed.first <= typed.last <= last and not typed.is_alternative:
                key = target.build_key(typed.value)
                span = ((typed.first, typed.last),)
                return Candidate(target.kind, span, typed.start, typed.end, typed.text, key)
        return None
    text = analysis.layout.join(first, last)
    first_token, last_token = analysis.tokens[first], analysis.tokens[last]
    return Candidate("lines", ((first, last),), first_token.start, last_token.end, text, text)
