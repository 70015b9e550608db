"""Build the columns of CSV and Excel files, named after the property paths in the JSON row."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.engines.formats.cells import get_headers
from app.engines.formats.model import Field, Row

_TAG_SET_PROPERTIES = ("tag_set_id", "status", "source", "revision")
_ARTIFACT_PROPERTIES = (
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
_SCHEMA_PROPERTIES = ("id", "name", "version_id", "version")
_PEOPLE_AND_DATE_PROPERTIES = ("labeler_id", "reviewer_id", "submitted_at", "decided_at")

COMMON_HEADERS = (
    *_TAG_SET_PROPERTIES,
    *(f"artifact.{name}" for name in _ARTIFACT_PROPERTIES),
    "artifact.metadata",
    *(f"schema.{name}" for name in _SCHEMA_PROPERTIES),
    *_PEOPLE_AND_DATE_PROPERTIES,
)
"""The names of the columns before the field columns."""


def list_common_values(row: Row) -> list[Any]:
    """Return a row's values for the columns in COMMON_HEADERS."""
    artifact, schema = row.get("artifact") or {}, row.get("schema") or {}
    return [
        *(row.get(name) for name in _TAG_SET_PROPERTIES),
        *(artifact.get(name) for name in _ARTIFACT_PROPERTIES),
        artifact.get("metadata") or None,
        *(schema.get(name) for name in _SCHEMA_PROPERTIES),
        *(row.get(name) for name in _PEOPLE_AND_DATE_PROPERTIES),
    ]


def list_field_headers(fields: Sequence[Field], prefix: str) -> list[str]:
    """Return the column names for fields or for table columns, each with `prefix`."""
    return [name for field in fields for name in get_headers(field, prefix + field["key"])]


def list_table_rows(value: object) -> list[Mapping[str, Any]]:
    """Return the rows in a table's value, or an empty list if the value is not a list."""
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []
