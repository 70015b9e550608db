"""Validate the value of each operator, and build the test for a condition.

A positive operator never matches if the attribute is missing, or if its value and the value of the
condition have different types. A negative operator, such as `not_equals`, matches if and only if
its positive operator (`equals`) does not match.
"""

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from app.engines.conditions.attributes import DocumentAttributes, ValueType, fold_text
from app.engines.fields.patterns import compile_pattern

MAX_VALUES = 500
"""The maximum number of values for `in` and `not_in`."""

MAX_VALUE_CHARS = 2000
"""The maximum number of characters in a text value of a condition."""

MAX_PATTERN_BYTES = 256 * 1024
"""The maximum memory of a compiled pattern, with the states that RE2 caches when it searches."""

MAX_PROGRAM_SIZE = 3000
"""The maximum number of instructions in a compiled pattern.

A larger pattern is not always slower: in measurements with 100,000 characters, the slowest search
took 2 s with a pattern of 1,400 instructions, and 1 s with a pattern of 3,600 instructions.
"""

Test = Callable[[DocumentAttributes], bool]
Comparable = str | float | bool
_POSITIVE_OPERATORS = {
    "not_equals": "equals",
    "not_in": "in",
    "not_contains": "contains",
    "not_exists": "exists",
}
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "greater_than": operator.gt,
    "at_least": operator.ge,
    "less_than": operator.lt,
    "at_most": operator.le,
}
# Relative costs, as measured. They exclude folding, because each value is folded only once.
_EQUALITY_COST, _ORDER_COST, _PREFIX_COST, _SEARCH_COST, _PATTERN_COST = 1, 2, 3, 5, 20


