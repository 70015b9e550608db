"""Read the JSON Lines that doccano exports: a text and its labels in each line.

A label is a span of the text, written as `[start, end, label]` or as an object with `start_offset`,
`end_offset` and `label`; or it is a text: a category or an answer. Source: the export of
https://doccano.github.io/doccano/.
"""

from typing import Any

from app.engines.imports.foreign import build_properties, read_id
from app.engines.imports.marks import Mark, SpanMark, ValueMark
from app.engines.imports.records import Content, ContentError

LABELS = ("label", "labels", "entities", "cats")
"""The properties that contain labels. They depend on the version and the type of the project."""
_NOT_METADATA = ("id", "text", "relations", "Comments", "comments")
_SPAN_LENGTH = 3


def convert_line(line: dict[str, Any]) -> Content:
    """Return the content of a line. Raises ContentError.

    The `id` becomes the external id; other properties become metadata if they are plain values. A
    document without labels counts as not labeled.
    """
    text = line.get("text")
    if not isinstance(text, str):
        raise ContentError("`text`: Missing data for required field.")
    metadata = {
        name: value for name, value in line.items() if name not in (*LABELS, *_NOT_METADATA)
    }
    properties = build_properties(text, read_id(line.get("id")), metadata)
    marks = [mark for name in LABELS for mark in _read_marks(name, line.get(name))]
    return Content(properties, (marks,) if marks else ())


def _read_marks(name: str, labels: object) -> list[Mark]:
    if labels is None:
        return []
    if isinstance(labels, str):
        return [ValueMark(labels)]
    if not isinstance(labels, list):
        raise ContentError(f"`{name}`: Must be a list.")
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
    raise ContentError(f"`{name}`: Each label must be a text, or [start, end, label].")
