"""What the description says of bodies that come in and of answers that go out.

A limit is told of what comes in. An answer promises members, types, formats and choices, and
nothing that a later version could not keep: more members may come, and a limit may be raised.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.common import resolve_schema_cls
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from marshmallow import fields, validate

from app.kit.api import alternatives
from app.kit.api.alternatives import AlternativesSchema
from app.kit.api.fields import List

_INT32_MAX = 2**31 - 1
_LIMITS = (
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "maxItems",
    "maxProperties",
    "uniqueItems",
)


class _Converter(OpenAPIConverter):
    """The converter, which knows the kit's alternatives too."""

    def schema2jsonschema(self, schema: Any) -> dict[str, Any]:
        found: dict[str, Any] = super().schema2jsonschema(schema)  # type: ignore[no-untyped-call]
        found |= deepcopy(dict(getattr(schema, "keywords", {})))
        if isinstance(schema, AlternativesSchema):
            found["allOf"] = alternatives.describe(type(schema))
        return found


class _Plugin(MarshmallowPlugin):
    """The plugin, which knows the kit's lists and integers too."""

    Converter = _Converter

    def init_spec(self, spec: APISpec) -> None:
        super().init_spec(spec)
        assert self.converter is not None
        self.converter.add_attribute_function(_longest)  # type: ignore[no-untyped-call]
        self.converter.add_attribute_function(_describe_int)  # type: ignore[no-untyped-call]
        self.converter.add_attribute_function(_describe_names)  # type: ignore[no-untyped-call]


def plugin() -> MarshmallowPlugin:
    """Return the plugin that turns schemas into components, each named after its class."""
    return _Plugin(schema_name_resolver=_name)


def _longest(_converter: Any, field: Any, **_: Any) -> dict[str, int]:
    """How long a list may be, unless its own description says so."""
    if not isinstance(field, List) or "maxItems" in field.metadata:
        return {}
    return {"maxItems": field.max_items}


def _describe_int(_converter: Any, field: Any, **_: Any) -> dict[str, str]:
    """Return `int32` or `int64` for an integer field. A field without a maximum is `int64`."""
    if not isinstance(field, fields.Integer):
        return {}
    bounds = [v.max for v in field.validators if isinstance(v, validate.Range)]
    is_small = any(bound is not None and bound <= _INT32_MAX for bound in bounds)
    return {"format": "int32" if is_small else "int64"}


def _describe_names(_converter: Any, field: Any, **_: Any) -> dict[str, Any]:
    """Return the keyword about the names of members, which apispec does not know yet."""
    names = field.metadata.get("propertyNames")
    return {} if names is None else {"propertyNames": names}


def _name(schema: Any) -> str:
    # Resolving by name needs the class; a schema's default name would lose its last word.
    found = resolve_schema_cls(schema)
    return str((found[0] if isinstance(found, list) else found).__name__)


def tell_apart(paths: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Loosen the components that only answers refer to, and write out choices that may be null."""
    incoming: set[str] = set()
    for operation in (found for item in paths.values() for found in item.values()):
        _collect(operation.get("requestBody", {}), schemas, incoming)
    for name, told in list(schemas.items()):
        # A body and an answer may tell of a member by one and the same dict.
        schema = schemas[name] = deepcopy(told)
        for part in _parts(schema):
            _split_null(part)
            if name not in incoming:
                _loosen(part)


def without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a member of a form or query string, in which nulls are not sent."""
    kinds = schema.get("type")
    if not isinstance(kinds, list):
        return schema
    found = {k: v for k, v in schema.items() if k != "default" or v is not None}
    found["type"] = next(kind for kind in kinds if kind != "null")
    return found


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    """Every schema in `value`, itself included. Members named like keywords are no schemas."""
    if isinstance(value, list):
        for member in value:
            yield from _parts(member)
    if not isinstance(value, dict):
        return
    yield value
    for key, member in list(value.items()):
        if key == "properties":
            for nested in member.values():
                yield from _parts(nested)
        elif key not in ("default", "enum", "required", "example"):
            yield from _parts(member)


def _collect(value: Any, schemas: dict[str, Any], found: set[str]) -> None:
    for part in _parts(value):
        name = str(part.get("$ref", "")).rpartition("/")[2]
        if name and name not in found:
            found.add(name)
            _collect(schemas[name], schemas, found)


def _loosen(part: dict[str, Any]) -> None:
    exact = part.get("minItems") == part.get("maxItems")  # a box has four numbers for ever
    for limit in _LIMITS:
        if limit != "maxItems" or not exact:
            part.pop(limit, None)
    if part.get("additionalProperties") is False:
        del part["additionalProperties"]
    part.pop("propertyNames", None)
    if part.get("format") == "int32":
        part["format"] = "int64"


def _split_null(part: dict[str, Any]) -> None:
    """`anyOf` of the choices and null: generators of clients take null for a choice otherwise."""
    choices = part.get("enum")
    if not choices or None not in choices:
        return
    del part["enum"], part["type"]
    named = {"type": "string", "enum": [choice for choice in choices if choice is not None]}
    part["anyOf"] = [named, {"type": "null"}]
    part.pop("maxLength", None)
