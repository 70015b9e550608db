"""Request bodies that accept exactly one of several alternative sets of fields.

Both the validation and the OpenAPI description are derived from one declaration.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from marshmallow import ValidationError, validates_schema

from app.kit.api.fields import Schema

NEVER: dict[str, Any] = {"not": {}}
"""A JSON Schema that no value matches. Client generators do not accept the literal `false`."""
Alternative = tuple[str, ...]
"""The name of a field, followed by the names of its companion fields.

The companions must be sent if the field is sent, and must not be sent otherwise.
"""


class AlternativesSchema(Schema):
    """A body that must match exactly one of several alternatives.

    A class and each of its base classes may define one group of `alternatives`. The body must match
    exactly one alternative from each group.
    """

    alternatives: ClassVar[tuple[Alternative, ...]] = ()

    @classmethod
    def iterate_alternative_groups(cls) -> Iterator[tuple[Alternative, ...]]:
        """Yield the groups of alternatives that the class and its base classes define."""
        for base in cls.__mro__:
            group = vars(base).get("alternatives")
            if group:
                yield group

    @validates_schema
    def _check_alternatives(self, data: dict[str, object], **_: object) -> None:
        for group in self.iterate_alternative_groups():
            _check_group(data, group)


def _check_group(data: dict[str, object], group: tuple[Alternative, ...]) -> None:
    leading_names = [alternative[0] for alternative in group]
    if sum(name in data for name in leading_names) != 1:
        raise ValidationError(f"Send either {' or '.join(leading_names)}.", leading_names[0])
    for leading_name, *companions in group:
        for name in companions:
            if (leading_name in data) != (name in data):
                raise ValidationError(f"{leading_name} and {name} must be sent together.", name)


def build_alternative_schemas(schema: type[AlternativesSchema]) -> list[dict[str, Any]]:
    """Return one JSON Schema for each group of alternatives, to be placed in `allOf`.

    A `oneOf` next to `properties` would make client generators drop the properties.
    """
    return [
        {"oneOf": [_build_alternative_schema(alternative, group) for alternative in group]}
        for group in schema.iterate_alternative_groups()
    ]


def _build_alternative_schema(
    alternative: Alternative, group: tuple[Alternative, ...]
) -> dict[str, Any]:
    description: dict[str, Any] = {"required": list(alternative)}
    if any(len(other) > 1 for other in group):  # `oneOf` is sufficient for single fields
        excluded_names = [name for other in group if other != alternative for name in other]
        description["properties"] = dict.fromkeys(excluded_names, NEVER)
    return description
