"""Provide the first and last steps of all readers: parse JSON, and validate the fields."""

import orjson

from app.engines.fields import Field, FieldError, check_fields
from app.engines.fields.constraints import check_constraints
from app.engines.fields.plain import FORBIDDEN
from app.engines.schema_sources.model import Notes, SourceError

MAX_DEPTH = 64
MAX_CHARACTERS = 4 * 1024 * 1024
MAX_NUMBER = 2**63 - 1

_NAMES = {
    "min": "The minimum",
    "max": "The maximum",
    "min_length": "The minimum length",
    "max_length": "The maximum length",
    "pattern": "The pattern",
    "formats": "The format",
}


def parse_json(content: object) -> object:
    """Return a JSON value, which may be given as text, after checking its size and characters.

    Raises SourceError.
    """
    value = content
    if isinstance(content, str):
        check_text(content)
        try:
            value = orjson.loads(content)
        except orjson.JSONDecodeError as error:
            raise SourceError("", f"is not JSON: {error.msg} (line {error.lineno})") from None
    _check_value(value)
    return value


def check_text(content: str) -> None:
    """Raise SourceError for a text that is too long or contains a NUL or a lone surrogate."""
    if len(content) > MAX_CHARACTERS:
        raise SourceError("", f"is longer than {MAX_CHARACTERS:,} characters")
    if FORBIDDEN.search(content):
        raise SourceError("", "contains a NUL character or half of a surrogate pair")


def finish_fields(fields: list[Field], notes: Notes) -> list[Field]:
    """Return the fields in normal form. Raises SourceError if a field is invalid or none exists."""
    if not fields:
        raise SourceError("", "has nothing that can be labeled", warnings=notes.list_warnings())
    try:
        return check_fields(fields)
    except FieldError as error:
        raise SourceError(error.path, error.message, code=error.code) from None


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
            elif isinstance(entry, str) and FORBIDDEN.search(entry):
                raise SourceError("", "contains a NUL character or half of a surrogate pair")
            elif isinstance(entry, int) and abs(entry) > MAX_NUMBER:
                raise SourceError("", "contains a number of more than 64 bits")
        if not next_level:
            return
        level = next_level
    raise SourceError("", f"is nested more than {MAX_DEPTH} levels deep")


def select_constraints(
    constraints: dict[str, object], field_type: str, notes: Notes, path: str
) -> dict[str, object]:
    """Return the constraints that apply to a field of this type; warn about other constraints."""
    valid_constraints: dict[str, object] = {}
    for name, value in constraints.items():
        try:
            check_constraints({**valid_constraints, name: value}, field_type, path)
        except FieldError as error:
            notes.add(path, f"{_NAMES.get(name, name)} was left out: {error.message}.")
        else:
            valid_constraints[name] = value
    return valid_constraints
