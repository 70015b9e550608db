"""OpenAPI components for request and response bodies.

A component that is used by requests includes limits. A component that is used only by responses
includes properties, types, formats and enums, but no limits, because a later version may add
properties or raise a limit.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.common import resolve_schema_cls
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from marshmallow import Schema, fields, validate

from app.kit.api import alternatives
from app.kit.api.alternatives import AlternativesSchema
from app.kit.api.fields import List

SchemaReference = type[Schema] | Schema | str
_INT32_MAX = 2**31 - 1
_LIMIT_KEYWORDS = (
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "maxItems",
    "maxProperties",
    "uniqueItems",
)


class _Converter(OpenAPIConverter):
    """A converter that adds a schema's `keywords` and its alternatives to the JSON Schema."""

    def schema2jsonschema(self, schema: object) -> dict[str, Any]:
        description: dict[str, Any] = super().schema2jsonschema(schema)  # type: ignore[no-untyped-call]
        description |= deepcopy(dict(getattr(schema, "keywords", {})))
        if isinstance(schema, AlternativesSchema):
            description["allOf"] = alternatives.build_alternative_schemas(type(schema))
        return description


class _Plugin(MarshmallowPlugin):
    """A plugin that adds `maxItems`, integer formats and `propertyNames` to the JSON Schema."""

    Converter = _Converter

    def init_spec(self, spec: APISpec) -> None:
        super().init_spec(spec)
        assert self.converter is not None
        self.converter.add_attribute_function(_get_max_items_keyword)  # type: ignore[no-untyped-call]
        self.converter.add_attribute_function(_get_int_format)  # type: ignore[no-untyped-call]
        self.converter.add_attribute_function(_get_property_names_keyword)  # type: ignore[no-untyped-call]


def build_plugin() -> MarshmallowPlugin:
    """Return the plugin that turns schemas into components, each named after its class."""
    return _Plugin(schema_name_resolver=_get_component_name)


def _get_max_items_keyword(_converter: object, field: object, **_: object) -> dict[str, int]:
    """Return `maxItems` for a list field whose metadata does not state it, else an empty dict."""
    if not isinstance(field, List) or "maxItems" in field.metadata:
        return {}
    return {"maxItems": field.max_items}


def _get_int_format(_converter: object, field: object, **_: object) -> dict[str, str]:
    """Return `format` (`int32` or `int64`) for an integer field, else an empty dict."""
    if not isinstance(field, fields.Integer):
        return {}
    maximums = [v.max for v in field.validators if isinstance(v, validate.Range)]
    is_small = any(maximum is not None and maximum <= _INT32_MAX for maximum in maximums)
    return {"format": "int32" if is_small else "int64"}


def _get_property_names_keyword(
    _converter: object, field: fields.Field[Any], **_: object
) -> dict[str, Any]:
    """Return `propertyNames` from the metadata, which apispec omits, or an empty dict."""
    names = field.metadata.get("propertyNames")
    return {} if names is None else {"propertyNames": names}


def _get_component_name(schema: SchemaReference) -> str:
    """Return the name of a schema's class. apispec's resolver would remove the suffix `Schema`."""
    schema_class = resolve_schema_cls(schema)
    return str((schema_class[0] if isinstance(schema_class, list) else schema_class).__name__)


def finish_components(paths: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Remove the limits from response-only components, and rewrite all nullable enums."""
    used_by_requests: set[str] = set()
    for operation in (operation for item in paths.values() for operation in item.values()):
        _collect_references(operation.get("requestBody", {}), schemas, used_by_requests)
    for name, component in list(schemas.items()):
        # A request component and a response component may share the dict of a property.
        schema = schemas[name] = deepcopy(component)
        for part in _iterate_schemas(schema):
            _split_null(part)
            if name not in used_by_requests:
                _remove_limits(part)


def remove_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a field's schema without null, because forms and query strings cannot send null."""
    types = schema.get("type")
    if not isinstance(types, list):
        return schema
    description = {k: v for k, v in schema.items() if k != "default" or v is not None}
    description["type"] = next(name for name in types if name != "null")
    return description


def _iterate_schemas(value: object) -> Iterator[dict[str, Any]]:
    """Yield every schema in `value`, and `value` itself if it is a dict.

    The keys in `properties` are property names, so they are not treated as keywords.
    """
    if isinstance(value, list):
        for child in value:
            yield from _iterate_schemas(child)
    if not isinstance(value, dict):
        return
    yield value
    for key, child in list(value.items()):
        if key == "properties":
            for property_schema in child.values():
                yield from _iterate_schemas(property_schema)
        elif key not in ("default", "enum", "required", "example"):
            yield from _iterate_schemas(child)


def _collect_references(value: object, schemas: dict[str, Any], names: set[str]) -> None:
    """Add to `names` the name of each component that `value` refers to, even indirectly."""
    for part in _iterate_schemas(value):
        name = str(part.get("$ref", "")).rpartition("/")[2]
        if name and name not in names:
            names.add(name)
            _collect_references(schemas[name], schemas, names)


def _remove_limits(part: dict[str, Any]) -> None:
    # A list with a fixed length, such as the four numbers of a box, keeps its length.
    has_fixed_length = part.get("minItems") == part.get("maxItems")
    for keyword in _LIMIT_KEYWORDS:
        if keyword != "maxItems" or not has_fixed_length:
            part.pop(keyword, None)
    if part.get("additionalProperties") is False:
        del part["additionalProperties"]
    part.pop("propertyNames", None)
    if part.get("format") == "int32":
        part["format"] = "int64"


def _split_null(part: dict[str, Any]) -> None:
    """Rewrite a nullable enum as `anyOf`. Otherwise client generators make null an enum value."""
    choices = part.get("enum")
    if not choices or None not in choices:
        return
    del part["enum"], part["type"]
    enum_schema = {"type": "string", "enum": [choice for choice in choices if choice is not None]}
    part["anyOf"] = [enum_schema, {"type": "null"}]
    part.pop("maxLength", None)
