"""JSON in, and fields out: what all the readers begin and end with."""

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
    "min_length": "The least length",
    "max_length": "The greatest length",
    "pattern": "The pattern",
    "formats": "The format",
}


def json_of(content: object) -> object:
    """The JSON value of a text, or the value itself; bounded, and of text that a database holds.

    Raises SourceError.
    """
    value = content
    if isinstance(content, str):
        bounded(content)
        try:
            value = orjson.loads(content)
        except orjson.JSONDecodeError as error:
            raise SourceError("", f"is not JSON: {error.msg} (line {error.lineno})") from None
    _check(value)
    return value


def bounded(content: str) -> None:
    """Raise SourceError for a text that is too long, or holds a NUL or half a surrogate pair."""
    if len(content) > MAX_CHARACTERS:
        raise SourceError("", f"is longer than {MAX_CHARACTERS:,} characters")
    if FORBIDDEN.search(content):
        raise SourceError("", "holds a NUL character or half of a surrogate pair")


def checked(fields: list[Field], notes: Notes) -> list[Field]:
    """The fields in normal form. Raises SourceError, also when there are none."""
    if not fields:
        raise SourceError("", "has nothing that can be labeled", warnings=notes.listed())
    try:
        return check_fields(fields)
    except FieldError as error:
        raise SourceError(error.path, error.message, code=error.code) from None


def _check(value: object) -> None:
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
                raise SourceError("", "holds a NUL character or half of a surrogate pair")
            elif isinstance(entry, int) and abs(entry) > MAX_NUMBER:
                raise SourceError("", "holds a number of more than 64 bits")
        if not deeper:
            return
        level = deeper
    raise SourceError("", f"is nested more than {MAX_DEPTH} levels deep")


def fitting(wanted: dict[str, object], kind: str, notes: Notes, path: str) -> dict[str, object]:
    """Those of the constraints that a field of the type can have; a warning for each other."""
    kept: dict[str, object] = {}
    for name, value in wanted.items():
        try:
            check_constraints({**kept, name: value}, kind, path)
        except FieldError as error:
            notes.add(path, f"{_NAMES.get(name, name)} was left out: {error.message}.")
        else:
            kept[name] = value
    return kept
