"""Validate the field list of a schema, and fill in all defaults."""

import re
from typing import Any

from app.engines.fields.constraints import check_constraints
from app.engines.fields.errors import FieldError, ValueProblem
from app.engines.fields.model import TYPES, Field
from app.engines.fields.plain_text import check_text, shorten_name

MAX_FIELDS = 500
MAX_COLUMNS = 100
MAX_OPTIONS = 1000
MAX_FIELDS_AND_COLUMNS = 2000
MAX_TOTAL_OPTIONS = 20_000
MAX_KEY_CHARS = 64
MAX_LABEL_CHARS = 200
MAX_DESCRIPTION_CHARS = 5000

_KEY = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_NON_BOOLEAN_PROPERTIES = frozenset(
    {"key", "label", "type", "description", "options", "columns", "constraints"}
)
_PROPERTIES = _NON_BOOLEAN_PROPERTIES | {"required", "multiple", "ai_assist"}


def check_fields(fields: object) -> list[Field]:
    """Check the fields of a schema, and return them in normal form with all properties.

    The properties are key, label, type, required, multiple, description, options (a list of
    objects with value and label), columns (a list of fields), constraints (an object) and
    ai_assist. A missing label is derived from the key. A span is multiple by default. A property
    that is null counts as absent.

    Raises FieldError with the code `duplicate_field_name`, `invalid_field_type` or
    `validation_error` and the path of the first problem.
    """
    checked_fields = _check_field_list(fields, "fields", MAX_FIELDS, nested=False)
    count = len(checked_fields) + sum(len(field["columns"]) for field in checked_fields)
    if count > MAX_FIELDS_AND_COLUMNS:
        raise FieldError(
            "fields", f"has more than {MAX_FIELDS_AND_COLUMNS:,} fields and columns in total"
        )
    all_fields = [
        *checked_fields,
        *(column for field in checked_fields for column in field["columns"]),
    ]
    if sum(len(field["options"]) for field in all_fields) > MAX_TOTAL_OPTIONS:
        raise FieldError("fields", f"has more than {MAX_TOTAL_OPTIONS:,} options in total")
    return checked_fields


def _check_field_list(raw: object, path: str, limit: int, *, nested: bool) -> list[Field]:
    if not isinstance(raw, list):
        raise FieldError(path, "must be a list")
    if len(raw) > limit:
        raise FieldError(path, f"has more than {limit:,} entries")
    checked_fields: list[Field] = []
    position_by_key: dict[str, int] = {}
    for position, entry in enumerate(raw):
        field = _check_field(entry, f"{path}.{position}", nested=nested)
        first_position = position_by_key.setdefault(field["key"], position)
        if first_position != position:
            message = f"is already the key of {path}.{first_position}"
            raise FieldError(f"{path}.{position}.key", message, "duplicate_field_name")
        checked_fields.append(field)
    return checked_fields


def _check_field(raw: object, path: str, *, nested: bool) -> Field:
    properties = _check_properties(raw, path, _PROPERTIES)
    key = _check_key(properties.get("key"), f"{path}.key")
    field_type = _check_type(properties.get("type"), f"{path}.type", nested=nested)
    label = _check_text(properties.get("label"), f"{path}.label", MAX_LABEL_CHARS).strip()
    multiple = _check_flag(properties, "multiple", path, default=field_type == "span")
    if multiple and field_type == "table":
        raise FieldError(
            f"{path}.multiple", "must be false for a table, which always allows multiple rows"
        )
    return {
        "key": key,
        "label": label or key.replace("_", " ").capitalize(),
        "type": field_type,
        "required": _check_flag(properties, "required", path, default=False),
        "multiple": multiple,
        "description": _check_text(
            properties.get("description"), f"{path}.description", MAX_DESCRIPTION_CHARS
        ),
        "options": _check_options(properties.get("options"), field_type, f"{path}.options"),
        "columns": _check_columns(properties.get("columns"), field_type, f"{path}.columns"),
        "constraints": check_constraints(
            properties.get("constraints"), field_type, f"{path}.constraints"
        ),
        "ai_assist": _check_flag(properties, "ai_assist", path, default=True),
    }


def _check_key(raw: object, path: str) -> str:
    if not isinstance(raw, str) or len(raw) > MAX_KEY_CHARS or not _KEY.fullmatch(raw):
        raise FieldError(path, f"must be snake_case with at most {MAX_KEY_CHARS} characters")
    return raw


def _check_type(raw: object, path: str, *, nested: bool) -> str:
    if raw is None:
        raise FieldError(path, "is required")
    if not isinstance(raw, str) or raw not in TYPES:
        raise FieldError(path, f"must be one of {', '.join(TYPES)}", "invalid_field_type")
    if nested and raw == "table":
        raise FieldError(path, "must not be a table inside another table", "invalid_field_type")
    return raw


def _check_options(raw: object, field_type: str, path: str) -> list[dict[str, str]]:
    if field_type != "choice":
        return _check_absent(raw, path, "is only allowed for a field of type choice")
    if not isinstance(raw, list) or not raw:
        raise FieldError(path, "must be a list with at least one option")
    if len(raw) > MAX_OPTIONS:
        raise FieldError(path, f"has more than {MAX_OPTIONS:,} entries")
    options: list[dict[str, str]] = []
    option_values: set[str] = set()
    for position, entry in enumerate(raw):
        option_path = f"{path}.{position}"
        properties = _check_properties(entry, option_path, frozenset({"value", "label"}))
        value = _check_text(
            properties.get("value"), f"{option_path}.value", MAX_LABEL_CHARS
        ).strip()
        if not value:
            raise FieldError(f"{option_path}.value", "is required")
        if value in option_values:
            raise FieldError(f"{option_path}.value", "is already the value of another option")
        option_values.add(value)
        label = _check_text(
            properties.get("label"), f"{option_path}.label", MAX_LABEL_CHARS
        ).strip()
        options.append({"value": value, "label": label or value})
    return options


def _check_columns(raw: object, field_type: str, path: str) -> list[Field]:
    if field_type != "table":
        return _check_absent(raw, path, "is only allowed for a field of type table")
    if not raw:
        raise FieldError(path, "needs at least one column")
    return _check_field_list(raw, path, MAX_COLUMNS, nested=True)


def _check_absent(raw: object, path: str, message: str) -> list[Any]:
    if raw is not None and raw != []:
        raise FieldError(path, message)
    return []


def _check_properties(raw: object, path: str, allowed_names: frozenset[str]) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise FieldError(path, "must be an object")
    for name in raw:
        if name not in allowed_names:
            raise FieldError(f"{path}.{shorten_name(name)}", "is unknown")
    return raw


def _check_text(raw: object, path: str, limit: int) -> str:
    try:
        return "" if raw is None else check_text(raw, limit)
    except ValueProblem as problem:
        raise FieldError(path, problem.message) from None


def _check_flag(properties: dict[str, Any], name: str, path: str, *, default: bool) -> bool:
    raw = properties.get(name)
    if raw is None:
        return default
    if not isinstance(raw, bool):
        raise FieldError(f"{path}.{name}", "must be true or false")
    return raw
