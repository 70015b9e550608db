"""Build the keys for grouping, sorting and comparing tags."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias, TypeVar

import orjson

from app.engines.agreement.marks import Mark, get_region_mark, get_span_mark
from app.engines.fields import Field, Tag
from app.engines.fields.model import iterate_named_fields
from app.engines.normalization import normalize

_Value = TypeVar("_Value", bound=Hashable)
TagKey: TypeAlias = tuple[str, int | None]
"""The key of a field or `table.column`, and the row number, which is None outside tables."""


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """The type of a field, and whether several tags may have the same tag key."""

    field_type: str
    multiple: bool

    @property
    def has_marks(self) -> bool:
        """Return whether the tags have marks, whose overlap decides whether tags agree."""
        return self.field_type in ("span", "region")


FieldSpecs: TypeAlias = Mapping[str, FieldSpec]
UNKNOWN_FIELD_SPEC = FieldSpec("text", multiple=True)
"""The specification of a field that does not exist in the schema version."""


def build_field_specs(fields: Iterable[Field]) -> dict[str, FieldSpec]:
    """Return the specification of each field and table column by full name, in schema order."""
    return {
        name: FieldSpec(field["type"], bool(field["multiple"]))
        for name, field in iterate_named_fields(fields)
    }


def group_by_tag_key(tags: Iterable[Tag]) -> dict[TagKey, list[Tag]]:
    """Group tags by field and row, keeping their order."""
    tags_by_key: dict[TagKey, list[Tag]] = {}
    for tag in tags:
        tags_by_key.setdefault((tag["field"], tag["row"]), []).append(tag)
    return tags_by_key


def sort_tag_keys(tag_keys: Iterable[TagKey], field_specs: FieldSpecs) -> list[TagKey]:
    """Sort tag keys in schema order, then by row; unknown fields come last."""
    ranks = {name: rank for rank, name in enumerate(field_specs)}
    last = len(ranks)
    return sorted(
        tag_keys,
        key=lambda tag_key: (
            ranks.get(tag_key[0], last),
            tag_key[0],
            -1 if tag_key[1] is None else tag_key[1],
        ),
    )


def build_value_key(tag: Tag) -> Hashable:
    """Build the comparison key for a tag value.

    Equal values have equal keys, however they are written.
    """
    value = tag["value"]
    if type(value) is bool:
        return ("boolean", value)  # otherwise True would equal 1
    if isinstance(value, dict):
        if value.keys() == {"amount", "currency"}:
            return (Decimal(value["amount"]), value["currency"])
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    if isinstance(value, str) and not value.isascii():
        return normalize("NFC", value)
    return orjson.dumps(value) if isinstance(value, list) else value


def number_occurrences(values: Iterable[_Value]) -> list[tuple[_Value, int]]:
    """Pair each value with its occurrence number (from 1), so that repeated values are distinct."""
    counts: dict[_Value, int] = {}
    numbered_values = []
    for value in values:
        counts[value] = counts.get(value, 0) + 1
        numbered_values.append((value, counts[value]))
    return numbered_values


def serialize_tag(tag: Tag) -> bytes:
    """Serialize a tag as JSON. Two results are equal if and only if the tags are identical."""
    return orjson.dumps(tag, option=orjson.OPT_SORT_KEYS)


def list_marks(
    tags: Sequence[Tag], field_spec: FieldSpec, *, labeled: bool = True
) -> list[Mark] | None:
    """List the marks of tags: the positions of span or region tags in the document.

    Returns None if the field type has no marks, or if a tag has no position. If `labeled` is true,
    the mark of a region has the region's value as its label, so regions with different values never
    count as overlapping. Spans have no label, because their range determines their text.
    """
    if field_spec.field_type == "span":
        marks = [get_span_mark(tag["evidence"]) for tag in tags]
    elif field_spec.field_type == "region":
        marks = [
            get_region_mark(tag["evidence"], build_value_key(tag) if labeled else None)
            for tag in tags
        ]
    else:
        return None
    located_marks = [mark for mark in marks if mark is not None]
    return located_marks if len(located_marks) == len(marks) else None
