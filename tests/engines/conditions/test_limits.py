"""Limits of patterns, and of the time for evaluating conditions."""

from typing import Any

import pytest

from app.engines.conditions import operators as condition_operators
from app.engines.conditions.attributes import DocumentAttributes
from app.engines.conditions.compiled_conditions import (
    MAX_PATTERNS,
    compile_conditions,
    count_patterns,
)
from app.engines.conditions.operators import ConditionError
from app.engines.conditions.time_limits import EvaluationTimeout, TimeLimit
from app.engines.fields.patterns import Pattern
from tests.engines.conditions.test_conditions import leaf


@pytest.mark.parametrize("pattern", [r"(?:\pL\pN?){3}.{10}z", r"(?:\pL\pN?){45}.{10}z"])
def test_a_pattern_with_too_many_instructions_is_refused(pattern: str) -> None:
    with pytest.raises(ConditionError) as refused:
        compile_conditions({"any": [leaf("name", "exists"), leaf("text", "matches", pattern)]})
    assert refused.value.path == "any.1.value"


def test_the_sizes_of_patterns_are_summed() -> None:
    patterns = ["urgent|final notice", r"\pL+ \pN+"]
    conditions = [leaf("text", "matches", pattern) for pattern in patterns]
    compiled = compile_conditions({"all": conditions})
    assert compiled.pattern_count == 2
    assert 1000 < compiled.program_size < condition_operators.MAX_PROGRAM_SIZE


def test_patterns_are_counted_before_any_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def record(pattern: str, **_: Any) -> Pattern:
        compiled.append(pattern)
        raise ValueError

    monkeypatch.setattr(condition_operators, "compile_pattern", record)
    group = {"any": [leaf("name", "matches", str(number)) for number in range(7)]}
    conditions = {"all": [group, {"all": [group]}, group]}
    assert count_patterns(conditions) == 21 > MAX_PATTERNS
    with pytest.raises(ConditionError):
        compile_conditions(conditions)
    assert compiled == []


@pytest.mark.parametrize(
    "condition", [leaf("text", "matches", "a"), leaf("text", "contains", "a")], ids=str
)
def test_tests_of_long_texts_check_the_time_limit(condition: dict[str, Any]) -> None:
    compiled = compile_conditions({"all": [condition]})
    values = {"text": "a", "name": "a"}
    assert compiled.matches(DocumentAttributes(values, TimeLimit(60)))
    used_up = DocumentAttributes(values, TimeLimit(0))
    for evaluate in (compiled.matches, compiled.explain):
        with pytest.raises(EvaluationTimeout):
            evaluate(used_up)
    # Reading the clock would take longer than a test of a short value.
    assert compile_conditions({"all": [leaf("name", "contains", "a")]}).matches(used_up)


def test_a_time_limit_ends_no_later_than_the_one_around_it() -> None:
    TimeLimit(60, within=TimeLimit(60)).check()
    for seconds, around in ((60, 0), (0, 60)):
        with pytest.raises(EvaluationTimeout):
            TimeLimit(seconds, within=TimeLimit(around)).check()
