"""Normalize whole tables, which are lists of rows; each row is an object of column values."""

from app.engines.fields.errors import ValueProblem
from app.engines.fields.model import Field, JsonValue, Normalizer
from app.engines.fields.plain_text import shorten_name
from app.engines.fields.values import get_normalizer

MAX_TABLE_ROWS = 5000


def build_normalizer(field: Field) -> Normalizer:
    """Build the normalizer for a table field.

    Each row maps column keys to values; a column that is multiple has a list of values.
    """
    columns: dict[str, tuple[Normalizer, bool]] = {
        column["key"]: (get_normalizer(column), bool(column.get("multiple")))
        for column in field.get("columns") or []
    }

    def normalize_cell(key: object, value: object) -> JsonValue:
        if not isinstance(key, str) or key not in columns:
            raise ValueProblem(f"has the unknown column {shorten_name(key)}")
        normalize, multiple = columns[key]
        try:
            if not multiple:
                return normalize(value)
            return [normalize(item) for item in (value if isinstance(value, list) else [value])]
        except ValueProblem as problem:
            raise ValueProblem(f"has an invalid value in {key}: {problem.message}") from None

    def normalize(value: object) -> JsonValue:
        if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
            raise ValueProblem("must be a list of rows, each an object")
        if len(value) > MAX_TABLE_ROWS:
            raise ValueProblem(f"has more than {MAX_TABLE_ROWS:,} rows")
        return [{key: normalize_cell(key, cell) for key, cell in row.items()} for row in value]

    return normalize
