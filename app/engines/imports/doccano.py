"""Read what doccano exports as JSON Lines: a text and its labels in each line.

The labels are stretches of the text, `[start, end, label]` or objects with `start_offset`,
`end_offset` and `label`; or texts, which are categories or answers. Source: the export of
https://doccano.github.io/doccano/.
"""

from typing import Any

from app.engines.imports.foreign import build_members, read_id
from app.engines.imports.marks import Mark, SpanMark, ValueMark
from app.engines.imports.records import Content, ContentError

LABELS = ("label", "labels", "entities", "cats")
"""The members that have labels, by version and kind of the project."""
_OTHERS = ("id", "text", "relations", "Comments", "comments")
_SPAN_LENGTH = 3


def convert_line(line: dict[str, Any]) -> Content:
    """Return the content of a line. Raises ContentError.

    The `id` becomes the external id; other members become metadata if they are plain values. A
    document without labels counts as not labeled.
    """
    text = line.get("text")
    if not isinstance(text, str):
        raise ContentError("`text`: Missing data for required member.")
    others = {name: value for name, value in line.items() if name not in (*LABELS, *_OTHERS)}
    members = build_members(text, read_id(line.get("id")), others)
    marks = [mark for name in LABELS for mark in _read_marks(name, line.get(name))]
    return Content(members, (marks,) if marks else ())


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
        label = [label.get(member) for member in ("start_offset", "end_offset", "label")]
    if isinstance(label, list) and len(label) == _SPAN_LENGTH:
        start, end, kind = label
        if type(start) is int and type(end) is int and isinstance(kind, str):
            return SpanMark(kind, start, end)
    raise ContentError(f"`{name}`: Each label must be a text, or [start, end, label].")
