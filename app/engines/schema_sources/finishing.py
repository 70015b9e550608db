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
    """Return the JSON value of a text, or the value itself, after checking its size and characters.

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
    """Return the fields in normal form. Raises SourceError if one is invalid or there are none."""
    if not fields:
        raise SourceError("", "has nothing that can be labeled", warnings=notes.listed())
    try:
        return check_fields(fields)
    except FieldError as error:
        raise SourceError(error.path, error.message, code=error.code) from None


def _check_value(value: object) -> None:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        deeper: list[object] = []
        for entry in level:
            if isinstance(entry, dict):
                deeper.extend(entry)
                deeper.extend(entry.values())
            elif isinstance(entry, list):
                deeper.extend(entry)
            elif isinstance(entry, str) and FORBIDDEN.search(entry):
                raise SourceError("", "contains a NUL character or half of a surrogate pair")
            elif isinstance(entry, int) and abs(entry) > MAX_NUMBER:
                raise SourceError("", "contains a number of more than 64 bits")
        if not deeper:
            return
        level = deeper
    raise SourceError("", f"is nested more than {MAX_DEPTH} levels deep")


def select_constraints(
    constraints: dict[str, object], kind: str, notes: Notes, path: str
) -> dict[str, object]:
    """Return the constraints that apply to a field of this type; warn about all others."""
    kept: dict[str, object] = {}
    for name, value in constraints.items():
        try:
            check_constraints({**kept, name: value}, kind, path)
        except FieldError as error:
            notes.add(path, f"{_NAMES.get(name, name)} was left out: {error.message}.")
        else:
            kept[name] = value
    return kept
