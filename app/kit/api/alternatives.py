"""Bodies that say one thing in one of several ways, each by members of its own.

One declaration is both the check and what the description says of it.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from marshmallow import ValidationError, validates_schema

from app.kit.api.fields import Schema

NEVER: dict[str, Any] = {"not": {}}
"""A JSON Schema that no value matches. Client generators do not accept the literal `false`."""
Way = tuple[str, ...]
"""A member, and those that are sent with it and only with it."""


class AlternativesSchema(Schema):
    """A body that has exactly one of the `alternatives`, and of those of each base class."""

    alternatives: ClassVar[tuple[Way, ...]] = ()

    @classmethod
    def list_alternatives(cls) -> Iterator[tuple[Way, ...]]:
        """Yield the alternatives of the class and of its bases."""
        for base in cls.__mro__:
            found = vars(base).get("alternatives")
            if found:
                yield found

    @validates_schema
    def _check_alternatives(self, data: dict[str, Any], **_: Any) -> None:
        for ways in self.list_alternatives():
            _check(data, ways)


def _check(data: dict[str, Any], ways: tuple[Way, ...]) -> None:
    leading = [way[0] for way in ways]
    if sum(name in data for name in leading) != 1:
        raise ValidationError(f"Send either {' or '.join(leading)}.", leading[0])
    for first, *companions in ways:
        for name in companions:
            if (first in data) != (name in data):
                raise ValidationError(f"{first} and {name} are sent together.", name)


def describe(schema: type[AlternativesSchema]) -> list[dict[str, Any]]:
    """Return the alternatives as JSON Schema, one for each group.

    They go into `allOf`: beside `properties`, generators of clients take `oneOf` for a choice of
    types and lose the members.
    """
    return [
        {"oneOf": [_describe_way(way, ways) for way in ways]} for ways in schema.list_alternatives()
    ]


def _describe_way(way: Way, ways: tuple[Way, ...]) -> dict[str, Any]:
    described: dict[str, Any] = {"required": list(way)}
    if any(len(other) > 1 for other in ways):  # else `oneOf` says it
        others = [name for other in ways if other != way for name in other]
        described["properties"] = dict.fromkeys(others, NEVER)
    return described
