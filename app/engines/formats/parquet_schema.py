"""Build the Arrow schema of a Parquet file."""

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa  # type: ignore[import-untyped]

from app.engines.formats.model import Field
from app.engines.formats.parquet_values import DECIMAL_DIGITS, DECIMAL_SCALE


def build_schema(fields: Sequence[Field]) -> pa.Schema:
    """Build the schema of a file with label columns for `fields`."""
    string, bool_, int32 = pa.string(), pa.bool_(), pa.int32()
    evidence = [("page", int32), ("box", pa.list_(pa.float64()))]
    evidence += [("start", pa.int64()), ("end", pa.int64()), ("text", string)]
    tag = [("field", string), ("value", string), ("row", int32), ("confidence", pa.float64())]
    tag += [("source", string), ("evidence", pa.list_(pa.struct(evidence)))]
    artifact = [(name, string) for name in ("id", "name", "external_id", "media_type", "sha256")]
    artifact += [("metadata", string), ("page_count", int32), ("language", string)]
    artifact += [("gold", bool_), ("archived", bool_)]
    schema = [(name, string) for name in ("id", "name", "version_id")] + [("version", int32)]
    timestamp = pa.timestamp("us", tz="UTC")
    labels = [(field["key"], _build_type(field)) for field in fields]
    columns = [(name, string) for name in ("tag_set_id", "status", "source")]
    columns.append(("revision", int32))
    columns += [("artifact", pa.struct(artifact)), ("schema", pa.struct(schema))]
    columns += [("labeler_id", string), ("reviewer_id", string)]
    columns += [("submitted_at", timestamp), ("decided_at", timestamp)]
    if labels:  # Parquet has no column for a structure without fields
        columns.append(("labels", pa.struct(labels)))
    columns += [
        ("other_labels", string),
        ("tags", pa.list_(pa.struct(tag))),
        ("text", string),
    ]
    return pa.schema(columns)


def list_label_paths(schema: pa.Schema) -> list[str]:
    """Return the paths of all label columns; they use dictionaries, because values may repeat."""
    if "labels" not in schema.names:
        return []
    return list(_iterate_paths("labels", schema.field("labels").type))


def _iterate_paths(path: str, type_: pa.DataType) -> Iterator[str]:
    children = [type_.field(number) for number in range(type_.num_fields)]
    if not children:
        yield path
    elif str(type_).startswith("list"):
        yield from _iterate_paths(f"{path}.list.element", children[0].type)
    else:
        for child in children:
            yield from _iterate_paths(f"{path}.{child.name}", child.type)


def _build_type(field: Field) -> pa.DataType:
    if field["type"] == "table":
        columns = [(column["key"], _build_type(column)) for column in field["columns"]]
        return pa.list_(pa.struct(columns))
    type_ = _build_value_type(field["type"])
    return pa.list_(type_) if field.get("multiple") else type_


def _build_value_type(field_type: str) -> pa.DataType:
    if field_type == "money":
        amount = pa.decimal128(DECIMAL_DIGITS, DECIMAL_SCALE)
        return pa.struct([("amount", amount), ("currency", pa.string())])
    types: dict[str, Callable[[], pa.DataType]] = {
        "number": pa.float64,
        "integer": pa.int64,
        "boolean": pa.bool_,
        "date": pa.date32,
        "time": lambda: pa.time64("us"),
        "datetime": lambda: pa.timestamp("us", tz="UTC"),
    }
    return types.get(field_type, pa.string)()
