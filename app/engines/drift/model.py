"""The samples, hypotheses and results of drift detection."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Categories:
    """The number of occurrences of each category."""

    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Numbers:
    """Finite numbers, in any order."""

    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Rate:
    """The number of hits among `n` trials."""

    hits: int
    n: int


Sample: TypeAlias = Categories | Numbers | Rate


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """Two samples of the same type to compare; `key` identifies the result."""

    key: str
    baseline: Sample
    current: Sample


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a report.

    Attributes:
        false_discovery_rate: maximum expected share of false reports (Benjamini-Hochberg).
        effect: minimum population stability index of a reported shift, less its expected value
            without a shift. By convention, 0.1 is a moderate shift. An index of 0.05 is a change by
            11 points from a share of 50 %, or by 5 points from an error rate of 3 %.
        least: minimum size of each sample. Smaller samples are not compared.
    """

    false_discovery_rate: float = 0.01
    effect: float = 0.05
    least: int = 30


class Verdict(StrEnum):
    """The outcome of comparing two samples.

    `gone`: no significant difference, and less than half of the minimum effect. `unclear`: anything
    between `gone` and `drift`. `not_enough`: a sample is too small.
    """

    DRIFT = "drift"
    UNCLEAR = "unclear"
    GONE = "gone"
    NOT_ENOUGH = "not_enough"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of two samples.

    Attributes:
        key: the key of the hypothesis.
        verdict: the outcome, which `decide` sets.
        test: `chi_square`, `fisher_exact` or `kolmogorov_smirnov`; None if nothing was tested.
        baseline_n, current_n: the sizes of the samples.
        baseline_value, current_value: the medians of numbers, the rates, or the shares of the
            category that changed most; None for an empty sample.
        category: the category that changed most; None for numbers and rates.
        p_value: the test's own p-value.
        q_value: the p-value adjusted for all comparisons of the run.
        psi: population stability index, less its expected value without a shift.
        js_distance: Jensen-Shannon distance with base 2, between 0 and 1.
    """

    key: str
    verdict: Verdict
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
    """Return a sample as a JSON object."""
    if isinstance(sample, Categories):
        return {"counts": dict(sample.counts)}
    if isinstance(sample, Numbers):
        return {"values": list(sample.values)}
    return {"hits": sample.hits, "n": sample.n}


def parse_sample(data: Mapping[str, Any]) -> Sample:
    """Return the sample that `encode_sample` encoded."""
    if "counts" in data:
        return Categories(data["counts"])
    if "values" in data:
        return Numbers(data["values"])
    return Rate(data["hits"], data["n"])
