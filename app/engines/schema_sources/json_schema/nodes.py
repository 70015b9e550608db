"""Resolve a location in a JSON Schema: follow references, and merge `allOf`."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import orjson

from app.engines.schema_sources.json_schema.references import ReferenceResolver
from app.engines.schema_sources.model import SchemaSourceError, WarningCollector
from app.engines.schema_sources.texts import to_line

MAX_VISITS = 50_000
"""The maximum number of visits to schemas, properties and options, including repeated visits."""
VISIT_BYTES = 1024
"""The number of bytes of a schema that count as one additional visit; see `MAX_VISITS`.

Every reference to a schema reads its content again, so large schemas count more.
"""
MAX_TRAIL = 100
"""The maximum number of nested references that lead to a schema."""
MAX_REFERENCE_CHARS = 1000

_REFERENCE_KEYWORDS = ("$ref", "$dynamicRef", "$recursiveRef")
_STRUCTURE_KEYWORDS = frozenset(
    {*_REFERENCE_KEYWORDS, "allOf", "anyOf", "oneOf", "properties", "required", "items"}
)
_LOWER_LIMITS = {"minimum", "exclusiveMinimum", "minLength", "minItems"}
_UPPER_LIMITS = {"maximum", "exclusiveMaximum", "maxLength", "maxItems"}
_IGNORED_KEYWORDS = frozenset(
    {
        *("$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary"),
        *("$comment", "$defs", "definitions", "examples", "example", "readOnly", "writeOnly"),
        *("deprecated", "nullable", "$async"),
    }
)
_HANDLED_KEYWORDS = _STRUCTURE_KEYWORDS | _IGNORED_KEYWORDS
_ADDITIONAL_KEYWORDS = frozenset(
    {"additionalProperties", "unevaluatedProperties", "additionalItems"}
)
"""Keywords for additional properties and items. Labels have no such properties or items, so
boolean values are ignored."""


@dataclass(frozen=True, slots=True)
class SchemaPart:
    """A schema that applies to a location; `trail` contains the references that led there."""

    schema: object
    path: str
    trail: frozenset[str] = frozenset()


@dataclass(slots=True)
class Node:
    """A location in the schema, with the keywords of all schemas that apply to it.

    `types` is None if any type is allowed. One alternative of each group in `alternatives` must
    apply. `options` contains the values of merged alternatives with their labels, or is None if no
    lists of values were merged. `allows_null` is True if an alternative is null, or if a
    schema has the keyword `nullable` of OpenAPI; `is_nullable` also considers types and values.
    `is_circular` is True if the location contains itself. `allows_nothing` is True if no value is
    allowed. `keywords` contains the keywords that have not been handled yet.
    """

    path: str
    types: set[str] | None = None
    keywords: dict[str, Any] = field(default_factory=dict)
    properties: dict[str, list[SchemaPart]] = field(default_factory=dict)
    required: set[str] = field(default_factory=set)
    items: list[SchemaPart] = field(default_factory=list)
    alternatives: list[list[SchemaPart]] = field(default_factory=list)
    options: list[tuple[object, str]] | None = None
    allows_null: bool = False
    is_circular: bool = False
    allows_nothing: bool = False

    @property
    def is_nullable(self) -> bool:
        """Return whether the schema explicitly allows null."""
        if "enum" in self.keywords:
            has_null = None in self.keywords["enum"] and "null" in (self.types or {"null"})
        else:
            has_null = "null" in (self.types or ())
        return self.allows_null or has_null

    def pop_keyword(self, name: str) -> object:
        """Remove a keyword and return its value, or None if it is absent."""
        return self.keywords.pop(name, None)

    def pop_text(self, name: str) -> str:
        """Remove a keyword and return its value, or an empty string if it is absent or not text."""
        value = self.pop_keyword(name)
        return value if isinstance(value, str) else ""


class Resolver:
    """Creates the nodes for the schemas in one source."""

    def __init__(self, root: dict[str, Any], collector: WarningCollector) -> None:
        self._reference_resolver = ReferenceResolver(root)
        self._collector = collector
        self._visit_count = 0
        self._weights: dict[int, int] = {}

    def build_node(self, parts: Iterable[SchemaPart]) -> Node:
        """Merge all `parts` into one node; the first title is used.

        Raises SchemaSourceError if a schema is malformed or too large, or if a reference cannot be
        resolved.
        """
        pending_parts = list(parts)[::-1]
        node = Node(pending_parts[-1].path)
        while pending_parts:
            part = pending_parts.pop()
            self._count_visits(1, part.path)
            if part.schema is False:
                node.allows_nothing = True
            elif isinstance(part.schema, dict):
                pending_parts.extend(reversed(self._apply_schema(node, part.schema, part)))
            elif part.schema is not True:
                raise SchemaSourceError(part.path, "must be a schema: an object, true or false")
        return node

    def _count_visits(self, visits: int, path: str) -> None:
        self._visit_count += visits
        if self._visit_count > MAX_VISITS:
            raise SchemaSourceError(path, "is too large after its references are resolved")

    def _get_weight(self, schema: dict[str, Any]) -> int:
        """Return the weight of a schema: the additional visits for its size without subschemas.

        The keys of the cache are object ids, which are unique because every schema stays in memory
        during the import.
        """
        weight = self._weights.get(id(schema))
        if weight is None:
            content = {k: v for k, v in schema.items() if k not in _HANDLED_KEYWORDS}
            properties = schema.get("properties")
            content |= {"keywords": list(schema), "required": schema.get("required")}
            names = list(properties) if isinstance(properties, dict) else []
            weight = len(orjson.dumps([content, names])) // VISIT_BYTES
            self._weights[id(schema)] = weight
        return weight

    def _apply_schema(
        self, node: Node, schema: dict[str, Any], part: SchemaPart
    ) -> list[SchemaPart]:
        """Apply a schema to `node`: merge its keywords, and return the other parts that apply."""
        self._count_visits(self._get_weight(schema), part.path)
        for name, value in schema.items():
            is_ignored = name in _ADDITIONAL_KEYWORDS and isinstance(value, bool)
            if not is_ignored and name not in _HANDLED_KEYWORDS:
                self._add_keyword(node, name, value, part.path)
        self._add_properties(node, schema, part)
        node.allows_null |= schema.get("nullable") is True
        groups = [
            self._follow_reference(schema[name], part, node)
            for name in _REFERENCE_KEYWORDS
            if name in schema
        ]
        groups += [self._list_parts(schema, "allOf", part)]
        for name in ("anyOf", "oneOf"):
            entries = self._list_parts(schema, name, part)
            group = [entry for entry in entries if not _is_null(entry)]
            node.allows_null |= len(group) < len(entries)
            if len(group) == 1:
                groups.append(group)
            elif group:
                node.alternatives.append(group)
        return [entry for parts in groups for entry in parts]

    def _add_properties(self, node: Node, schema: dict[str, Any], part: SchemaPart) -> None:
        properties = schema.get("properties")
        if isinstance(properties, dict):
            self._count_visits(len(properties), part.path)
            for name, subschema in properties.items():
                path = _join_path(part.path, "properties", to_line(name, 64))
                node.properties.setdefault(name, []).append(SchemaPart(subschema, path, part.trail))
        elif properties is not None:
            raise SchemaSourceError(_join_path(part.path, "properties"), "must be an object")
        required = schema.get("required")
        # In draft 3, `required` was a boolean in the schema of the property itself.
        if isinstance(required, list):
            self._count_visits(len(required), part.path)
            node.required.update(name for name in required if isinstance(name, str))
        elif required is True:
            node.keywords["required"] = True
        items = schema.get("items")
        if isinstance(items, dict | bool):
            node.items.append(SchemaPart(items, _join_path(part.path, "items"), part.trail))
        elif items is not None:
            # Up to draft 2019-09, a list in `items` had the meaning of `prefixItems`.
            node.keywords["prefixItems"] = items

    def _list_parts(self, schema: dict[str, Any], name: str, part: SchemaPart) -> list[SchemaPart]:
        group = schema.get(name, [])
        path = _join_path(part.path, name)
        if not isinstance(group, list):
            raise SchemaSourceError(path, "must be a list")
        self._count_visits(len(group), path)
        return [
            SchemaPart(entry, _join_path(path, str(position)), part.trail)
            for position, entry in enumerate(group)
        ]

    def _follow_reference(self, ref: object, part: SchemaPart, node: Node) -> list[SchemaPart]:
        if not isinstance(ref, str) or len(ref) > MAX_REFERENCE_CHARS:
            message = f"must be text of at most {MAX_REFERENCE_CHARS} characters"
            raise SchemaSourceError(_join_path(part.path, "$ref"), message)
        if len(part.trail) > MAX_TRAIL:  # the trail includes the root
            raise SchemaSourceError(
                part.path, f"is reached through more than {MAX_TRAIL} references"
            )
        if ref in part.trail:
            node.is_circular = True
            self._collector.add(
                part.path, "A reference to a schema that contains this reference was left out."
            )
            return []
        schema, path = self._reference_resolver.find(ref, part.path)
        return [SchemaPart(schema, path, part.trail | {ref})]

    def _add_keyword(self, node: Node, name: str, value: object, path: str) -> None:
        if name == "type":
            self._restrict_types(node, value, path)
            return
        if name == "enum":
            self._restrict_values(node, value, path)
            return
        if name not in node.keywords:
            node.keywords[name] = value
            return
        current = node.keywords[name]
        if name in _LOWER_LIMITS | _UPPER_LIMITS and _is_number(current) and _is_number(value):
            node.keywords[name] = (
                max(current, value) if name in _LOWER_LIMITS else min(current, value)
            )
        elif current != value and name not in ("title", "description", "default"):
            self._collector.add(
                path,
                f"{to_line(name, 64)} has different values: only the first was used.",
            )

    def _restrict_values(self, node: Node, values: object, path: str) -> None:
        if not isinstance(values, list):
            raise SchemaSourceError(_join_path(path, "enum"), "must be a list")
        self._count_visits(len(values), path)
        if "enum" not in node.keywords:
            node.keywords["enum"] = values
            return
        # Removing duplicates keeps the list from growing when lists are merged repeatedly.
        allowed_texts = {orjson.dumps(entry) for entry in values}
        by_text = {orjson.dumps(entry): entry for entry in node.keywords["enum"]}
        node.keywords["enum"] = [entry for text, entry in by_text.items() if text in allowed_texts]

    def _restrict_types(self, node: Node, value: object, path: str) -> None:
        entries = value if isinstance(value, list) else [value]
        types = {entry for entry in entries if isinstance(entry, str)}
        if node.types is not None:
            common_types = {
                *(node.types & types),
                *_narrow_to_integer(node.types, types),
                *_narrow_to_integer(types, node.types),
            }
            if not common_types:
                self._collector.add(
                    path, "Two types contradict each other: the first type was used."
                )
            types = common_types or node.types
        node.types = types


def _narrow_to_integer(left: set[str], right: set[str]) -> set[str]:
    return {"integer"} if "integer" in left and "number" in right else set()


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_null(part: SchemaPart) -> bool:
    schema = part.schema
    if not isinstance(schema, dict):
        return False
    is_null_type = schema.get("type") in ("null", ["null"]) or schema.get("enum") == [None]
    return is_null_type or ("const" in schema and schema["const"] is None)


def _join_path(path: str, *names: str) -> str:
    return ".".join(filter(None, (path, *names)))
