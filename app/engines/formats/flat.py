"""Build the columns of CSV and Excel files, named after the property paths in the JSON row."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.engines.formats.cells import list_column_names
from app.engines.formats.model import Field, Row

SEPARATOR_OPTION = {
    "type": "string",
    "minLength": 1,
    "maxLength": 10,
    "default": "|",
    "description": "The separator between the values of a field with multiple values.",
}
_TAG_SET_PROPERTIES = ("tag_set_id", "status", "source", "revision")
_ARTIFACT_PROPERTIES = (
    *("id", "name", "external_id", "media_type", "sha256"),
    *("page_count", "language", "gold", "archived"),
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
_ROW_HEADERS = ("tag_set_id", "row")


def list_common_values(row: Row) -> list[Any]:
    """Return a row's values for the columns in COMMON_HEADERS."""
    artifact, schema = row.get("artifact") or {}, row.get("schema") or {}
    return [
        *map(row.get, _TAG_SET_PROPERTIES),
        *map(artifact.get, _ARTIFACT_PROPERTIES),
        artifact.get("metadata") or None,
        *map(schema.get, _SCHEMA_PROPERTIES),
        *map(row.get, _PEOPLE_AND_DATE_PROPERTIES),
    ]


def list_field_headers(fields: Sequence[Field], prefix: str) -> list[str]:
    """Return the column names for fields or for table columns, each with `prefix`."""
    return [name for field in fields for name in list_column_names(field, prefix + field["key"])]


def list_row_headers(table: Field) -> list[str]:
    """Return the column names for the rows of one table: identifiers, and the table's columns.

    If a column has the name of an identifier, the table's key is added before the column's name.
    """
    names = list_field_headers(table["columns"], "")
    return [
        *_ROW_HEADERS,
        *(f"{table['key']}.{name}" if name in _ROW_HEADERS else name for name in names),
    ]


def list_plain_fields(fields: Sequence[Field]) -> list[Field]:
    """Return the fields that have a plain column: one that does not belong to a table.

    A table has a plain column only if an older schema version defines the field with another type.
    The column contains the values of that version as text.
    """
    return [
        {**field, "type": "text"} if field["type"] == "table" else field
        for field in fields
        if field["type"] != "table" or field.get("has_plain_values")
    ]


class LabelSplitter:
    """Splits the labels of a tag set into values for plain columns and rows for tables.

    Only a field with `has_plain_values` can have both: its label is a list of rows if the tag set's
    schema version defines the field as a table, and a value for a plain column otherwise.
    """

    def __init__(self, fields: Sequence[Field]) -> None:
        self._column_keys_by_table = {
            field["key"]: {column["key"] for column in field["columns"]}
            for field in fields
            if field.get("has_plain_values")
        }

    def split(self, labels: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Return the labels for the columns of `list_plain_fields`, and the labels for the tables.

        The label of a field without `has_plain_values` is in both results.
        """
        if not self._column_keys_by_table:
            return labels, labels
        plain_labels, table_labels = dict(labels), dict(labels)
        for key, column_keys in self._column_keys_by_table.items():
            is_table = _is_table(labels.get(key), column_keys)
            other_labels = plain_labels if is_table else table_labels
            other_labels.pop(key, None)
        return plain_labels, table_labels


def _is_table(value: object, column_keys: set[str]) -> bool:
    """Return whether a value is a list of table rows, not a list of other objects."""
    return isinstance(value, list) and all(
        isinstance(row, Mapping) and row.keys() <= column_keys for row in value
    )


def list_table_rows(value: object) -> list[Mapping[str, Any]]:
    """Return the rows in a table's value, or an empty list if the value is not a list."""
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []
