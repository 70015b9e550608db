"""Define the samples, hypotheses and results of drift detection."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class CategorySample:
    """A sample of categories: the number of occurrences of each category."""

    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class NumberSample:
    """A sample of finite numbers, in any order."""

    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class RateSample:
    """A sample of `n` trials with a yes-or-no outcome. `hits` is the number of yes outcomes."""

    hits: int
    n: int


Sample: TypeAlias = CategorySample | NumberSample | RateSample


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """Two samples of the same type to compare. The result of the comparison has the same `key`."""

    key: str
    baseline: Sample
    current: Sample


@dataclass(frozen=True, slots=True)
class DriftThresholds:
    """The thresholds that determine which differences are reported as drift.

    Attributes:
        false_discovery_rate: maximum expected fraction of false reports (Benjamini-Hochberg).
        min_effect: minimum population stability index of a reported shift, minus its expected value
            without a shift. By convention, 0.1 is a moderate shift. An index of 0.05 is a change by
            11 percentage points from a rate of 50%, or by 5 percentage points from a rate of 3%.
        min_size: minimum size of each sample. Smaller samples are not compared.
    """

    false_discovery_rate: float = 0.01
    min_effect: float = 0.05
    min_size: int = 30


class DriftOutcome(StrEnum):
    """The outcome of comparing two samples.

    `drift`: a significant difference, after adjusting the p-values, with at least the minimum
    effect. `gone`: no significant difference, even without adjusting the p-values, and less than
    half of the minimum effect. `unclear`: neither of these. `not_enough`: a sample is too small.
    """

    DRIFT = "drift"
    UNCLEAR = "unclear"
    GONE = "gone"
    NOT_ENOUGH = "not_enough"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of comparing two samples.

    Attributes:
        key: the key of the hypothesis.
        outcome: the outcome of the comparison; preliminary until `assign_outcomes` has set it.
        test: `chi_square`, `fisher_exact` or `kolmogorov_smirnov`; None if nothing was tested.
        baseline_n, current_n: the sizes of the samples.
        baseline_value, current_value: the medians of numbers, the rates, or the proportions of
            the category that changed most; None for an empty sample, and for categories if a sample
            is too small.
        category: the category that changed most; None for numbers, for rates, and if a sample is
            too small.
        p_value: the p-value of the test, not adjusted; like the next three, None without a test.
        q_value: the p-value adjusted for all comparisons of the run, once `assign_outcomes` set it.
        psi: population stability index, minus its expected value without a shift.
        js_distance: Jensen-Shannon distance with base 2, between 0 and 1.
    """

    key: str
    outcome: DriftOutcome
    test: str | None = None
    baseline_n: int = 0
    current_n: int = 0
    baseline_value: float | None = None
    current_value: float | None = None
    category: str | None = None
    p_value: float | None = None
    q_value: float | None = None
    psi: float | None = None
    js_distance: float | None = None


def encode_sample(sample: Sample) -> dict[str, Any]:
    """Encode a sample as a JSON object."""
    if isinstance(sample, CategorySample):
        return {"counts": dict(sample.counts)}
    if isinstance(sample, NumberSample):
        return {"values": list(sample.values)}
    return {"hits": sample.hits, "n": sample.n}


def parse_sample(data: Mapping[str, Any]) -> Sample:
    """Parse a sample from a JSON object that `encode_sample` returned."""
    if "counts" in data:
        return CategorySample(data["counts"])
    if "values" in data:
        return NumberSample(data["values"])
    return RateSample(data["hits"], data["n"])
