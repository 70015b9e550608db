"""Convert marks, which are labels from other tools, to tags for the fields of a schema.

Other tools have other names for fields. A name refers to the field with this key or label. If no
field has this key or label, the name refers to the field whose key or label is the same in
snake_case, so that it matches the field that an import of the tool's labeling configuration created
(`app.engines.schema_sources`).
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from app.engines.fields import Field
from app.engines.schema_sources.texts import to_line, to_snake_case

_MAX_SHOWN_CHARS = 64
_MAX_SHOWN_FIELDS = 5
_WORD = re.compile(r"\S+")
_NON_BMP = re.compile("[\U00010000-\U0010ffff]")
_NON_VALUE_TYPES = ("span", "region", "table")


class SpanMark(NamedTuple):
    """A labeled span of the text from `start` to `end`.

    `label` is the label of the span. `control` is the name of the Label Studio control with which
    the span was labeled, or None for other tools. `text` is the span's text if the tool exports it.
    Offsets count code points or UTF-16 code units, depending on the tool (see `_choose_locator`).
    """

    label: str
    start: int
    end: int
    control: str | None = None
    text: str | None = None


class ValueMark(NamedTuple):
    """A value of the whole document.

    `control` is the name of the Label Studio control with which the value was entered. If it is
    None, as for other tools, the value itself selects the field.
    """

    value: object
    control: str | None = None


Mark: TypeAlias = SpanMark | ValueMark


class MarkError(ValueError):
    """A mark does not match the schema or the text; the message gives the reason."""


class MarkConverter:
    """Converts marks from other labeling tools to tags of a schema version.

    Finds the field of a mark by the name that the field has in the other tool. A value without a
    `control` belongs to the field that has this value as an option, or to the only text field.
    """

    def __init__(self, fields: Sequence[Field]) -> None:
        span_fields = [field for field in fields if field["type"] == "span"]
        value_fields = [field for field in fields if field["type"] not in _NON_VALUE_TYPES]
        self._span_fields = _FieldFinder(span_fields)
        self._value_fields = _FieldFinder(value_fields)
        self._tags_by_option = _index_by_option(value_fields)
        text_fields = [field for field in value_fields if field["type"] == "text"]
        self._single_text_field = text_fields[0] if len(text_fields) == 1 else None

    def build_tags(self, marks: Iterable[Mark], text: str) -> list[dict[str, Any]]:
        """Convert the marks of a document to tags. `text` is the document's text.

        Raises MarkError if a mark matches no field, if its name matches more than one field, or if
        the mark does not match the text.
        """
        all_marks = list(marks)
        spans = [mark for mark in all_marks if isinstance(mark, SpanMark)]
        locate = _choose_locator(spans, text)
        return [
            self._build_span_tag(mark, locate)
            if isinstance(mark, SpanMark)
            else self._build_value_tag(mark)
            for mark in all_marks
        ]

    def _build_span_tag(self, mark: SpanMark, locate: "_Locator") -> dict[str, Any]:
        field = self._span_fields.find(mark.label)
        if field is None and mark.control:
            field = self._span_fields.find(mark.control)
        if field is None:
            raise MarkError(f"The schema has no span field `{mark.label[:_MAX_SHOWN_CHARS]}`.")
        start, end = locate(mark)
        return {"field": field["key"], "evidence": [{"start": start, "end": end}]}

    def _build_value_tag(self, mark: ValueMark) -> dict[str, Any]:
        if mark.control is not None:
            field = self._value_fields.find(mark.control)
            if field is None:
                raise MarkError(f"The schema has no field `{mark.control[:_MAX_SHOWN_CHARS]}`.")
            return {"field": field["key"], "value": _find_option_value(field, mark.value)}
        if isinstance(mark.value, str) and mark.value in self._tags_by_option:
            return dict(self._tags_by_option[mark.value])
        if self._single_text_field is None:
            message = (
                f"No field of the schema has the option `{str(mark.value)[:_MAX_SHOWN_CHARS]}`."
            )
            raise MarkError(message)
        return {"field": self._single_text_field["key"], "value": mark.value}


class _FieldFinder:
    """Finds fields by their names in other tools."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self._by_key = {field["key"]: [field] for field in fields}
        self._by_label: defaultdict[str, list[Field]] = defaultdict(list)
        self._by_snake_case: defaultdict[str, list[Field]] = defaultdict(list)
        for field in fields:
            self._by_label[to_line(field["label"])].append(field)
            for name in {_normalize_name(field["key"]), _normalize_name(field["label"])}:
                self._by_snake_case[name].append(field)

    def find(self, name: str) -> Field | None:
        """Find the field that `name` refers to, or None. Raises MarkError if more than one matches.

        Different labels can have the same name in snake_case, for example `C` and `C++`.
        """
        fields = (
            self._by_key.get(name)
            or self._by_label.get(to_line(name))
            or self._by_snake_case.get(_normalize_name(name))
            or []
        )
        if len(fields) > 1:
            keys = ", ".join(f"`{field['key']}`" for field in fields[:_MAX_SHOWN_FIELDS])
            short_name = name[:_MAX_SHOWN_CHARS]
            message = f"Several fields of the schema match the label `{short_name}`: {keys}."
            raise MarkError(message)
        return fields[0] if fields else None


