"""Convert tags to labels, and merge the fields from several schema versions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.engines.formats.model import Field


class LabelBuilder:
    """A builder that converts the tags of a tag set to labels, for one schema version."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self._field_keys = [field["key"] for field in fields]
        self._multiple_names = frozenset(
            name for name, column in build_column_map(fields).items() if column.get("multiple")
        )

    def build(self, tags: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """Build a tag set's labels from its tags, by field key and in schema order.

        A label is a value, or a list of values if the field has multiple values. For a table, it
        is a list of rows, and each row maps column keys to values. Rows are sorted by row
        number; missing row numbers are skipped. Fields without a tag are omitted. The tags must be
        valid for the schema version.
        """
        labels: dict[str, Any] = {}
        tables: dict[str, dict[int, dict[str, Any]]] = {}
        for tag in tags:
            name, row = tag["field"], tag.get("row")
            if row is None:
                key, target = name, labels
            else:
                table, _, key = name.partition(".")
                target = tables.setdefault(table, {}).setdefault(row, {})
            if name in self._multiple_names:
                target.setdefault(key, []).append(tag["value"])
            else:
                target[key] = tag["value"]
        for table, rows in tables.items():
            labels[table] = [rows[number] for number in sorted(rows)]
        ordered_keys = [key for key in self._field_keys if key in labels]
        if ordered_keys == list(labels):
            return labels
        return {key: labels[key] for key in dict.fromkeys((*ordered_keys, *labels))}


def build_column_map(fields: Sequence[Field]) -> dict[str, Field]:
    """Map names to fields; a table is replaced by its columns, with names like `items.quantity`."""
    columns: dict[str, Field] = {}
    for field in fields:
        if field["type"] == "table":
            columns |= {f"{field['key']}.{column['key']}": column for column in field["columns"]}
        else:
            columns[field["key"]] = field
    return columns


def merge_fields(versions: Iterable[Sequence[Field]]) -> list[dict[str, Any]]:
    """Merge the fields of all schema versions, and the columns of tables, so that each occurs once.

    If definitions of a field differ, the first definition is used, so pass the newest version
    first. A field that has multiple values in any version has multiple values in the result. A
    table that has another type in an older version gets `has_plain_values`.
    """
    merged_fields: dict[str, dict[str, Any]] = {}
    for fields in versions:
        for field in fields:
            merged_field = merged_fields.setdefault(field["key"], {**field, "columns": []})
            merged_field["multiple"] = bool(merged_field.get("multiple") or field.get("multiple"))
            if merged_field["type"] == field["type"] == "table":
                merged_field["columns"] = merge_fields(
                    [merged_field["columns"], field.get("columns") or []]
                )
            elif merged_field["type"] == "table":
                merged_field["has_plain_values"] = True
    return list(merged_fields.values())
