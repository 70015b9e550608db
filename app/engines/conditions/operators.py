"""The operators: what each takes as its value, and the test that it becomes.

A missing attribute, and one whose value is of another kind than the condition's, fits no operator
but the negative ones: each of these is the exact opposite of its positive.
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
"""How many values `in` and `not_in` take."""

MAX_VALUE = 2000
"""How long a text to compare with may be, in characters."""

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
# As measured; a text is folded once for all conditions on it.
_EQUAL, _ORDERED, _EDGE, _SEARCH, _PATTERN = 1, 2, 3, 5, 20


class ConditionError(ValueError):
    """A condition breaks a rule; `path` names the culprit, such as `all.2.value`."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


@dataclass(frozen=True, slots=True)
class Made:
    """A test and about what it costs; `place` finds where in a text it fits, for showing it.

    `texts`: the test is whether the folded text is one of these.
    """

    test: Test
    cost: int
    place: Callable[[Facts], int] | None = None
    texts: frozenset[str] | None = None


def make(attribute: str, kind: Kind, name: str, value: Any) -> Made:
    """The test of one condition. Raises ConditionError with the path `value` or `value.<n>`."""
    positive = _NEGATIVE.get(name)
    if positive is None:
        return _positive(attribute, kind, name, value)
    made = _positive(attribute, kind, positive, value)
    test = made.test
    return Made(lambda facts: not test(facts), made.cost, made.place)


def _positive(attribute: str, kind: Kind, name: str, value: Any) -> Made:
    if name == "exists":
        if value is not None:
            raise ConditionError("value", "Takes no value.")
        return Made(lambda facts: facts.values.get(attribute) is not None, _EQUAL)
    if value is None:
        raise ConditionError("value", "Needs a value.")
    if name == "in":
        return _one_of(attribute, kind, value)
    if name in _ORDER:
        return _ordered(attribute, _ORDER[name], _number(value, "value"))
    if name == "equals":
        return _equal(attribute, _comparable(kind, value, "value"))
    return _worded(attribute, name, value)


def _comparable(kind: Kind, value: Any, path: str) -> Comparable:
    """A value as it is compared: texts folded, ids in lower case."""
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
    return fold(_bounded(value, path))


def _bounded(value: str, path: str) -> str:
    if len(value) > MAX_VALUE:
        raise ConditionError(path, f"Must have at most {MAX_VALUE:,} characters.")
    return value


def _number(value: Any, path: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConditionError(path, "Must be a number.")
    if isinstance(value, float) and not math.isfinite(value):
        raise ConditionError(path, "Must be a finite number.")
    return value


def _id(value: Any, path: str) -> str:
    try:
        if isinstance(value, str) and len(value) == len(str(UUID(int=0))):
            return str(UUID(value))
    except ValueError:
        pass
    raise ConditionError(path, "Must be an id.")


def _equal(attribute: str, wanted: Comparable) -> Made:
    if isinstance(wanted, str):
        same = frozenset({wanted})
        return Made(lambda facts: facts.folded(attribute) == wanted, _EQUAL, texts=same)
    if isinstance(wanted, bool):
        return Made(lambda facts: facts.values.get(attribute) is wanted, _EQUAL)

    def test(facts: Facts) -> bool:
        # True is 1 to Python.
        found = facts.values.get(attribute)
        return found == wanted and not isinstance(found, bool)

    return Made(test, _EQUAL)


def _one_of(attribute: str, kind: Kind, value: Any) -> Made:
    if not isinstance(value, list) or not value:
        raise ConditionError("value", "Must be a list of one value or more.")
    if len(value) > MAX_VALUES:
        raise ConditionError("value", f"Must have at most {MAX_VALUES} values.")
    wanted = [_comparable(kind, one, f"value.{index}") for index, one in enumerate(value)]
    texts = frozenset(one for one in wanted if isinstance(one, str))
    if len(texts) == len(wanted):
        return Made(lambda facts: facts.folded(attribute) in texts, _EQUAL, texts=texts)
    tests = [_equal(attribute, one).test for one in wanted if not isinstance(one, str)]
    if texts:
        tests.append(lambda facts: facts.folded(attribute) in texts)
    return Made(lambda facts: any(test(facts) for test in tests), _SEARCH)


def _ordered(attribute: str, compare: Callable[[float, float], bool], bound: float) -> Made:
    def test(facts: Facts) -> bool:
        found = facts.values.get(attribute)
        return (
            isinstance(found, int | float) and not isinstance(found, bool) and compare(found, bound)
        )

    return Made(test, _ORDERED)


def _worded(attribute: str, name: str, value: Any) -> Made:
    if not isinstance(value, str) or not value:
        raise ConditionError("value", "Must be a text of one character or more.")
    if name == "matches":
        return _pattern(attribute, value)
    wanted = fold(_bounded(value, "value"))

    def place(facts: Facts) -> int:
        return max(0, (facts.folded(attribute) or "").find(wanted))

    if name == "starts_with":
        return Made(lambda facts: (facts.folded(attribute) or "").startswith(wanted), _EDGE)
    if name == "ends_with":
        end = Made(lambda facts: (facts.folded(attribute) or "").endswith(wanted), _EDGE)
        return Made(end.test, end.cost, lambda facts: len(facts.folded(attribute) or ""))
    return Made(lambda facts: wanted in (facts.folded(attribute) or ""), _SEARCH, place)


def _pattern(attribute: str, value: str) -> Made:
    try:
        search = compile_pattern(value, ignore_case=True).search
    except ValueError as refused:
        raise ConditionError("value", f"Is no usable pattern: {refused}.") from None

    def test(facts: Facts) -> bool:
        found = facts.values.get(attribute)
        return isinstance(found, str) and search(found) is not None

    def place(facts: Facts) -> int:
        found: Any = search(facts.values.get(attribute) or "")
        return int(found.start()) if found is not None else 0

    return Made(test, _PATTERN, place)
