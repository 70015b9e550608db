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
        """Return whether its tags mark positions, which agree if they overlap enough."""
        return self.kind in ("span", "region")


Shapes: TypeAlias = Mapping[str, Shape]
UNKNOWN = Shape("text", multiple=True)
"""The shape of fields that the schema version does not have."""


def build_shapes(fields: Iterable[Field]) -> dict[str, Shape]:
    """Return the shape of every field and table column by its full name, in schema order."""
    by_name: dict[str, Shape] = {}
    for field in fields:
        if field["type"] != "table":
            by_name[field["key"]] = Shape(field["type"], bool(field["multiple"]))
        for column in field["columns"]:
            name = f"{field['key']}.{column['key']}"
            by_name[name] = Shape(column["type"], bool(column["multiple"]))
    return by_name


def group_by_place(tags: Iterable[Tag]) -> dict[Place, list[Tag]]:
    """Group the tags by place, keeping their order."""
    tags_of: dict[Place, list[Tag]] = {}
    for tag in tags:
        tags_of.setdefault((tag["field"], tag["row"]), []).append(tag)
    return tags_of


def sort_places(places: Iterable[Place], known: Shapes) -> list[Place]:
    """Sort places in schema order with the rows of a column together; unknown fields come last."""
    ranks = {name: rank for rank, name in enumerate(known)}
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


def list_marks(tags: Sequence[Tag], shape: Shape, *, labelled: bool = True) -> list[Mark] | None:
    """Return the marks of the tags, or None if the field is no mark or a tag has no position.

    Spans are compared by their range alone, because it determines their text. With `labelled`, the
    value of a region must be equal too.
    """
    if shape.kind == "span":
        marks = [get_span_mark(tag["evidence"]) for tag in tags]
    elif shape.kind == "region":
        marks = [
            get_region_mark(tag["evidence"], build_value_key(tag) if labelled else None)
            for tag in tags
        ]
    else:
        return None
    known = [mark for mark in marks if mark is not None]
    return known if len(known) == len(marks) else None
