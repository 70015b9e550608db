"""Validate the `constraints` of a field according to its type."""

import importlib
from typing import Any

from app.engines.fields.decimals import parse_decimal
from app.engines.fields.errors import FieldError, ValueProblem
from app.engines.fields.identifiers import MODULE_BY_FORMAT
from app.engines.fields.model import CONSTRAINTS, CONSTRAINTS_BY_TYPE, JsonValue, Normalizer
from app.engines.fields.patterns import compile_pattern
from app.engines.fields.plain_text import check_text, shorten_name
from app.engines.fields.values import get_normalizer

MAX_LENGTH = 100_000
MAX_LIST_ENTRIES = 200

_TIME_TYPES = frozenset({"date", "time", "datetime"})


def check_constraints(raw: object, field_type: str, path: str) -> dict[str, Any]:
    """Check constraints; return them in normal form, without null values and empty lists.

    `min` and `max` have the canonical form of the field's values, except that they have the form of
    a `number` if the type is `integer` or `money`. Raises FieldError (`validation_error`) if `raw`
    is not an object, or if a constraint is unknown, does not apply to the type, has an invalid
    value, or contradicts another constraint.
    """
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise FieldError(path, "must be an object")
    checked_constraints: dict[str, Any] = {}
    for name, value in raw.items():
        constraint_path = f"{path}.{shorten_name(name)}"
        if name not in CONSTRAINTS:
            raise FieldError(constraint_path, "is unknown")
        if value is None or value == []:
            continue
        if name not in CONSTRAINTS_BY_TYPE.get(field_type, frozenset()):
            raise FieldError(constraint_path, f"does not apply to a field of type {field_type}")
        try:
            checked_constraints[name] = _check_constraint(name, value, field_type)
        except ValueProblem as problem:
            raise FieldError(constraint_path, problem.message) from None
    _check_order(checked_constraints, field_type, path)
    return {name: checked_constraints[name] for name in sorted(checked_constraints)}


def _check_constraint(name: str, value: object, field_type: str) -> JsonValue:
    if name in {"min", "max"}:
        return get_normalizer({"type": field_type if field_type in _TIME_TYPES else "number"})(
            value
        )
    if name in {"min_length", "max_length"}:
        return _check_length(value)
    if name == "pattern":
        return _check_pattern(value)
    if name == "currencies":
        return _check_list(value, get_normalizer({"type": "currency"}))
    return _check_list(value, _check_phone_region if field_type == "phone" else _check_format_name)


def _check_length(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_LENGTH:
        raise ValueProblem(f"must be a whole number from 0 to {MAX_LENGTH:,}")
    return value


def _check_pattern(value: object) -> str:
    pattern = check_text(value, MAX_LENGTH)
    try:
        compile_pattern(pattern)
    except ValueError as error:
        raise ValueProblem(f"is not a valid pattern (RE2 syntax): {error}") from None
    return pattern


def _check_list(value: object, check: Normalizer) -> list[JsonValue]:
    if not isinstance(value, list) or len(value) > MAX_LIST_ENTRIES:
        raise ValueProblem(f"must be a list of at most {MAX_LIST_ENTRIES} entries")
    return list(dict.fromkeys(check(entry) for entry in value))


def _check_format_name(value: object) -> str:
    if not isinstance(value, str) or value not in MODULE_BY_FORMAT:
        raise ValueProblem(f"must be one of {', '.join(MODULE_BY_FORMAT)}")
    return value


def _check_phone_region(value: object) -> str:
    regions = importlib.import_module("app.engines.fields.values.phones").REGIONS
    if not isinstance(value, str) or value not in regions:
        raise ValueProblem("must be an ISO 3166-1 alpha-2 code of a country that has phone numbers")
    return value


def _check_order(constraints: dict[str, Any], field_type: str, path: str) -> None:
    for low, high in (("min", "max"), ("min_length", "max_length")):
        if low not in constraints or high not in constraints:
            continue
        low_value, high_value = constraints[low], constraints[high]
        if field_type in _TIME_TYPES and low == "min":
            is_reversed = low_value.rstrip("Z") > high_value.rstrip("Z")
        else:
            is_reversed = parse_decimal(low_value) > parse_decimal(high_value)
        if is_reversed:
            raise FieldError(f"{path}.{low}", f"must not be greater than {high}")
