"""Learn the headers of table columns from documents with accepted cells."""

from collections.abc import Iterable, Sequence

from app.engines.extraction.alignment import find_evidence_ranges
from app.engines.extraction.analysis import Analysis
from app.engines.extraction.candidates import Range
from app.engines.extraction.examples import PreparedExample
from app.engines.fields import Field, Tag


def learn_headers(
    prepared_examples: Iterable[PreparedExample], fields: Sequence[Field]
) -> dict[str, frozenset[str]]:
    """Learn the column headers above the accepted cells.

    Returns the headers by `table.column`, as `compact_text` returns them. A header is the text in
    the row above the first accepted cells; cells without evidence are ignored.
    """
    headers: dict[str, set[str]] = {}
    tables = [field for field in fields if field["type"] == "table" and field["ai_assist"]]
    for example in prepared_examples:
        analysis = example.prepared_document.analysis
        for field in tables:
            for name, phrases in _learn_document_headers(analysis, field, example.tags).items():
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
    top_row = min(analysis.tokens[first].row for first, _ in first_cells.values())
    if not top_row:
        return {}
    return {
        name: phrases
        for name, span in first_cells.items()
        if (phrases := _read_headers_above(analysis, span, top_row - 1))
    }


def _read_headers_above(analysis: Analysis, span: Range, row: int) -> set[str]:
    left, right = analysis.tokens[span[0]].box[0], analysis.tokens[span[1]].box[2]
    first, last = analysis.layout.rows[row]
    segment_indexes = {analysis.tokens[index].segment for index in range(first, last + 1)}
    phrases = set()
    for segment_index in sorted(segment_indexes):
        segment = analysis.layout.segments[segment_index]
        if segment.box[0] < right and left < segment.box[2]:
            text = "".join(t.compact for t in analysis.tokens[segment.first : segment.last + 1])
            if text and not any(char.isdigit() for char in text):
                phrases.add(text)
    return phrases
