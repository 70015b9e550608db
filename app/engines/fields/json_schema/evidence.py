"""Define the JSON Schema for the evidence of a tag."""

from typing import Any

from app.engines.fields.source_text import MAX_EVIDENCE_TEXT

Schema = dict[str, Any]


def _require_types(**types: str) -> Schema:
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
        _require_types(page="integer"),
        _require_types(start="integer"),
        _require_types(text="string"),
    ],
    "allOf": [
        {"if": _require_types(box="array"), "then": _require_types(page="integer")},
        {
            "if": _require_types(start="integer"),
            "then": _require_types(end="integer"),
        },
        {
            "if": _require_types(end="integer"),
            "then": _require_types(start="integer"),
        },
    ],
}

ANCHORS: dict[str, Schema] = {
    "span": {"contains": _require_types(start="integer")},
    "region": {"contains": _require_types(box="array")},
}
"""The evidence that is required for field types whose value is a position in the document."""
