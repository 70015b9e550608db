"""Define the export format Apache Parquet."""

import json
from typing import TYPE_CHECKING, Any, BinaryIO

from app.engines.formats.model import Fields, Format, Options
from app.engines.formats.parquet_values import build_converter
from app.engines.formats.sample import SAMPLE_FIELDS, SAMPLE_ROW

if TYPE_CHECKING:
    from app.engines.formats.parquet_writer import ParquetWriter

_OPTIONS: dict[str, Any] = {
    "compression": {
        "enum": ["snappy", "zstd", "gzip", "none"],
        "default": "snappy",
        "description": (
            "The compression of the data pages. zstd gives smaller files; all readers support "
            "snappy."
        ),
    },
}


def _create_writer(out: BinaryIO, fields: Fields, options: Options) -> "ParquetWriter":
    # Imported on first use, because pyarrow uses 50 MB of memory per process.
    from app.engines.formats.parquet_writer import ParquetWriter  # noqa: PLC0415

    return ParquetWriter(out, fields, options)


def _render_sample() -> str:
    """Return the example tag set's row as JSON text, because Parquet files are binary."""
    converters = {field["key"]: build_converter(field) for field in SAMPLE_FIELDS}
    labels = {key: converters[key](value) for key, value in SAMPLE_ROW["labels"].items()}
    artifact = {
        **SAMPLE_ROW["artifact"],
        "metadata": json.dumps(SAMPLE_ROW["artifact"]["metadata"]),
    }
    extra_columns = {"other_labels": None, "tags": None, "text": None}
    row = {**SAMPLE_ROW, "artifact": artifact, "labels": labels, **extra_columns}
    return json.dumps(row, default=str, indent=1) + "\n"


FORMAT = Format(
    id="parquet",
    name="Apache Parquet",
    media_type="application/vnd.apache.parquet",
    extension="parquet",
    description=(
        "Typed columns for analysis, one row per tag set; tables are lists of structures. A value "
        "that does not fit the type of its column is kept as JSON in `other_labels`."
    ),
    options=_OPTIONS,
    keeps=("values", "tables", "evidence", "confidence", "text"),
    default_parts=("evidence",),
    sample=_render_sample(),
    writer=_create_writer,
    keeps_removed=True,
    needs_process=True,
)
