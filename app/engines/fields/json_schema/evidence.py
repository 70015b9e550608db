"""Define the JSON Schema of evidence."""

from typing import Any

from app.engines.fields.source_text import MAX_EVIDENCE_TEXT

Schema = dict[str, Any]


def _build_required_types(**types: str) -> Schema:
    """Return a schema that requires the given properties, each with the given type."""
    return {
        "properties": {name: {"type": kind} for name, kind in types.items()},
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
            "description": "[x0, y0, x1, y1], each from 0 to 1, from the top left of the page.",
            "items": {"type": "number", "minimum": 0, "maximum": 1},
            "minItems": 4,
            "maxItems": 4,
        },
        "start": {
            "type": ["integer", "null"],
            "minimum": 0,
            "description": "Offset of the start in the document's text, in code points.",
        },
        "end": {
            "type": ["integer", "null"],
            "minimum": 1,
            "description": "Offset of the end in the document's text, in code points, exclusive.",
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
        _build_required_types(page="integer"),
        _build_required_types(start="integer"),
        _build_required_types(text="string"),
    ],
    "allOf": [
        {"if": _build_required_types(box="array"), "then": _build_required_types(page="integer")},
        {
            "if": _build_required_types(start="integer"),
            "then": _build_required_types(end="integer"),
        },
        {
            "if": _build_required_types(end="integer"),
            "then": _build_required_types(start="integer"),
        },
    ],
}

ANCHORS: dict[str, Schema] = {
    "span": {"contains": _build_required_types(start="integer")},
    "region": {"contains": _build_required_types(box="array")},
}
"""The evidence required for the types whose value is a position in the document."""
