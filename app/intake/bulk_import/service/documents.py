"""Validation of the fields of imported records, with the rules of the API for documents."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from app.documents.artifacts.names import MAX_NAME_LENGTH, check_name
from app.documents.artifacts.property_rules import MAX_TEXT_LENGTH, check_metadata
from app.documents.artifacts.service.creating_many import NewText

MAX_EXTERNAL_ID_LENGTH = 255
MAX_PRIORITY = 100
_SUFFIX_LENGTH = 12
"""The number of characters reserved for the hyphen and the record's number in a default name."""


class RecordError(Exception):
    """Raised if a field of a record is invalid; the message names the field."""


def build_document(
    fields: Mapping[str, Any], *, file_name: str, number: int, schema_id: UUID | None
) -> NewText:
    """Validate the fields of a record, and build the document to create.

    The default name consists of the file name and the number of the record. `schema_id` is the
    schema for records without a schema. Raises RecordError if a field is invalid, unknown, or
    missing although it is required.
    """
    unknown_name = next((name for name in fields if name not in _CHECKS), None)
    if unknown_name is not None:
        name = check_storable(unknown_name[:64], replace=True)
        raise RecordError(f"`{name}`: Unknown field.")
    if fields.get("text") is None:
        raise RecordError("`text` is missing.")
    values: dict[str, Any] = {"name": build_default_name(file_name, number), "schema_id": schema_id}
    for name, value in fields.items():
        if value is None:
            continue
        try:
            values[name] = _CHECKS[name](value)
        except ValueError as error:
            raise RecordError(f"`{name}`: {error}") from None
    return NewText(**values)


def build_default_name(file_name: str, number: int) -> str:
    """Build the default name of a document, such as bills-12.txt for record 12 of bills.csv."""
    path = PurePosixPath(file_name)
    stem = path.stem[: MAX_NAME_LENGTH - _SUFFIX_LENGTH - len(".txt")]
    return f"{stem}-{number}.txt"


def check_storable(text: str, *, replace: bool = False) -> str:
    """Check that a string has no NUL characters, which PostgreSQL cannot store, and return it.

    If `replace` is true, NUL characters are replaced with U+FFFD. Otherwise, raises ValueError.
    """
    if "\x00" in text:
        if replace:
            return text.replace("\x00", "\ufffd")
        raise ValueError("NUL characters are not allowed.")
    return text


def _check_text(value: object, max_length: int = MAX_TEXT_LENGTH) -> str:
    if not isinstance(value, str):
        raise ValueError("Not a valid string.")  # noqa: TRY004 - reported as the record's error
    if len(value) > max_length:
        raise ValueError(f"Longer than maximum length {max_length}.")
    return check_storable(value)


def _check_name(value: object) -> str:
    return check_name(_check_text(value, MAX_NAME_LENGTH))


def _check_metadata(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("Not a valid object.")  # noqa: TRY004 - as above
    for text in (*value, *value.values()):
        if isinstance(text, str):
            check_storable(text)
    return check_metadata(value)


def _check_priority(value: object) -> int:
    if type(value) is not int or not 0 <= value <= MAX_PRIORITY:
        raise ValueError(f"Must be an integer from 0 to {MAX_PRIORITY}.")
    return value


def _check_schema_id(value: object) -> UUID:
    try:
        return UUID(_check_text(value, 36))
    except ValueError:
        raise ValueError("Not a valid UUID.") from None


def _check_due_at(value: object) -> datetime:
    text = _check_text(value, 64)
    try:
        due_at = datetime.fromisoformat(text.replace("z", "Z"))
    except ValueError:
        raise ValueError("Must be an ISO 8601 time, for example 2026-01-31T09:30:00Z.") from None
    if due_at.tzinfo is None:
        raise ValueError("Must include a time zone, for example 2026-01-31T09:30:00Z.")
    try:
        return due_at.astimezone(UTC)
    except OverflowError:
        raise ValueError("Must be an ISO 8601 time, for example 2026-01-31T09:30:00Z.") from None


_CHECKS: Mapping[str, Callable[[object], object]] = {
    "text": _check_text,
    "name": _check_name,
    "external_id": partial(_check_text, max_length=MAX_EXTERNAL_ID_LENGTH),
    "metadata": _check_metadata,
    "schema_id": _check_schema_id,
    "priority": _check_priority,
    "due_at": _check_due_at,
}
"""The functions that validate the fields of a record, by field name."""
