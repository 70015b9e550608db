"""Propose table rows.

Keywords locate the header row, and the positions of the headers locate the cells. There is no
trained model for tables. Only their column headers are learned, from the accepted cells in earlier
documents.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.engines.extraction.alignment import find_evidence_ranges
from app.engines.extraction.analysis import Analysis, find_typed_texts
from app.engines.extraction.candidates import Candidate, Range, find_own_keywords
from app.engines.extraction.context import KeywordContexts, build_contexts
from app.engines.extraction.model import Box
from app.engines.extraction.patterns import find_amounts, find_dates
from app.engines.extraction.proposing import build_tag, build_value
from app.engines.extraction.rules import FieldView
from app.engines.extraction.values import Target, build_target
from app.engines.fields import Field, JsonValue, Tag

_Cell = tuple[FieldView, Candidate, JsonValue]
MAX_ROWS = 200
_END_CONCEPTS = frozenset({"total", "subtotal", "tax", "cash", "rounding"})
_MAX_ROW_GAP = 6.0  # the maximum distance to the row above, in median word heights
_MAX_CONFIDENCE = 0.75


@dataclass(frozen=True, slots=True)
class _Column:
    """A table column, and the left and right edges of its header (0 to 1)."""

    target: Target
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
    for row in _list_body_rows(analysis, header):
        cells = _read_row(analysis, contexts, row, columns)
        amount_cells = [
            name for name, (view, _, _) in cells.items() if view.target.kind == "amount"
        ]
        amount_columns = [column for column in columns if column.target.kind == "amount"]
        if len(cells) * 2 < len(columns) or (amount_columns and not amount_cells):
            continue
        filled_fraction = len(cells) / len(columns)
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
    """Find the row that names the most columns, and return its index and these columns.

    The columns are ordered from left to right. If no row names enough columns, return -1 and no
    columns.
    """
    by_row: dict[int, dict[str, tuple[Target, Range]]] = {}
    for target in targets:
        for last, first in find_own_keywords(analysis, target):
            row = analysis.tokens[last].row
            by_row.setdefault(row, {}).setdefault(target.name, (target, (first, last)))
    min_count = min(2, len(targets))
    rows = [row for row, named_columns in by_row.items() if len(named_columns) >= min_count]
    if not rows:
        return -1, []
    header = max(rows, key=lambda row: (len(by_row[row]), -row))
    named_columns = by_row[header].values()
    columns = [
        _Column(target, analysis.tokens[a].box[0], analysis.tokens[b].box[2])
        for target, (a, b) in named_columns
    ]
    return header, sorted(columns, key=lambda column: column.left)


def _list_body_rows(analysis: Analysis, header: int) -> list[int]:
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
        if _END_CONCEPTS & set(analysis.keywords.concepts[first : last + 1]):
            break
        bottom = token.box[3]
        rows.append(row)
    return rows


def _read_row(
    analysis: Analysis, contexts: KeywordContexts, row: int, columns: Sequence[_Column]
) -> dict[str, _Cell]:
    first, last = analysis.layout.rows[row]
    groups: dict[str, list[int]] = {}
    name = ""
    for index in range(first, last + 1):
        token = analysis.tokens[index]
        is_continued = index > first and token.segment == analysis.tokens[index - 1].segment
        # A word stays in the column of the previous word until a gap or a number.
        if not (is_continued and not any(char.isdigit() for char in token.text)):
            name = _find_nearest_column(columns, token.box).target.name
        groups.setdefault(name, []).append(index)
    cells: dict[str, _Cell] = {}
    for column in columns:
        tokens = groups.get(column.target.name)
        candidate = _build_cell_candidate(analysis, column.target, tokens) if tokens else None
        if candidate is None:
            continue
        view = FieldView(analysis, column.target, {}, contexts, 0.0)
        value = build_value(view, candidate)
        if value is not None:
            cells[column.target.name] = (view, candidate, value)
    return cells


def _find_nearest_column(columns: Sequence[_Column], box: Box) -> _Column:
    return min(columns, key=lambda column: max(column.left - box[2], box[0] - column.right, 0.0))


def _build_cell_candidate(
    analysis: Analysis, target: Target, tokens: list[int]
) -> Candidate | None:
    first, last = tokens[0], tokens[-1]
    if target.kind in ("amount", "date"):
        find = find_amounts if target.kind == "amount" else find_dates
        for typed in find_typed_texts(analysis.layout, find, rows=[(first, last)]):
            key = target.build_key(typed.value)
            span = ((typed.first, typed.last),)
            return Candidate(target.kind, span, typed.start, typed.end, typed.text, key)
        return None
    text = analysis.layout.join(first, last)
    first_token, last_token = analysis.tokens[first], analysis.tokens[last]
    return Candidate("lines", ((first, last),), first_token.start, last_token.end, text, text)


def learn_headers(
    documents: Iterable[tuple[Analysis, Sequence[Tag]]], fields: Sequence[Field]
) -> dict[str, frozenset[str]]:
    """Learn the column headers from documents with accepted tags, and return them in compact form.

    The keys of the result have the form `table.column`. A header is the text in the row above the
    first accepted cells; cells without evidence are ignored.
    """
    headers: dict[str, set[str]] = {}
    tables = [field for field in fields if field["type"] == "table" and field["ai_assist"]]
    for analysis, tags in documents:
        for field in tables:
            for name, phrases in _learn_document_headers(analysis, field, tags).items():
                headers.setdefault(name, set()).update(phrases)
    return {name: frozenset(phrases) for name, phrases in headers.items()}


def _learn_document_headers(
    analysis: Analysis, field: Field, tags: Sequence[Tag]
) -> dict[str, set[str]]:
    prefix = f"{field['key']}."
    first_cells: dict[str, Range] = {}
    for tag in sorted(tags, key=lambda tag: tag["row"] or 0):
        if tag["field"].startswith(prefix) and tag["field"] not in first_cells:
            ranges = find_evidence_ranges(analysis, tag.get("evidence") or [])
            if ranges:
                first_cells[tag["field"]] = ranges[0]
    if not first_cells:
        return {}
    top = min(analysis.tokens[first].row for first, _ in first_cells.values())
    if not top:
        return {}
    return {
        name: phrases
        for name, span in first_cells.items()
        if (phrases := _read_headers_above(analysis, span, top - 1))
    }


def _read_headers_above(analysis: Analysis, span: Range, row: int) -> set[str]:
    left, right = analysis.tokens[span[0]].box[0], analysis.tokens[span[1]].box[2]
    first, last = analysis.layout.rows[row]
    segments = {analysis.tokens[index].segment for index in range(first, last + 1)}
    phrases = set()
    for number in sorted(segments):
        segment = analysis.layout.segments[number]
        if segment.box[0] < right and left < segment.box[2]:
            text = "".join(t.compact for t in analysis.tokens[segment.first : segment.last + 1])
            if text and not any(char.isdigit() for char in text):
                phrases.add(text)
    return phrases
