"""Where tags stand, and what of a tag tells whether another one says the same."""

import unicodedata
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

import orjson

from app.engines.agreement.marks import Mark, region_of, span_of
from app.engines.fields import Field, Tag

Place: TypeAlias = tuple[str, int | None]
"""A field (or `table.column`), and the row."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a field's tags are like: of which type, and whether a place may have several."""

    kind: str
    multiple: bool

    @property
    def is_mark(self) -> bool:
        """Whether its tags mark a place in the document, which may differ by a little."""
        return self.kind in ("span", "region")


Shapes: TypeAlias = Mapping[str, Shape]
UNKNOWN = Shape("text", multiple=True)
"""For tags of fields that the schema version does not have."""


def shapes(fields: Iterable[Field]) -> dict[str, Shape]:
    """The shape of every name that a tag may carry, in the schema's order."""
    found: dict[str, Shape] = {}
    for field in fields:
        if field["type"] != "table":
            found[field["key"]] = Shape(field["type"], bool(field["multiple"]))
        for column in field["columns"]:
            name = f"{field['key']}.{column['key']}"
            found[name] = Shape(column["type"], bool(column["multiple"]))
    return found


def by_place(tags: Iterable[Tag]) -> dict[Place, list[Tag]]:
    """The tags of each place, in their order."""
    found: dict[Place, list[Tag]] = {}
    for tag in tags:
        found.setdefault((tag["field"], tag["row"]), []).append(tag)
    return found


def in_order(places: Iterable[Place], known: Shapes) -> list[Place]:
    """Places in the schema's order, the rows of a column together; unknown fields last."""
    ranks = {name: rank for rank, name in enumerate(known)}
    last = len(ranks)
    return sorted(places, key=lambda p: (ranks.get(p[0], last), p[0], -1 if p[1] is None else p[1]))


def value_key(tag: Tag) -> Hashable:
    """Equal for equal values, whatever their notation left open."""
    value = tag["value"]
    if type(value) is bool:
        return ("boolean", value)  # True would be 1 otherwise
    if isinstance(value, dict):
        if value.keys() == {"amount", "currency"}:
            return (Decimal(value["amount"]), value["currency"])
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    if isinstance(value, str) and not value.isascii():
        return unicodedata.normalize("NFC", value)
    return orjson.dumps(value) if isinstance(value, list) else value


def written(tag: Tag) -> bytes:
    """The whole tag: equal for tags between which nothing differs."""
    return orjson.dumps(tag, option=orjson.OPT_SORT_KEYS)


def marks_of(tags: Sequence[Tag], shape: Shape, *, labelled: bool = True) -> list[Mark] | None:
    """What the tags mark, in their order; None where the field does not, or one of them did not.

    Spans are alike whatever their text: it follows from the stretch. The value of a region is what
    somebody wrote to it, and with `labelled` tells it from others.
    """
    if shape.kind == "span":
        found = [span_of(tag["evidence"]) for tag in tags]
    elif shape.kind == "region":
        found = [region_of(tag["evidence"], value_key(tag) if labelled else None) for tag in tags]
    else:
        return None
    known = [mark for mark in found if mark is not None]
    return known if len(known) == len(found) else None
