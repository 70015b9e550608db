"""Normalize whole tables: a list of rows, each an object of column values."""

from app.engines.fields.errors import ValueProblem
from app.engines.fields.model import Field, JsonValue, Normaliser
from app.engines.fields.values import normaliser

MAX_ROWS = 5000


def make(field: Field) -> Normaliser:
    """Return the normalizer of a table field: `[{column key: value, or a list if multiple}]`."""
    columns: dict[str, tuple[Normaliser, bool]] = {
        column["key"]: (normaliser(column), bool(column.get("multiple")))
        for column in field.get("columns") or []
    }

    def cell(key: object, value: object) -> JsonValue:
        if not isinstance(key, str) or key not in columns:
            raise ValueProblem("has an unknown column")
        normalise, multiple = columns[key]
        try:
            if not multiple:
                return normalise(value)
            return [normalise(item) for item in (value if isinstance(value, list) else [value])]
        except ValueProblem as problem:
            raise ValueProblem(f"has an invalid value in {key}: {problem.message}") from None

    def normalise(value: object) -> JsonValue:
        if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
            raise ValueProblem("must be a list of rows, each an object")
        if len(value) > MAX_ROWS:
            raise ValueProblem(f"has more than {MAX_ROWS:,} rows")
        return [{key: cell(key, part) for key, part in row.items()} for row in value]

    return normalise
