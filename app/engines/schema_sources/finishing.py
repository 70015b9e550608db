"""Provide shared steps of schema source readers: parse JSON, select constraints, check fields."""

import orjson

from app.engines.fields import Field, FieldError, check_fields
from app.engines.fields.constraints import check_constraints
from app.engines.fields.plain_text import FORBIDDEN_CHARS
from app.engines.schema_sources.model import SchemaSourceError, WarningCollector

MAX_DEPTH = 64
MAX_CHARACTERS = 4 * 1024 * 1024
MAX_INTEGER = 2**63 - 1

_CONSTRAINT_NAMES = {
    "min": "The minimum",
    "max": "The maximum",
    "min_length": "The minimum length",
    "max_length": "The maximum length",
    "pattern": "The pattern",
    "formats": "The format",
}


def parse_json(content: object) -> object:
    """Parse `content` if it is JSON text, check the value, and return it.

    Raises SchemaSourceError if the text is too long or not JSON, or if the value is nested too
    deeply, or contains a NUL character, an unpaired surrogate or an integer of more than 64 bits.
    """
    value = content
    if isinstance(content, str):
        check_text(content)
        try:
            value = orjson.loads(content)
        except orjson.JSONDecodeError as error:
            raise SchemaSourceError("", f"is not JSON: {error.msg} (line {error.lineno})") from None
    _check_value(value)
    return value


def check_text(content: str) -> None:
    """Raise SchemaSourceError if text is too long, or has a NUL or an unpaired surrogate."""
    if len(content) > MAX_CHARACTERS:
        raise SchemaSourceError("", f"is longer than {MAX_CHARACTERS:,} characters")
    if FORBIDDEN_CHARS.search(content):
        raise SchemaSourceError("", "contains a NUL character or an unpaired surrogate")


def normalize_fields(fields: list[Field], collector: WarningCollector) -> list[Field]:
    """Validate the fields and return them in normal form.

    Raises SchemaSourceError if a field is invalid, or if there are no fields.
    """
    if not fields:
        raise SchemaSourceError(
            "", "has nothing that can be labeled", warnings=collector.list_warnings()
        )
    try:
        return check_fields(fields)
    except FieldError as error:
        raise SchemaSourceError(error.path, error.message, code=error.code) from None


def _check_value(value: object) -> None:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        next_level: list[object] = []
        for entry in level:
            if isinstance(entry, dict):
                next_level.extend(entry)
                next_level.extend(entry.values())
            elif isinstance(entry, list):
                next_level.extend(entry)
            elif isinstance(entry, str) and FORBIDDEN_CHARS.search(entry):
                raise SchemaSourceError("", "contains a NUL character or an unpaired surrogate")
            elif isinstance(entry, int) and abs(entry) > MAX_INTEGER:
                raise SchemaSourceError("", "contains an integer of more than 64 bits")
        if not next_level:
            return
        level = next_level
    raise SchemaSourceError("", f"is nested more than {MAX_DEPTH} levels deep")


def select_constraints(
    constraints: dict[str, object], field_type: str, collector: WarningCollector, path: str
) -> dict[str, object]:
    """Select the constraints that the field type allows; warn about the other constraints."""
    valid_constraints: dict[str, object] = {}
    for name, value in constraints.items():
        try:
            check_constraints({**valid_constraints, name: value}, field_type, path)
        except FieldError as error:
            # An error at another path is about the lower limit: it exceeds the upper limit `name`.
            is_own_error = error.path == f"{path}.{name}"
            reason = error.message if is_own_error else "is less than the lower limit"
            collector.add(path, f"{_CONSTRAINT_NAMES.get(name, name)} was left out: it {reason}.")
        else:
            valid_constraints[name] = value
    return valid_constraints
