"""Rates with their confidence intervals and sample sizes, computed from counters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

from app.insight.quality.models import SHARE_SCALE

_Z = 1.959963984540054
"""The 97.5 % quantile of the normal distribution: intervals cover 95 %."""
_SECONDS_PER_HOUR = 3600
_DECISIONS = ("accepted", "corrected", "rejected")


class Rate(NamedTuple):
    """A value with its 95 % confidence interval and the number of cases, `n`.

    The value is None if there are no cases. Only shares have an interval.
    """

    value: float | None
    ci_low: float | None
    ci_high: float | None
    n: int


def compute_rate(successes: float, n: int) -> Rate:
    """Return a share of `n` with its Wilson score interval (Wilson 1927, JASA 22:209).

    `successes` may also be a sum of `n` shares. The interval is wide enough for it: the variance of
    a variable between 0 and 1 with the mean p is at most p(1 - p).
    """
    if not n:
        return Rate(None, None, None, 0)
    p = successes / n
    spread = 1 + _Z * _Z / n
    center = (p + _Z * _Z / (2 * n)) / spread
    margin = _Z / spread * sqrt(p * (1 - p) / n + _Z * _Z / (4 * n * n))
    return Rate(p, min(p, max(0.0, center - margin)), max(p, min(1.0, center + margin)), n)


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of cells, and the formula that computes it.

    The counters `cases` add up to the number of cases. `sums` are the other counters that the
    formula reads. `has_fields` says whether fields have the metric.
    """

    name: str
    label: str
    compute: Callable[[Mapping[str, int]], Rate]
    cases: tuple[str, ...]
    has_fields: bool
    sums: tuple[str, ...] = ()
    is_share: bool = True
    unit: str = "Share"

    @property
    def counters(self) -> tuple[str, ...]:
        """Return the counters that the formula reads."""
        return (*self.cases, *self.sums)


def _compute_agreement(counts: Mapping[str, int]) -> Rate:
    return compute_rate(counts["agreement"] / SHARE_SCALE, counts["compared"])


def compute_acceptance(counts: Mapping[str, int]) -> Rate:
    """Return the share of decisions that accepted, with or without corrections."""
    accepted = counts["accepted"] + counts["corrected"]
    return compute_rate(accepted, accepted + counts["rejected"])


def _compute_correction(counts: Mapping[str, int]) -> Rate:
    return compute_rate(counts["corrected"], counts["accepted"] + counts["corrected"])


def _compute_accuracy(counts: Mapping[str, int]) -> Rate:
    return compute_rate(counts["accuracy"] / SHARE_SCALE, counts["checked"])


def _compute_throughput(counts: Mapping[str, int]) -> Rate:
    submitted = counts["submitted"]
    return Rate(float(submitted), None, None, submitted)


def _compute_seconds(counts: Mapping[str, int]) -> Rate:
    timed = counts["timed"]
    return Rate(counts["seconds"] / timed if timed else None, None, None, timed)


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "agreement",
            "Agreement",
            _compute_agreement,
            ("compared",),
            has_fields=True,
            sums=("agreement",),
        ),
        Metric(
            "acceptance_rate", "Acceptance rate", compute_acceptance, _DECISIONS, has_fields=False
        ),
        Metric(
            "correction_rate",
            "Correction rate",
            _compute_correction,
            ("accepted", "corrected"),
            has_fields=True,
        ),
        Metric(
            "gold_accuracy",
            "Accuracy on gold documents",
            _compute_accuracy,
            ("checked",),
            has_fields=True,
            sums=("accuracy",),
        ),
        Metric(
            "throughput",
            "Submissions",
            _compute_throughput,
            ("submitted",),
            has_fields=False,
            is_share=False,
            unit="Tag sets",
        ),
        Metric(
            "seconds_spent",
            "Time per tag set",
            _compute_seconds,
            ("timed",),
            has_fields=False,
            sums=("seconds",),
            is_share=False,
            unit="Seconds",
        ),
    )
}
"""The metrics of schemas, fields, teams and labelers."""


def count_decisions(counts: Mapping[str, int]) -> int:
    """Return the number of review decisions."""
    return sum(counts[name] for name in _DECISIONS)


def compute_rates(counts: Mapping[str, int], *names: str) -> dict[str, Rate]:
    """Return the metrics with these names."""
    return {name: METRICS[name].compute(counts) for name in names}


def compute_overturned(counts: Mapping[str, int]) -> Rate:
    """Return the share of a reviewer's decisions that were overturned."""
    return compute_rate(counts["overturned"], count_decisions(counts))


def build_speed(counts: Mapping[str, int]) -> dict[str, Any]:
    """Return the mean seconds per tag set and the tag sets per hour; None without times."""
    timed, seconds = counts["timed"], counts["seconds"]
    return {
        "timed": timed,
        "mean_seconds": seconds / timed if timed else None,
        "tag_sets_per_hour": timed * _SECONDS_PER_HOUR / seconds if seconds else None,
    }
