"""From tags to labels, and from the fields of several versions to one set of columns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.engines.formats.model import Field


def labels_from_tags(fields: Sequence[Field], tags: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Labels by field key, in the schema's order: a value, a list where the field is multiple, a
    list of rows for a table (each `{column key: value}`).

    Rows stand in the order of their numbers, and numbers that no tag has leave no gap. A field
    without a tag is absent. `tags` must fit the fields (`check_tags`).
    """
    several = {name for name, field in _named(fields) if field.get("multiple")}
    labels: dict[str, Any] = {}
    tables: dict[str, dict[int, dict[str, Any]]] = {}
    for tag in tags:
        name, row = tag["field"], tag.get("row")
        if row is None:
            key, target = name, labels
        else:
            table, _, key = name.partition(".")
            target = tables.setdefault(table, {}).setdefault(row, {})
        if name in several:
            target.setdefault(key, []).append(tag["value"])
        else:
            target[key] = tag["value"]
    for table, rows in tables.items():
        labels[table] = [rows[number] for number in sorted(rows)]
    order = [field["key"] for field in fields if field["key"] in labels]
    return {key: labels[key] for key in dict.fromkeys((*order, *labels))}


def union_fields(versions: Iterable[Sequence[Field]]) -> list[dict[str, Any]]:
    """The fields that occur in any version, each once; what an earlier one in the list says holds,
    so hand over the newest first. A field that is multiple in any version is multiple.
    """
    union: dict[str, dict[str, Any]] = {}
    for fields in versions:
        for field in fields:
            known = union.setdefault(field["key"], {**field, "columns": []})
            known["multiple"] = bool(known.get("multiple") or field.get("multiple"))
            if known["type"] == field["type"] == "table":
                known["columns"] = union_fields([known["columns"], field.get("columns") or []])
    return list(union.values())


def _named(fields: Sequence[Field]) -> Iterable[tuple[str, Field]]:
    for field in fields:
        yield field["key"], field
        for column in field.get("columns") or ():
            yield f"{field['key']}.{column['key']}", column
