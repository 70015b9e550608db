"""Generate the JSON Schema 2020-12 for the tags that the fields of a schema version accept."""

from collections.abc import Iterator, Sequence
from typing import Any

from app.engines.fields.compiled_fields import MAX_ROW, MAX_TAGS, SOURCES
from app.engines.fields.evidence import MAX_EVIDENCE_ITEMS
from app.engines.fields.json_schema.values import SHARED_DEFINITIONS, build_value_schema
from app.engines.fields.model import Field, iterate_named_fields
from app.engines.fields.source_text import MAX_EVIDENCE_TEXT_CHARS

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
DESCRIPTION = (
    "The tags of a tag set, as they are stored and as they may be sent. "
    "Tags that match this schema are accepted if they also meet the rules that JSON Schema "
    "cannot express: a column that is not multiple (x-multiple) has at most one tag per row; "
    "evidence is within the document and repeats the text of the document; `end` is greater "
    "than `start`; a box has x0 < x1 and y0 < y1; values match the named formats and, if there "
    "is no pattern, the x-pattern (RE2). Other notations may also be sent; they are normalized. "
    "Required fields (x-required) may be missing until the tag set is submitted."
)


def _build_required_properties_schema(**types: str) -> Schema:
    """Build a schema that requires properties; `types` maps their names to JSON types."""
    return {
        "properties": {name: {"type": json_type} for name, json_type in types.items()},
        "required": list(types),
    }


_EVIDENCE: Schema = {
    "type": "object",
    "properties": {
        "page": {
            "type": ["integer", "null"],
            "minimum": 1,
            "description": "The page number, counted from 1.",
        },
        "box": {
            "type": ["array", "null"],
            "description": (
                "The box [x0, y0, x1, y1] in fractions of the page size, from the top left."
            ),
            "items": {"type": "number", "minimum": 0, "maximum": 1},
            "minItems": 4,
            "maxItems": 4,
        },
        "start": {
            "type": ["integer", "null"],
            "minimum": 0,
            "description": "The start offset in the document's text, in code points.",
        },
        "end": {
            "type": ["integer", "null"],
            "minimum": 1,
            "description": "The end offset in the document's text, in code points, exclusive.",
        },
        "text": {
            "anyOf": [
                {"type": "null"},
                {"$ref": "#/$defs/Verbatim", "maxLength": MAX_EVIDENCE_TEXT_CHARS},
            ]
        },
    },
    "additionalProperties": False,
    "anyOf": [
        _build_required_properties_schema(page="integer"),
        _build_required_properties_schema(start="integer"),
        _build_required_properties_schema(text="string"),
    ],
    "allOf": [
        {
            "if": _build_required_properties_schema(box="array"),
            "then": _build_required_properties_schema(page="integer"),
        },
        {
            "if": _build_required_properties_schema(start="integer"),
            "then": _build_required_properties_schema(end="integer"),
        },
        {
            "if": _build_required_properties_schema(end="integer"),
            "then": _build_required_properties_schema(start="integer"),
        },
    ],
}

_REQUIRED_EVIDENCE: dict[str, Schema] = {
    "span": {"contains": _build_required_properties_schema(start="integer")},
    "region": {"contains": _build_required_properties_schema(box="array")},
}
"""The evidence that is required for field types whose value is a position in the document."""


def build_tags_schema(fields: Sequence[Field], *, identifier: str, title: str) -> Schema:
    """Build the JSON Schema for lists of tags. `fields` are in normal form; `identifier` is `$id`.

    `CompiledFields.check_tags` accepts every list that the schema accepts and that follows the
    rules in DESCRIPTION. The schema accepts every list that `check_tags` returns.
    """
    items = list(iterate_named_fields(fields))
    definitions: dict[str, Schema] = {name: _build_field_schema(name, item) for name, item in items}
    single_names = [name for name, field in items if "." not in name and not field["multiple"]]
    return {
        "$schema": DIALECT,
        "$id": identifier,
        "title": title,
        "description": DESCRIPTION,
        "type": "array",
        "maxItems": MAX_TAGS,
        "items": {
            "type": "object",
            "properties": {
                "field": {"enum": [name for name, _ in items]},
                "value": True,
                "row": {"type": ["integer", "null"], "minimum": 0, "maximum": MAX_ROW},
                "confidence": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
                "source": {"enum": sorted(SOURCES)},
                "evidence": {
                    "type": "array",
                    "maxItems": MAX_EVIDENCE_ITEMS,
                    "items": {"$ref": "#/$defs/Evidence"},
                },
            },
            "required": ["field", "value"],
            "additionalProperties": False,
            "allOf": [
                {"if": _build_field_condition_schema(name), "then": {"$ref": f"#/$defs/{name}"}}
                for name, _ in items
            ],
        },
        "allOf": [_build_at_most_one_tag_schema(name) for name in single_names] or [True],
        "$defs": {**definitions, "Evidence": _EVIDENCE, **_select_shared_definitions(definitions)},
    }


def _build_at_most_one_tag_schema(name: str) -> Schema:
    """Build a schema that allows at most one tag of the field `name`."""
    return {"contains": _build_field_condition_schema(name), "minContains": 0, "maxContains": 1}


def _build_field_condition_schema(name: str) -> Schema:
    return {"properties": {"field": {"const": name}}, "required": ["field"]}


def _build_field_schema(name: str, field: Field) -> Schema:
    in_table = "." in name
    description = {"description": field["description"]} if field["description"] else {}
    properties: Schema = {"value": build_value_schema(field)}
    required = ["row"] if in_table else []
    properties["row"] = {"type": "integer" if in_table else "null"}
    if field["type"] in _REQUIRED_EVIDENCE:
        properties["evidence"] = _REQUIRED_EVIDENCE[field["type"]]
        required.append("evidence")
    return {
        "title": field["label"],
        **description,
        "x-type": field["type"],
        "x-required": field["required"],
        "x-multiple": field["multiple"],
        "properties": properties,
        **({"required": required} if required else {}),
    }


def _select_shared_definitions(definitions: Schema) -> Schema:
    """Select the shared definitions to which the schema refers, directly or indirectly."""
    referenced_names = set(_list_references([definitions, _EVIDENCE]))
    for name in [*referenced_names]:
        referenced_names |= set(_list_references(SHARED_DEFINITIONS[name]))
    return {name: schema for name, schema in SHARED_DEFINITIONS.items() if name in referenced_names}


def _list_references(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        reference = schema.get("$ref")
        if isinstance(reference, str):
            yield reference.rpartition("/")[2]
        for part in schema.values():
            yield from _list_references(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _list_references(part)
