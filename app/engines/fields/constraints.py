"""Validate the `constraints` of a field by its type."""

import importlib
from typing import Any

from app.engines.fields.decimals import decimal_of
from app.engines.fields.errors import FieldError, ValueProblem
from app.engines.fields.identifiers import MODULES
from app.engines.fields.model import APPLICABLE, CONSTRAINTS, JsonValue
from app.engines.fields.patterns import compile_pattern
from app.engines.fields.plain import shown, text_of
from app.engines.fields.values import normaliser

MAX_LENGTH = 100_000
MAX_LISTED = 200

_MOMENTS = frozenset({"date", "time", "datetime"})


def check_constraints(raw: object, kind: str, path: str) -> dict[str, Any]:
    """Return the constraints in normal form, without null values and empty lists.

    Limits are in the canonical form of the field's values; those of money are plain numbers. Raises
    FieldError (`validation_error`) if a constraint is unknown, does not apply to the type, has an
    invalid value, or contradicts another.
    """
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise _invalid(path, "must be an object")
    checked: dict[str, Any] = {}
    for name, value in raw.items():
        here = f"{path}.{shown(name)}"
        if name not in CONSTRAINTS:
            raise _invalid(here, "is unknown")
        if value is None or value == []:
            continue
        if name not in APPLICABLE.get(kind, frozenset()):
            raise _invalid(here, f"does not apply to a field of type {kind}")
        try:
            checked[name] = _constraint(name, value, kind)
        except ValueProblem as problem:
            raise _invalid(here, problem.message) from None
    _check_order(checked, kind, path)
    return {name: checked[name] for name in sorted(checked)}


def _constraint(name: str, value: object, kind: str) -> JsonValue:
    if name in {"min", "max"}:
        return normaliser({"type": kind if kind in _MOMENTS else "number"})(value)
    if name in {"min_length", "max_length"}:
        return _length(value)
    if name == "pattern":
        return _pattern(value)
    if name == "currencies":
        codes = normaliser({"type": "currency"})
        return _check_list(value, codes)
    return _check_list(value, _region if kind == "phone" else _identifier)


def _length(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_LENGTH:
        raise ValueProblem(f"must be a whole number from 0 to {MAX_LENGTH:,}")
    return value


def _pattern(value: object) -> str:
    pattern = text_of(value, MAX_LENGTH)
    try:
        compile_pattern(pattern)
    except ValueError as error:
        raise ValueProblem(f"is not a valid pattern (RE2 syntax): {error}") from None
    return pattern


def _check_list(value: object, check: Any) -> list[JsonValue]:
    if not isinstance(value, list) or len(value) > MAX_LISTED:
        raise ValueProblem(f"must be a list of at most {MAX_LISTED} entries")
    return list(dict.fromkeys(check(entry) for entry in value))


def _identifier(value: object) -> str:
    if not isinstance(value, str) or value not in MODULES:
        raise ValueProblem(f"must be one of {', '.join(MODULES)}")
    return value


def _region(value: object) -> str:
    regions = importlib.import_module("app.engines.fields.values.phones").REGIONS
    if not isinstance(value, str) or value not in regions:
        raise ValueProblem("must be a country (ISO 3166-1 alpha-2) with its own phone numbers")
    return value


def _check_order(checked: dict[str, Any], kind: str, path: str) -> None:
    for low, high in (("min", "max"), ("min_length", "max_length")):
        if low not in checked or high not in checked:
            continue
        first, last = checked[low], checked[high]
        if kind in _MOMENTS and low == "min":
            wrong = first.rstrip("Z") > last.rstrip("Z")
        else:
            wrong = decimal_of(first) > decimal_of(last)
        if wrong:
            raise _invalid(f"{path}.{low}", f"is greater than {high}")


def _invalid(path: str, message: str) -> FieldError:
    return FieldError("validation_error", path, message)
