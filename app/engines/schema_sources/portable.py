"""Read portable files: this service's JSON format for moving a schema between installations.

The API's representation of a schema, a version or a template is also accepted; properties that are
only meaningful in the original installation are ignored.
"""

from collections.abc import Mapping
from typing import Any

from app.engines.schema_messages import describe_violation
from app.engines.schema_sources.finishing import normalize_fields, parse_json
from app.engines.schema_sources.model import SchemaSourceError, SourceSchema, WarningCollector
from app.engines.schema_sources.texts import (
    MAX_DOCUMENT_TYPE_CHARS,
    MAX_NAME_CHARS,
    to_line,
    to_title,
)

FORMAT = "labeling-schema"
VERSION = 1

_FRACTION_SCHEMA = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
POLICY_PROPERTIES: Mapping[str, Any] = {
    "labels_per_artifact": {"type": "integer", "minimum": 1, "maximum": 20},
    "sample_rate": {"type": "number", "minimum": 0, "maximum": 1},
    "auto_accept_agreement": _FRACTION_SCHEMA,
    "auto_accept_confidence": _FRACTION_SCHEMA,
    "max_rejections": {"type": ["integer", "null"], "minimum": 0, "maximum": 100},
}
FILE_SCHEMA: Mapping[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["fields"],
    "properties": {
        "format": {"const": FORMAT},
        "version": {"const": VERSION},
        "name": {"type": ["string", "null"], "maxLength": 1000},
        "document_type": {"type": ["string", "null"], "maxLength": 1000},
        "description": {"type": ["string", "null"], "maxLength": 10_000},
        "guidelines": {"type": ["string", "null"], "maxLength": 100_000},
        "review_policy": {"type": ["object", "null"], "properties": POLICY_PROPERTIES},
        "required_skills": {
            "type": ["array", "null"],
            "items": {"type": "string", "minLength": 1, "maxLength": 64},
            "maxItems": 50,
        },
        "fields": {"type": "array"},
    },
}
"""The JSON Schema of the file; `fields` are validated by `check_fields`."""

# Properties of API responses that have a meaning only in the original installation.
_LOCAL_PROPERTIES = frozenset(
    {
        *("id", "status", "ai_assist_enabled", "current_version", "created_by", "created_at"),
        *("updated_at", "revision", "schema_id", "number", "published_by", "published_at"),
        *("changes", "breaking", "note", "industry", "field_count", "warnings", "dry_run"),
    }
)


def read_portable_file(content: object) -> SourceSchema:
    """Read a portable file, or the API's representation of a schema.

    Raises SchemaSourceError if `content` is not JSON, does not match FILE_SCHEMA, or has invalid
    fields.
    """
    value = parse_json(content)
    if isinstance(value, dict) and "fields" not in value and isinstance(value.get("data"), dict):
        value = value["data"]  # The file contains a whole API response.
    _validate_file(value)
    assert isinstance(value, dict)
    collector = WarningCollector()
    for name in value.keys() - FILE_SCHEMA["properties"].keys() - _LOCAL_PROPERTIES:
        collector.add(to_line(name, 64), "This property is unknown and was left out.")
    policy = value.get("review_policy") or {}
    for name in policy.keys() - POLICY_PROPERTIES.keys():
        collector.add(
            f"review_policy.{to_line(name, 64)}", "This rule is unknown and was left out."
        )
    name = to_title(value.get("name"), collector, "name", MAX_NAME_CHARS)
    document_type = to_title(
        value.get("document_type"), collector, "document_type", MAX_DOCUMENT_TYPE_CHARS
    )
    return SourceSchema(
        fields=normalize_fields(value["fields"], collector),
        warnings=sorted(collector.list_warnings(), key=lambda warning: warning.path),
        name=name or None,
        document_type=document_type or None,
        description=value.get("description") or "",
        guidelines=value.get("guidelines") or "",
        review_policy={
            name: _convert_whole_number(policy[name])
            for name in POLICY_PROPERTIES
            if name in policy
        },
        required_skills=_normalize_skills(value.get("required_skills") or []),
    )


def _convert_whole_number(value: object) -> object:
    """Convert a float such as 2.0 to an integer, because JSON Schema accepts it as an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _normalize_skills(skills: list[str]) -> list[str]:
    return [skill for skill in map(to_line, skills) if skill]


def _validate_file(value: object) -> None:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - it takes 2 MB per process

    error = next(Draft202012Validator(FILE_SCHEMA).iter_errors(value), None)
    if error is None:
        return
    path = ".".join(str(part) for part in error.absolute_path)
    if error.validator == "required":
        raise SchemaSourceError("fields", "is required")
    message = describe_violation(str(error.validator), error.validator_value)
    raise SchemaSourceError(path, message)