class ConditionError(ValueError):
    """The conditions are invalid at `path` (`all.2.value`), or as a whole if `path` is ""."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


@dataclass(frozen=True, slots=True)
class CompiledTest:
    """A test and its approximate cost.

    `find_match` returns the text position that the excerpt in an explanation shows, usually the
    start of the match. If it is None, the excerpt begins at the start of the text. If
    `folded_values` is not None, the test is true if and only if the set contains the folded value
    of the attribute. `program_size` is the number of instructions of the pattern, or 0 for a test
    without a pattern.
    """

    test: Test
    cost: int
    find_match: Callable[[DocumentAttributes], int] | None = None
    folded_values: frozenset[str] | None = None
    program_size: int = 0


def compile_test(
    attribute: str, value_type: ValueType, operator_name: str, value: object
) -> CompiledTest:
    """Compile the test for one condition with the operator `operator_name`.

    Raises ConditionError with the path `value` or `value.<n>` if the operator does not allow
    `value`.
    """
    positive_operator = _POSITIVE_OPERATORS.get(operator_name)
    if positive_operator is None:
        return _compile_positive_test(attribute, value_type, operator_name, value)
    positive_test = _compile_positive_test(attribute, value_type, positive_operator, value)
    test = positive_test.test
    return CompiledTest(
        lambda document: not test(document), positive_test.cost, positive_test.find_match
    )


def _compile_positive_test(
    attribute: str, value_type: ValueType, operator_name: str, value: object
) -> CompiledTest:
    if operator_name == "exists":
        if value is not None:
            raise ConditionError("value", "This operator takes no value.")
        return CompiledTest(
            lambda document: document.values.get(attribute) is not None, _EQUALITY_COST
        )
    if value is None:
        raise ConditionError("value", "This operator needs a value.")
    if operator_name == "in":
        return _compile_in_test(attribute, value_type, value)
    if operator_name in _COMPARISONS:
        return _compile_order_test(
            attribute, _COMPARISONS[operator_name], _check_number(value, "value")
        )
    if operator_name == "equals":
        return _compile_equality_test(attribute, _to_comparable(value_type, value, "value"))
    return _compile_text_test(attribute, operator_name, value)


def _to_comparable(value_type: ValueType, value: object, path: str) -> Comparable:
    """Convert a value for comparisons: fold text, and convert ids to lower case.

    Raises ConditionError if the value has the wrong type.
    """
    if value_type == "id":
        return _parse_id(value, path)
    if value_type == "number":
        return _check_number(value, path)
    if value_type == "any" and isinstance(value, bool):
        return value
    if value_type == "any" and isinstance(value, int | float):
        return _check_number(value, path)
    if not isinstance(value, str):
        expected_types = "a string" if value_type == "text" else "a string, a number or a boolean"
        raise ConditionError(path, f"Must be {expected_types}.")
    return fold_text(_check_length(value, path))


def _check_length(value: str, path: str) -> str:
    if len(value) > MAX_VALUE_CHARS:
        raise ConditionError(path, f"Must have at most {MAX_VALUE_CHARS:,} characters.")
    return value


def _check_number(value: object, path: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConditionError(path, "Must be a number.")
    if isinstance(value, float) and not math.isfinite(value):
        raise ConditionError(path, "Must be a finite number.")
    return value


def _parse_id(value: object, path: str) -> str:
    try:
        if isinstance(value, str) and len(value) == len(str(UUID(int=0))):
            return str(UUID(value))
    except ValueError:
        pass
    raise ConditionError(path, "Must be a UUID.")


def _compile_equality_test(attribute: str, expected: Comparable) -> CompiledTest:
    if isinstance(expected, str):
        return _compile_text_set_test(attribute, frozenset({expected}))
    if isinstance(expected, bool):
        return CompiledTest(
            lambda document: document.values.get(attribute) is expected, _EQUALITY_COST
        )

    def test(document: DocumentAttributes) -> bool:
        # In Python True equals 1, so booleans must be excluded.
        actual = document.values.get(attribute)
        return actual == expected and not isinstance(actual, bool)

    return CompiledTest(test, _EQUALITY_COST)


def _compile_text_set_test(attribute: str, folded_values: frozenset[str]) -> CompiledTest:
    return CompiledTest(
        lambda document: document.get_folded(attribute) in folded_values,
        _EQUALITY_COST,
        folded_values=folded_values,
    )


def _compile_in_test(attribute: str, value_type: ValueType, value: object) -> CompiledTest:
    if not isinstance(value, list) or not value:
        raise ConditionError("value", "Must be a list with at least one value.")
    if len(value) > MAX_VALUES:
        raise ConditionError("value", f"Must have at most {MAX_VALUES} values.")
    expected = [
        _to_comparable(value_type, item, f"value.{index}") for index, item in enumerate(value)
    ]
    folded_values = frozenset(item for item in expected if isinstance(item, str))
    if len(folded_values) == len(expected):
        return _compile_text_set_test(attribute, folded_values)
    tests = [
        _compile_equality_test(attribute, item).test
        for item in expected
        if not isinstance(item, str)
    ]
    if folded_values:
        tests.append(_compile_text_set_test(attribute, folded_values).test)
    return CompiledTest(lambda document: any(test(document) for test in tests), _SEARCH_COST)


def _compile_order_test(
    attribute: str, compare: Callable[[float, float], bool], bound: float
) -> CompiledTest:
    def test(document: DocumentAttributes) -> bool:
        actual = document.values.get(attribute)
        return (
            isinstance(actual, int | float)
            and not isinstance(actual, bool)
            and compare(actual, bound)
        )

    return CompiledTest(test, _ORDER_COST)


def _compile_text_test(attribute: str, operator_name: str, value: object) -> CompiledTest:
    if not isinstance(value, str) or not value:
        raise ConditionError("value", "Must be a string with at least one character.")
    if operator_name == "matches":
        return _compile_pattern_test(attribute, value)
    expected = fold_text(_check_length(value, "value"))
    # Reading the clock would take longer than the test of a short value.
    is_long = attribute == "text"

    def get_text(document: DocumentAttributes) -> str:
        if is_long:
            document.check_time()
        return document.get_folded(attribute) or ""

    if operator_name == "starts_with":
        return CompiledTest(lambda document: get_text(document).startswith(expected), _PREFIX_COST)
    if operator_name == "ends_with":
        return CompiledTest(
            lambda document: get_text(document).endswith(expected),
            _PREFIX_COST,
            lambda document: len(get_text(document)),
        )
    return CompiledTest(
        lambda document: expected in get_text(document),
        _SEARCH_COST,
        lambda document: max(0, get_text(document).find(expected)),
    )


def _compile_pattern_test(attribute: str, value: str) -> CompiledTest:
    try:
        pattern = compile_pattern(value, ignore_case=True, max_memory_bytes=MAX_PATTERN_BYTES)
    except ValueError as error:
        raise ConditionError("value", f"Must be a valid pattern: {error}.") from None
    if pattern.programsize > MAX_PROGRAM_SIZE:
        raise ConditionError(
            "value", "This pattern is too large. Use fewer repetitions and character classes."
        )
    search = pattern.search

    def test(document: DocumentAttributes) -> bool:
        document.check_time()
        actual = document.values.get(attribute)
        return isinstance(actual, str) and search(actual) is not None

    def find_match(document: DocumentAttributes) -> int:
        document.check_time()
        match = search(document.values.get(attribute) or "")
        return match.start() if match is not None else 0

    return CompiledTest(test, _PATTERN_COST, find_match, program_size=pattern.programsize)