def _normalize_name(name: str) -> str:
    return to_snake_case(name, "label")


def _index_by_option(fields: Sequence[Field]) -> dict[str, dict[str, Any]]:
    """Map the values and labels of options to tags.

    If more than one field has an option, the tag is for the first of these fields.
    """
    tags: dict[str, dict[str, Any]] = {}
    for field in fields:
        for name in ("value", "label"):
            for option in field["options"]:
                tags.setdefault(option[name], {"field": field["key"], "value": option["value"]})
    return tags


def _find_option_value(field: Field, value: object) -> object:
    """Return the value of the option whose value or label is `value`, or else `value` itself."""
    if field["type"] != "choice" or not isinstance(value, str):
        return value
    name = to_line(value)
    values = {option["value"] for option in field["options"]}
    labels = {option["label"]: option["value"] for option in field["options"]}
    return name if name in values else labels.get(name, value)


_Locator = Callable[[SpanMark], tuple[int, int]]
"""Returns the offsets of a span in code points.

Raises MarkError if the text at the offsets differs from the exported text.
"""


def _choose_locator(spans: Sequence[SpanMark], text: str) -> _Locator:
    """Return the locator for the unit of a document's offsets: code points or UTF-16 code units.

    All spans of a document use the same unit. The unit in which more spans match their text is
    chosen, because a single span may match in both units if its text is repeated.
    """
    locate_by_code_points = partial(_locate_by_code_points, text)
    pair_offsets = _list_surrogate_pair_offsets(text)
    if not pair_offsets:  # the offsets are the same in both units
        return locate_by_code_points
    locators = (locate_by_code_points, partial(_locate_by_utf16, text, pair_offsets))
    return min(locators, key=partial(_count_mismatches, spans))


def _list_surrogate_pair_offsets(text: str) -> list[int]:
    """Return the offset, in UTF-16 code units, of each character that has two code units."""
    return [match.start() + index for index, match in enumerate(_NON_BMP.finditer(text))]


def _count_mismatches(spans: Sequence[SpanMark], locate: _Locator) -> int:
    count = 0
    for span in spans:
        try:
            locate(span)
        except MarkError:
            count += 1
    return count


def _locate_by_code_points(text: str, mark: SpanMark) -> tuple[int, int]:
    _check_text(mark, text, mark.start, mark.end)
    return mark.start, mark.end


def _locate_by_utf16(text: str, pair_offsets: list[int], mark: SpanMark) -> tuple[int, int]:
    # An offset within a pair becomes the offset of its character.
    start, end = (offset - bisect_left(pair_offsets, offset) for offset in (mark.start, mark.end))
    _check_text(mark, text, start, end)
    return start, end


def _check_text(mark: SpanMark, text: str, start: int, end: int) -> None:
    """Raise MarkError unless the text from `start` to `end` exists and is the exported text."""
    if end > len(text):
        raise MarkError(f"The span from {mark.start} to {mark.end} exceeds the text.")
    if mark.text is not None and not _is_same_text(text[start:end], mark.text):
        short_text = mark.text[:_MAX_SHOWN_CHARS]
        raise MarkError(f"The text from {mark.start} to {mark.end} is not `{short_text}`.")


def _is_same_text(span_text: str, exported_text: str) -> bool:
    """Return whether two strings are equal except for white space, which tools may change."""
    exported_chars = "".join(exported_text.replace("\\n", "\n").split())
    position = 0
    # The span may be much longer than the exported text: stop at the first difference.
    for match in _WORD.finditer(span_text):
        if not exported_chars.startswith(match[0], position):
            return False
        position += len(match[0])
    return position == len(exported_chars)
