"""Request bodies that accept exactly one of several alternative sets of fields.

One declaration drives both the validation and the OpenAPI description.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from marshmallow import ValidationError, validates_schema

from app.kit.api.fields import Schema

NEVER: dict[str, Any] = {"not": {}}
"""A JSON Schema that no value matches. Client generators do not accept the literal `false`."""
Alternative = tuple[str, ...]
"""A field, followed by the fields that must be sent with it, and only with it."""


class AlternativesSchema(Schema):
    """A body with exactly one of the `alternatives` of its class and of each base class."""

    alternatives: ClassVar[tuple[Alternative, ...]] = ()

    @classmethod
    def list_alternatives(cls) -> Iterator[tuple[Alternative, ...]]:
        """Yield the group of alternatives of the class and of each base class."""
        for base in cls.__mro__:
            group = vars(base).get("alternatives")
            if group:
                yield group

    @validates_schema
    def _check_alternatives(self, data: dict[str, object], **_: object) -> None:
        for group in self.list_alternatives():
            _check_group(data, group)


def _check_group(data: dict[str, object], group: tuple[Alternative, ...]) -> None:
    leading = [alternative[0] for alternative in group]
    if sum(name in data for name in leading) != 1:
        raise ValidationError(f"Send either {' or '.join(leading)}.", leading[0])
    for first, *companions in group:
        for name in companions:
            if (first in data) != (name in data):
                raise ValidationError(f"{first} and {name} must be sent together.", name)


def describe(schema: type[AlternativesSchema]) -> list[dict[str, Any]]:
    """Return the alternatives as JSON Schema, one schema for each group.

    They belong in `allOf`. Client generators read a `oneOf` next to `properties` as a choice of
    types, and drop the properties.
    """
    return [
        {"oneOf": [_describe_alternative(alternative, group) for alternative in group]}
        for group in schema.list_alternatives()
    ]


def _describe_alternative(
    alternative: Alternative, group: tuple[Alternative, ...]
) -> dict[str, Any]:
    description: dict[str, Any] = {"required": list(alternative)}
    if any(len(other) > 1 for other in group):  # otherwise `oneOf` excludes the other fields
        excluded_names = [name for other in group if other != alternative for name in other]
        description["properties"] = dict.fromkeys(excluded_names, NEVER)
    return description
