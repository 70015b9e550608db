"""The labels of other tools, and the tags that the fields of a schema make of them.

Other tools name what they ask for in their own way. A name refers to the field whose key or label
is the same in snake_case, so that it finds the field that an import of the tool's labeling
configuration created (`app.engines.schema_sources`).
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from app.engines.fields import Field
from app.engines.schema_sources.texts import to_line, to_snake_case

_MAX_SHOWN = 64
_OTHER_THAN_VALUES = ("span", "region", "table")


class SpanMark(NamedTuple):
    """A stretch of the text from `start` to `end`.

    `label` says what it is; `control` is the name of the control with which it was labeled. `text`
    is the stretch itself if the tool exports it. Offsets count code points; if they do not lead to
    `text`, they count the units of UTF-16.
    """

    label: str
    start: int
    end: int
    control: str | None = None
    text: str | None = None


class ValueMark(NamedTuple):
    """A value of the whole document; without a control, the value itself decides on the field."""

    value: Any
    control: str | None = None


Mark: TypeAlias = SpanMark | ValueMark


class MarkError(ValueError):
    """A label does not fit the schema or the text; the message says why."""


class FieldNames:
    """The fields of a schema version, by the names that other tools have for them."""

    def __init__(self, fields: Sequence[Field]) -> None:
        spans = [field for field in fields if field["type"] == "span"]
        values = [field for field in fields if field["type"] not in _OTHER_THAN_VALUES]
        self._spans = _index_by_name(spans)
        self._values = _index_by_name(values)
        self._options = _index_by_option(values)
        texts = [field for field in values if field["type"] == "text"]
        self._only_text = texts[0] if len(texts) == 1 else None

    def build_tags(self, marks: Iterable[Mark], text: str) -> list[dict[str, Any]]:
        """Return the tags of the marks of a document with this text. Raises MarkError."""
        return [
            self._build_span(mark, text) if isinstance(mark, SpanMark) else self._build_value(mark)
            for mark in marks
        ]

    def _build_span(self, mark: SpanMark, text: str) -> dict[str, Any]:
        field = self._spans.get(_fold(mark.label)) or self._spans.get(_fold(mark.control or ""))
        if field is None:
            raise MarkError(f"The schema has no span field `{mark.label[:_MAX_SHOWN]}`.")
        start, end = _locate(mark, text)
        return {"field": field["key"], "evidence": [{"start": start, "end": end}]}

    def _build_value(self, mark: ValueMark) -> dict[str, Any]:
        if mark.control is not None:
            field = self._values.get(_fold(mark.control))
            if field is None:
                raise MarkError(f"The schema has no field `{mark.control[:_MAX_SHOWN]}`.")
            return {"field": field["key"], "value": _find_option(field, mark.value)}
        if isinstance(mark.value, str) and mark.value in self._options:
            return dict(self._options[mark.value])
        if self._only_text is None:
            message = f"No field of the schema has the option `{str(mark.value)[:_MAX_SHOWN]}`."
            raise MarkError(message)
        return {"field": self._only_text["key"], "value": mark.value}


def _fold(name: str) -> str:
    return to_snake_case(name, "label")


def _index_by_name(fields: Sequence[Field]) -> dict[str, Field]:
    """Return the fields by their keys, and by the labels that are no key."""
    by_key = {_fold(field["key"]): field for field in fields}
    by_label = {_fold(field["label"]): field for field in reversed(fields)}
    return {**by_label, **by_key}


def _index_by_option(fields: Sequence[Field]) -> dict[str, dict[str, Any]]:
    """Return the tag of each option, by its value and its label; the first field has precedence."""
    tags: dict[str, dict[str, Any]] = {}
    for field in fields:
        for name in ("value", "label"):
            for option in field["options"]:
                tags.setdefault(option[name], {"field": field["key"], "value": option["value"]})
    return tags


def _find_option(field: Field, value: Any) -> Any:
    """Return the value of the option with this label, or else `value`."""
    if field["type"] != "choice" or not isinstance(value, str):
        return value
    wanted = to_line(value)
    values = {option["value"] for option in field["options"]}
    labels = {option["label"]: option["value"] for option in field["options"]}
    return wanted if wanted in values else labels.get(wanted, value)


def _locate(mark: SpanMark, text: str) -> tuple[int, int]:
    start, end = mark.start, mark.end
    if mark.text is None or _is_same(text[start:end], mark.text):
        return start, end
    units = text.encode("utf-16-le")
    head, piece = (
        part.decode("utf-16-le", "replace")
        for part in (units[: 2 * start], units[2 * start : 2 * end])
    )
    if _is_same(piece, mark.text):
        return len(head), len(head) + len(piece)
    raise MarkError(f"The text from {start} to {end} is not `{mark.text[:_MAX_SHOWN]}`.")


def _is_same(piece: str, exported: str) -> bool:
    """Return whether a stretch is the exported one; tools change white space."""
    return "".join(piece.split()) == "".join(exported.replace("\\n", "\n").split())
