"""Define the JSON Schema for the evidence of a tag."""

from typing import Any

from app.engines.fields.source_text import MAX_EVIDENCE_TEXT

Schema = dict[str, Any]


def _build_required_properties_schema(**types: str) -> Schema:
    """Build a schema that requires properties; `types` maps their names to JSON types."""
    return {
        "properties": {name: {"type": json_type} for name, json_type in types.items()},
        "required": list(types),
    }


EVIDENCE: Schema = {
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
                {"$ref": "#/$defs/Verbatim", "maxLength": MAX_EVIDENCE_TEXT},
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

ANCHORS: dict[str, Schema] = {
    "span": {"contains": _build_required_properties_schema(start="integer")},
    "region": {"contains": _build_required_properties_schema(box="array")},
}
"""The evidence that is required for field types whose value is a position in the document."""
