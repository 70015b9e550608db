"""Validate the value of each operator and build the test for it.

A positive operator never matches a missing attribute, or an attribute whose value has another type
than the condition's value. Each negative operator is the exact opposite of its positive one.
"""

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from app.engines.conditions.attributes import Kind
from app.engines.conditions.facts import Facts, fold
from app.engines.fields.patterns import compile_pattern

MAX_VALUES = 500
"""The maximum number of values of `in` and `not_in`."""

MAX_VALUE = 2000
"""The maximum length of a comparison text, in characters."""

Test = Callable[[Facts], bool]
Comparable = str | float | bool
_NEGATIVE = {
    "not_equals": "equals",
    "not_in": "in",
    "not_contains": "contains",
    "not_exists": "exists",
}
_ORDER: dict[str, Callable[[float, float], bool]] = {
    "greater_than": operator.gt,
    "at_least": operator.ge,
    "less_than": operator.lt,
    "at_most": operator.le,
}
# Measured relative costs. Folding is not included, because each text is folded only once.
_EQUAL, _ORDERED, _EDGE, _SEARCH, _PATTERN = 1, 2, 3, 5, 20


class ConditionError(ValueError):
    """An invalid condition; `path` locates it, for example `all.2.value`."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


@dataclass(frozen=True, slots=True)
class Made:
    """A test and its approximate cost.

    `place` returns the position of the match in a text, for the excerpt in an explanation. If
    `texts` is not None, the test is true exactly if the folded text is one of them.
    """

    test: Test
    cost: int
    place: Callable[[Facts], int] | None = None
    texts: frozenset[str] | None = None


def make(attribute: str, kind: Kind, name: str, value: object) -> Made:
    """Build the test of one condition.

    Raises ConditionError with the path `value` or `value.<n>`.
    """
    positive = _NEGATIVE.get(name)
    if positive is None:
        return _build_positive(attribute, kind, name, value)
    made = _build_positive(attribute, kind, positive, value)
    test = made.test
    return Made(lambda facts: not test(facts), made.cost, made.place)


def _build_positive(attribute: str, kind: Kind, name: str, value: object) -> Made:
    if name == "exists":
        if value is not None:
            raise ConditionError("value", "This operator takes no value.")
        return Made(lambda facts: facts.values.get(attribute) is not None, _EQUAL)
    if value is None:
        raise ConditionError("value", "This operator needs a value.")
    if name == "in":
        return _test_in(attribute, kind, value)
    if name in _ORDER:
        return _test_order(attribute, _ORDER[name], _number(value, "value"))
    if name == "equals":
        return _test_equal(attribute, _to_comparable(kind, value, "value"))
    return _test_text(attribute, name, value)


def _to_comparable(kind: Kind, value: object, path: str) -> Comparable:
    """Return a value in the form used for comparison: texts folded, ids in lower case."""
    if kind == "id":
        return _id(value, path)
    if kind == "number":
        return _number(value, path)
    if kind == "any" and isinstance(value, bool):
        return value
    if kind == "any" and isinstance(value, int | float):
        return _number(value, path)
    if not isinstance(value, str):
        kinds = "a text" if kind == "text" else "a text, a number or a boolean"
        raise ConditionError(path, f"Must be {kinds}.")
    return fold(_check_length(value, path))


def _check_length(value: str, path: str) -> str:
    if len(value) > MAX_VALUE:
        raise ConditionError(path, f"Must have at most {MAX_VALUE:,} characters.")
    return value


def _number(value: object, path: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConditionError(path, "Must be a number.")
    if isinstance(value, float) and not math.isfinite(value):
        raise ConditionError(path, "Must be a finite number.")
    return value


def _id(value: object, path: str) -> str:
    try:
        if isinstance(value, str) and len(value) == len(str(UUID(int=0))):
            return str(UUID(value))
    except ValueError:
        pass
    raise ConditionError(path, "Must be an id.")


def _test_equal(attribute: str, expected: Comparable) -> Made:
    if isinstance(expected, str):
        same = frozenset({expected})
        return Made(lambda facts: facts.folded(attribute) == expected, _EQUAL, texts=same)
    if isinstance(expected, bool):
        return Made(lambda facts: facts.values.get(attribute) is expected, _EQUAL)

    def test(facts: Facts) -> bool:
        # In Python True equals 1, so booleans must be excluded.
        actual = facts.values.get(attribute)
        return actual == expected and not isinstance(actual, bool)

    return Made(test, _EQUAL)


def _test_in(attribute: str, kind: Kind, value: object) -> Made:
    if not isinstance(value, list) or not value:
        raise ConditionError("value", "Must be a list of at least one value.")
    if len(value) > MAX_VALUES:
        raise ConditionError("value", f"Must have at most {MAX_VALUES} values.")
    expected = [_to_comparable(kind, item, f"value.{index}") for index, item in enumerate(value)]
    texts = frozenset(item for item in expected if isinstance(item, str))
    if len(texts) == len(expected):
        return Made(lambda facts: facts.folded(attribute) in texts, _EQUAL, texts=texts)
    tests = [_test_equal(attribute, item).test for item in expected if not isinstance(item, str)]
    if texts:
        tests.append(lambda facts: facts.folded(attribute) in texts)
    return Made(lambda facts: any(test(facts) for test in tests), _SEARCH)


def _test_order(attribute: str, compare: Callable[[float, float], bool], bound: float) -> Made:
    def test(facts: Facts) -> bool:
        actual = facts.values.get(attribute)
        return (
            isinstance(actual, int | float)
            and not isinstance(actual, bool)
            and compare(actual, bound)
        )

    return Made(test, _ORDERED)


def _test_text(attribute: str, name: str, value: object) -> Made:
    if not isinstance(value, str) or not value:
        raise ConditionError("value", "Must be a text of at least one character.")
    if name == "matches":
        return _test_pattern(attribute, value)
    expected = fold(_check_length(value, "value"))

    def place(facts: Facts) -> int:
        return max(0, (facts.folded(attribute) or "").find(expected))

    if name == "starts_with":
        return Made(lambda facts: (facts.folded(attribute) or "").startswith(expected), _EDGE)
    if name == "ends_with":
        end = Made(lambda facts: (facts.folded(attribute) or "").endswith(expected), _EDGE)
        return Made(end.test, end.cost, lambda facts: len(facts.folded(attribute) or ""))
    return Made(lambda facts: expected in (facts.folded(attribute) or ""), _SEARCH, place)


def _test_pattern(attribute: str, value: str) -> Made:
    try:
        search = compile_pattern(value, ignore_case=True).search
    except ValueError as refused:
        raise ConditionError("value", f"Is not a valid pattern: {refused}.") from None

    def test(facts: Facts) -> bool:
        actual = facts.values.get(attribute)
        return isinstance(actual, str) and search(actual) is not None

    def place(facts: Facts) -> int:
        actual: Any = search(facts.values.get(attribute) or "")
        return int(actual.start()) if actual is not None else 0

    return Made(test, _PATTERN, place)
