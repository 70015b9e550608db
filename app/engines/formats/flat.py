"""Name the columns of flat files, after the paths of the members in the JSON row."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.engines.formats.cells import get_headers
from app.engines.formats.model import Field, Row

_TAG_SET_MEMBERS = ("tag_set_id", "status", "source", "revision")
_ARTIFACT_MEMBERS = (
    "id",
    "name",
    "external_id",
    "media_type",
    "sha256",
    "page_count",
    "language",
    "gold",
    "archived",
)
_SCHEMA_MEMBERS = ("id", "name", "version_id", "version")
_PEOPLE_MEMBERS = ("labeler_id", "reviewer_id", "submitted_at", "decided_at")

COMMON_HEADERS = (
    *_TAG_SET_MEMBERS,
    *(f"artifact.{name}" for name in _ARTIFACT_MEMBERS),
    "artifact.metadata",
    *(f"schema.{name}" for name in _SCHEMA_MEMBERS),
    *_PEOPLE_MEMBERS,
)
"""The columns before those of the fields."""


def list_common_values(row: Row) -> list[Any]:
    """Return the values of COMMON_HEADERS."""
    artifact, schema = row.get("artifact") or {}, row.get("schema") or {}
    return [
        *(row.get(name) for name in _TAG_SET_MEMBERS),
        *(artifact.get(name) for name in _ARTIFACT_MEMBERS),
        artifact.get("metadata") or None,
        *(schema.get(name) for name in _SCHEMA_MEMBERS),
        *(row.get(name) for name in _PEOPLE_MEMBERS),
    ]


def list_field_headers(fields: Sequence[Field], prefix: str) -> list[str]:
    """Return the columns of fields, or of the columns of a table."""
    return [name for field in fields for name in get_headers(field, prefix + field["key"])]


def list_table_rows(value: object) -> list[Mapping[str, Any]]:
    """Return the rows of a table; a value of another type has none."""
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []
