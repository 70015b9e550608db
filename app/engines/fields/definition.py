"""Validate a schema's list of fields and fill in all defaults."""

import re
from typing import Any

from app.engines.fields.constraints import check_constraints
from app.engines.fields.errors import FieldError, ValueProblem
from app.engines.fields.model import TYPES, Field
from app.engines.fields.plain import check_text, shorten_name

MAX_FIELDS = 500
MAX_COLUMNS = 100
MAX_OPTIONS = 1000
MAX_FIELDS_AND_COLUMNS = 2000
MAX_OPTIONS_IN_ALL = 20_000
MAX_KEY = 64
MAX_LABEL = 200
MAX_DESCRIPTION = 5000

_KEY = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_PARTS = frozenset({"key", "label", "type", "description", "options", "columns", "constraints"})
_MEMBERS = _PARTS | {"required", "multiple", "ai_assist"}


def check_fields(fields: object) -> list[Field]:
    """Return the fields in normal form, in which every field has every member.

    Each field has key, label, type, required, multiple, description, options [{value, label}],
    columns [field], constraints {} and ai_assist. A missing label is derived from the key; a span
    is multiple by default. Null counts as absent.

    Raises FieldError with the code `duplicate_field_name`, `invalid_field_type` or
    `validation_error` and the path of the first problem.
    """
    checked = _check_field_list(fields, "fields", MAX_FIELDS, nested=False)
    count = len(checked) + sum(len(field["columns"]) for field in checked)
    if count > MAX_FIELDS_AND_COLUMNS:
        raise _build_error(
            "fields", f"more than {MAX_FIELDS_AND_COLUMNS:,} fields and columns in total"
        )
    every = [*checked, *(column for field in checked for column in field["columns"])]
    if sum(len(field["options"]) for field in every) > MAX_OPTIONS_IN_ALL:
        raise _build_error("fields", f"has more than {MAX_OPTIONS_IN_ALL:,} options in total")
    return checked


def _check_field_list(raw: object, path: str, limit: int, *, nested: bool) -> list[Field]:
    if not isinstance(raw, list):
        raise _build_error(path, "must be a list")
    if len(raw) > limit:
        raise _build_error(path, f"has more than {limit:,} entries")
    checked: list[Field] = []
    seen: dict[str, int] = {}
    for position, entry in enumerate(raw):
        field = _check_field(entry, f"{path}.{position}", nested=nested)
        first = seen.setdefault(field["key"], position)
        if first != position:
            message = f"is already the key of {path}.{first}"
            raise FieldError("duplicate_field_name", f"{path}.{position}.key", message)
        checked.append(field)
    return checked


def _check_field(raw: object, path: str, *, nested: bool) -> Field:
    members = _check_members(raw, path, _MEMBERS)
    key = _check_key(members.get("key"), f"{path}.key")
    kind = _check_type(members.get("type"), f"{path}.type", nested=nested)
    label = _check_text(members.get("label"), f"{path}.label", MAX_LABEL).strip()
    multiple = _check_flag(members, "multiple", path, default=kind == "span")
    if multiple and kind == "table":
        raise _build_error(
            f"{path}.multiple", "must be false for a table, which always has many rows"
        )
    return {
        "key": key,
        "label": label or key.replace("_", " ").capitalize(),
        "type": kind,
        "required": _check_flag(members, "required", path, default=False),
        "multiple": multiple,
        "description": _check_text(
            members.get("description"), f"{path}.description", MAX_DESCRIPTION
        ),
        "options": _check_options(members.get("options"), kind, f"{path}.options"),
        "columns": _check_columns(members.get("columns"), kind, f"{path}.columns"),
        "constraints": check_constraints(members.get("constraints"), kind, f"{path}.constraints"),
        "ai_assist": _check_flag(members, "ai_assist", path, default=True),
    }


def _check_key(raw: object, path: str) -> str:
    if not isinstance(raw, str) or len(raw) > MAX_KEY or not _KEY.fullmatch(raw):
        raise _build_error(path, f"must be snake_case with at most {MAX_KEY} characters")
    return raw


def _check_type(raw: object, path: str, *, nested: bool) -> str:
    if raw is None:
        raise _build_error(path, "is required")
    if not isinstance(raw, str) or raw not in TYPES:
        raise FieldError("invalid_field_type", path, f"must be one of {', '.join(TYPES)}")
    if nested and raw == "table":
        raise FieldError("invalid_field_type", path, "must not be a table inside another table")
    return raw


def _check_options(raw: object, kind: str, path: str) -> list[dict[str, str]]:
    if kind != "choice":
        return _check_absent(raw, path, "is only allowed for a choice")
    if not isinstance(raw, list) or not raw:
        raise _build_error(path, "must be a non-empty list for a choice")
    if len(raw) > MAX_OPTIONS:
        raise _build_error(path, f"has more than {MAX_OPTIONS:,} entries")
    options: list[dict[str, str]] = []
    seen: set[str] = set()
    for position, entry in enumerate(raw):
        here = f"{path}.{position}"
        members = _check_members(entry, here, frozenset({"value", "label"}))
        value = _check_text(members.get("value"), f"{here}.value", MAX_LABEL).strip()
        if not value:
            raise _build_error(f"{here}.value", "is required")
        if value in seen:
            raise _build_error(f"{here}.value", "is a duplicate")
        seen.add(value)
        label = _check_text(members.get("label"), f"{here}.label", MAX_LABEL).strip()
        options.append({"value": value, "label": label or value})
    return options


def _check_columns(raw: object, kind: str, path: str) -> list[Field]:
    if kind != "table":
        return _check_absent(raw, path, "is only allowed for a table")
    if not raw:
        raise _build_error(path, "needs at least one column")
    return _check_field_list(raw, path, MAX_COLUMNS, nested=True)


def _check_absent(raw: object, path: str, message: str) -> list[Any]:
    if raw is not None and raw != []:
        raise _build_error(path, message)
    return []


def _check_members(raw: object, path: str, known: frozenset[str]) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise _build_error(path, "must be an object")
    for name in raw:
        if name not in known:
            raise _build_error(f"{path}.{shorten_name(name)}", "is unknown")
    return raw


def _check_text(raw: object, path: str, limit: int) -> str:
    try:
        return "" if raw is None else check_text(raw, limit)
    except ValueProblem as problem:
        raise _build_error(path, problem.message) from None


def _check_flag(members: dict[str, Any], name: str, path: str, *, default: bool) -> bool:
    raw = members.get(name)
    if raw is None:
        return default
    if not isinstance(raw, bool):
        raise _build_error(f"{path}.{name}", "must be true or false")
    return raw


def _build_error(path: str, message: str) -> FieldError:
    return FieldError("validation_error", path, message)
