"""Rates with their confidence intervals and sample sizes, computed from counters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from app.engines.calibration import compute_wilson_interval
from app.insight.quality.models import FRACTION_SCALE

_SECONDS_PER_HOUR = 3600
_DECISION_COUNTERS = ("accepted", "corrected", "rejected")


class Rate(NamedTuple):
    """A value with its 95% confidence interval and the number of cases, `n`.

    A fraction or a mean is None if there are no cases. Only fractions have an interval.
    """

    value: float | None
    ci_low: float | None
    ci_high: float | None
    n: int


def compute_rate(successes: float, n: int) -> Rate:
    """Compute a fraction of `n` cases with its Wilson score interval.

    `successes` may also be a sum of `n` fractions. The interval is wide enough for such a sum: the
    variance of a variable between 0 and 1 with the mean p is at most p(1 - p).
    """
    interval = compute_wilson_interval(successes, n)
    if interval is None:
        return Rate(None, None, None, 0)
    value = successes / n
    low, high = interval
    return Rate(value, min(value, low), max(value, high), n)


@dataclass(frozen=True, slots=True)
class QualityMetric:
    """A quality metric, with the formula that computes it from counters (see `QualityCell`).

    The counters `cases` add up to the number of cases. `sums` are the other counters that the
    formula reads. `applies_to_fields` is true if the metric can be computed for a field. Charts
    show `label` and `unit`.
    """

    label: str
    compute: Callable[[Mapping[str, int]], Rate]
    cases: tuple[str, ...]
    applies_to_fields: bool
    sums: tuple[str, ...] = ()
    is_fraction: bool = True
    unit: str = "Share"

    @property
    def counters(self) -> tuple[str, ...]:
        """Return the counters that the formula reads."""
        return (*self.cases, *self.sums)


def _compute_agreement(counts: Mapping[str, int]) -> Rate:
    return compute_rate(counts["agreement"] / FRACTION_SCALE, counts["compared"])


def compute_acceptance_rate(counts: Mapping[str, int]) -> Rate:
    """Compute the fraction of decisions that accepted a tag set, with or without corrections."""
    acceptances = counts["accepted"] + counts["corrected"]
    return compute_rate(acceptances, acceptances + counts["rejected"])


def _compute_correction_rate(counts: Mapping[str, int]) -> Rate:
    return compute_rate(counts["corrected"], counts["accepted"] + counts["corrected"])


def _compute_accuracy(counts: Mapping[str, int]) -> Rate:
    return compute_rate(counts["accuracy"] / FRACTION_SCALE, counts["checked"])


def _compute_throughput(counts: Mapping[str, int]) -> Rate:
    submissions = counts["submitted"]
    return Rate(float(submissions), None, None, submissions)


def _compute_mean_seconds(counts: Mapping[str, int]) -> Rate:
    timed_count = counts["timed"]
    mean = counts["seconds"] / timed_count if timed_count else None
    return Rate(mean, None, None, timed_count)


METRICS: Mapping[str, QualityMetric] = {
    "agreement": QualityMetric(
        "Agreement",
        _compute_agreement,
        ("compared",),
        applies_to_fields=True,
        sums=("agreement",),
    ),
    "acceptance_rate": QualityMetric(
        "Acceptance rate",
        compute_acceptance_rate,
        _DECISION_COUNTERS,
        applies_to_fields=False,
    ),
    "correction_rate": QualityMetric(
        "Correction rate",
        _compute_correction_rate,
        ("accepted", "corrected"),
        applies_to_fields=True,
    ),
    "gold_accuracy": QualityMetric(
        "Accuracy on gold documents",
        _compute_accuracy,
        ("checked",),
        applies_to_fields=True,
        sums=("accuracy",),
    ),
    "throughput": QualityMetric(
        "Submissions",
        _compute_throughput,
        ("submitted",),
        applies_to_fields=False,
        is_fraction=False,
        unit="Tag sets",
    ),
    "seconds_spent": QualityMetric(
        "Time per tag set",
        _compute_mean_seconds,
        ("timed",),
        applies_to_fields=False,
        sums=("seconds",),
        is_fraction=False,
        unit="Seconds",
    ),
}
"""The metrics of schemas, fields, teams and labelers."""


def count_decisions(counts: Mapping[str, int]) -> int:
    """Count the review decisions: acceptances with or without corrections, and rejections."""
    return sum(counts[name] for name in _DECISION_COUNTERS)


def compute_rates(counts: Mapping[str, int], *names: str) -> dict[str, Rate]:
    """Compute the metrics with these names, and return them by name."""
    return {name: METRICS[name].compute(counts) for name in names}


def build_speed(counts: Mapping[str, int]) -> dict[str, Any]:
    """Compute the labeling speed: the number of timed tag sets, and two averages.

    The averages are the mean seconds per tag set and the tag sets per hour. They are None if no tag
    set has a recorded time.
    """
    timed_count, seconds = counts["timed"], counts["seconds"]
    return {
        "timed": timed_count,
        "mean_seconds": seconds / timed_count if timed_count else None,
        "tag_sets_per_hour": timed_count * _SECONDS_PER_HOUR / seconds if seconds else None,
    }
