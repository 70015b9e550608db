"""The comparison in a child process."""

from dataclasses import astuple

import pytest

from app.engines.drift.comparing import assign_outcomes, compare
from app.engines.drift.model import CategorySample, Hypothesis, NumberSample, RateSample
from app.engines.drift.process import ComparisonFailed, find_drift
from tests.factories.processes import run_script

_HYPOTHESES = [
    Hypothesis("kind", CategorySample({"a": 90, "ü": 10}), CategorySample({"a": 40, "ü": 60})),
    Hypothesis("total", NumberSample([float(n) for n in range(100)]), NumberSample([7.5] * 60)),
    Hypothesis("empty", RateSample(1, 100), RateSample(2, 100)),
    Hypothesis("few", RateSample(1, 10), RateSample(2, 100)),
]


def test_the_child_finds_the_same() -> None:
    found = find_drift(iter(_HYPOTHESES))
    here = assign_outcomes([compare(one) for one in _HYPOTHESES])
    assert [astuple(one) for one in found] == [astuple(one) for one in here]
    assert [one.outcome for one in found] == ["drift", "drift", "gone", "not_enough"]


def test_nothing_to_compare() -> None:
    assert find_drift([]) == []


def test_a_failure_of_the_child_is_raised() -> None:
    with pytest.raises(ComparisonFailed, match="same type"):
        find_drift([Hypothesis("x", RateSample(1, 100), NumberSample([1.0]))])


def test_the_package_does_not_load_scipy() -> None:
    code = "import app.engines.drift, sys; print({'numpy', 'scipy'} & set(sys.modules))"
    assert run_script(code).strip() == "set()"
