"""Read the JSON Lines that doccano exports: one document and its labels on each line.

A label is either a span of the text or a string. A span is `[start, end, label]`, or an object with
`start_offset`, `end_offset` and `label`. A string is a category or a text value. See
https://doccano.github.io/doccano/.
"""

from typing import Any

from app.engines.imports.marks import Mark, SpanMark, ValueMark
from app.engines.imports.records import ContentError, RecordContent, build_properties, read_id

LABEL_PROPERTIES = ("label", "labels", "entities", "cats")
"""The properties that contain labels, in all versions of doccano and all types of projects."""
_TEXT_PROPERTIES = ("text", "data")
"""The properties that may contain the text. Versions from 2021 use `data`."""
_NON_METADATA_PROPERTIES = ("id", "text", "relations", "Comments", "comments")
_SPAN_LENGTH = 3


def convert_line(line: dict[str, Any]) -> RecordContent:
    """Convert a line of a doccano export to the content of a record.

    The `id` becomes the external id. Other properties with simple values become metadata. A
    document without labels is imported as unlabeled. Raises ContentError if the text is missing, a
    label is malformed, or the line has the numbers of labels instead of their names.
    """
    name = next((name for name in _TEXT_PROPERTIES if isinstance(line.get(name), str)), None)
    if name is None:
        raise ContentError("`text` is missing.")
    if line.get("annotations") and line.keys().isdisjoint(LABEL_PROPERTIES):
        raise ContentError(
            "`annotations`: Has numbers instead of labels. Export as JSONL (text label)."
        )
    metadata = {
        key: value
        for key, value in line.items()
        if key not in (name, *LABEL_PROPERTIES, *_NON_METADATA_PROPERTIES)
    }
    properties = build_properties(line[name], read_id(line.get("id")), metadata)
    marks = [mark for name in LABEL_PROPERTIES for mark in _read_marks(name, line.get(name))]
    return RecordContent(properties, (marks,) if marks else ())


def _read_marks(name: str, labels: object) -> list[Mark]:
    if labels is None:
        return []
    if isinstance(labels, str):
        return [ValueMark(labels)]
    if not isinstance(labels, list):
        raise ContentError(f"`{name}`: Must be a string or a list.")
    return [_read_mark(name, label) for label in labels]


def _read_mark(name: str, label: object) -> Mark:
    if isinstance(label, str):
        return ValueMark(label)
    if isinstance(label, dict):
        label = [label.get(key) for key in ("start_offset", "end_offset", "label")]
    if isinstance(label, list) and len(label) == _SPAN_LENGTH:
        start, end, label_name = label
        if type(start) is int and type(end) is int and isinstance(label_name, str):
            return SpanMark(label_name, start, end)
    raise ContentError(f"`{name}`: Each label must be a string, or [start, end, label].")
