"""Define the places of tags and the keys by which tags are compared."""

import unicodedata
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

import orjson

from app.engines.agreement.marks import Mark, get_region_mark, get_span_mark
from app.engines.fields import Field, Tag

Place: TypeAlias = tuple[str, int | None]
"""A field (or `table.column`), and the row number."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The type of a field, and whether one place may have several tags."""

    kind: str
    multiple: bool

    @property
    def is_mark(self) -> bool:
        """Return whether tags of the field mark positions, which agree if they overlap enough."""
        return self.kind in ("span", "region")


Shapes: TypeAlias = Mapping[str, Shape]
UNKNOWN_SHAPE = Shape("text", multiple=True)
"""The shape of fields that the schema version does not have."""


def build_shapes(fields: Iterable[Field]) -> dict[str, Shape]:
    """Return the shape of every field and table column by its full name, in schema order."""
    shapes: dict[str, Shape] = {}
    for field in fields:
        if field["type"] != "table":
            shapes[field["key"]] = Shape(field["type"], bool(field["multiple"]))
        for column in field["columns"]:
            name = f"{field['key']}.{column['key']}"
            shapes[name] = Shape(column["type"], bool(column["multiple"]))
    return shapes


def group_by_place(tags: Iterable[Tag]) -> dict[Place, list[Tag]]:
    """Group the tags by place, keeping their order."""
    tags_by_place: dict[Place, list[Tag]] = {}
    for tag in tags:
        tags_by_place.setdefault((tag["field"], tag["row"]), []).append(tag)
    return tags_by_place


def sort_places(places: Iterable[Place], shapes: Shapes) -> list[Place]:
    """Sort places in schema order with the rows of a column together; unknown fields come last."""
    ranks = {name: rank for rank, name in enumerate(shapes)}
    last = len(ranks)
    return sorted(places, key=lambda p: (ranks.get(p[0], last), p[0], -1 if p[1] is None else p[1]))


def build_value_key(tag: Tag) -> Hashable:
    """Return a key that is equal for equal values, even if they are written differently."""
    value = tag["value"]
    if type(value) is bool:
        return ("boolean", value)  # otherwise True would equal 1
    if isinstance(value, dict):
        if value.keys() == {"amount", "currency"}:
            return (Decimal(value["amount"]), value["currency"])
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    if isinstance(value, str) and not value.isascii():
        return unicodedata.normalize("NFC", value)
    return orjson.dumps(value) if isinstance(value, list) else value


def serialize_tag(tag: Tag) -> bytes:
    """Return the serialized tag; two tags are identical if and only if this is equal."""
    return orjson.dumps(tag, option=orjson.OPT_SORT_KEYS)


def list_marks(tags: Sequence[Tag], shape: Shape, *, labeled: bool = True) -> list[Mark] | None:
    """Return the marks of the tags; None if the field has no marks or a tag has no position.

    Spans are compared by their range alone, because it determines their text. With `labeled`,
    regions must also have equal values.
    """
    if shape.kind == "span":
        marks = [get_span_mark(tag["evidence"]) for tag in tags]
    elif shape.kind == "region":
        marks = [
            get_region_mark(tag["evidence"], build_value_key(tag) if labeled else None)
            for tag in tags
        ]
    else:
        return None
    located_marks = [mark for mark in marks if mark is not None]
    return located_marks if len(located_marks) == len(marks) else None
