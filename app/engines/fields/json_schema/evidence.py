"""Define the JSON Schema of evidence."""

from typing import Any

from app.engines.fields.source_text import MAX_EVIDENCE_TEXT

Schema = dict[str, Any]


def _has(**types: str) -> Schema:
    """Return a schema that requires the given members, each with the given type."""
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
            "description": "Offset in the document's text, in code points.",
        },
        "end": {
            "type": ["integer", "null"],
            "minimum": 1,
            "description": "Offset of the end, in code points, exclusive.",
        },
        "text": {
            "anyOf": [
                {"type": "null"},
                {"$ref": "#/$defs/Verbatim", "maxLength": MAX_EVIDENCE_TEXT},
            ]
        },
    },
    "additionalProperties": False,
    "anyOf": [_has(page="integer"), _has(start="integer"), _has(text="string")],
    "allOf": [
        {"if": _has(box="array"), "then": _has(page="integer")},
        {"if": _has(start="integer"), "then": _has(end="integer")},
        {"if": _has(end="integer"), "then": _has(start="integer")},
    ],
}

ANCHORS: dict[str, Schema] = {
    "span": {"contains": _has(start="integer")},
    "region": {"contains": _has(box="array")},
}
"""The evidence required for the types whose value is a position in the document."""
