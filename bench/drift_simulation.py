"""Simulate drift detection, and count the shifts that are found and the false reports.

    .venv/bin/python -m bench.drift_simulation

Each run compares `CURRENT_COUNT` documents with `BASELINE_COUNT` documents in the metrics of a
typical schema. In a run with a planted shift, one metric has the shift that `METRICS` describes;
the runs use the metrics in turn. The population stability index of a shift is between 0.16 and
0.35. A shift is found if the run reports its metric. A quiet run has no shift; if it reports any
metric, this is a false report.
"""

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from app.engines.drift.comparing import assign_outcomes, compare
from app.engines.drift.model import (
    CategorySample,
    DriftOutcome,
    DriftThresholds,
    Hypothesis,
    NumberSample,
    RateSample,
    Sample,
)

RUNS = 1000
BASELINE_COUNT = 800
CURRENT_COUNT = 200
MIN_DETECTED_SHARE = 0.95
MAX_FALSE_REPORT_SHARE = 0.05
Generator = np.random.Generator


@dataclass(frozen=True)
class Metric:
    """A metric and the description of its planted shift.

    `draw` draws a sample of the given size. If its last argument is true, the sample has the shift.
    """

    shift: str
    draw: Callable[[Generator, int, bool], Sample]


def _draw_rate(before: float, after: float) -> Callable[[Generator, int, bool], Sample]:
    def draw(random: Generator, size: int, shifted: bool) -> Sample:  # noqa: FBT001
        return RateSample(int(random.binomial(size, after if shifted else before)), size)

    return draw


def _draw_categories(
    before: tuple[float, ...], after: tuple[float, ...]
) -> Callable[[Generator, int, bool], Sample]:
    def draw(random: Generator, size: int, shifted: bool) -> Sample:  # noqa: FBT001
        counts = random.multinomial(size, after if shifted else before)
        return CategorySample({f"option {n}": int(count) for n, count in enumerate(counts)})

    return draw


def _draw_numbers(
    generate: Callable[[Generator, int, bool], Any],
) -> Callable[[Generator, int, bool], Sample]:
    def draw(random: Generator, size: int, shifted: bool) -> Sample:  # noqa: FBT001
        return NumberSample(generate(random, size, shifted).tolist())

    return draw


_RARE = tuple(0.01 for _ in range(20))
METRICS: Mapping[str, Metric] = {
    "kind.values": Metric(
        "a choice of four: 15 points from the first option to the last",
        _draw_categories((0.5, 0.3, 0.15, 0.05), (0.35, 0.3, 0.15, 0.2)),
    ),
    "vendor.values": Metric(
        "a choice of 22 with 20 rare options: 20 points between the frequent ones",
        _draw_categories((0.5, 0.3, *_RARE), (0.3, 0.5, *_RARE)),
    ),
    "paid.values": Metric("a boolean: from 50% to 70%", _draw_categories((0.5, 0.5), (0.7, 0.3))),
    "total.values": Metric(
        "an amount (log-normal): half a standard deviation",
        _draw_numbers(lambda r, n, s: np.round(r.lognormal(4 + 0.5 * s, 1, n), 2)),
    ),
    "pages.values": Metric(
        "a small integer (Poisson) with many ties: from 3 to 4 on average",
        _draw_numbers(lambda r, n, s: r.poisson(4 if s else 3, n)),
    ),
    "day.values": Metric(
        "a date, in days before the decision: from 10 to 18 on average (exponential)",
        _draw_numbers(lambda r, n, s: np.round(r.exponential(18 if s else 10, n))),
    ),
    "note.length": Metric(
        "the length of a text: 40% longer",
        _draw_numbers(lambda r, n, s: np.round(r.gamma(3, 14 if s else 10, n))),
    ),
    "note.empty_rate": Metric("values missing: from 5% to 17%", _draw_rate(0.05, 0.17)),
    "acceptance_rate": Metric("accepted at once: from 95% to 83%", _draw_rate(0.95, 0.83)),
    "total.accuracy": Metric("a model's accuracy: from 97% to 86%", _draw_rate(0.97, 0.86)),
    "total.correction_rate": Metric(
        "corrections of a model: from 3% to 14%", _draw_rate(0.03, 0.14)
    ),
    "total.confidence": Metric(
        "a model's confidence: 0.86 instead of 0.9 on average (beta)",
        _draw_numbers(lambda r, n, s: r.beta(*((12, 2.0) if s else (18, 2.0)), n)),
    ),
}


class Result(NamedTuple):
    """The counts of shifts by metric, of quiet runs, and of quiet runs with a false report."""

    detected: dict[str, int]
    planted: dict[str, int]
    quiet_runs: int
    false_runs: int

    @property
    def detected_share(self) -> float:
        """Return the share of planted shifts that were found."""
        return sum(self.detected.values()) / sum(self.planted.values())

    @property
    def false_report_share(self) -> float:
        """Return the share of quiet runs that reported any metric."""
        return self.false_runs / self.quiet_runs


def simulate(
    runs: int, *, seed: int = 20261202, thresholds: DriftThresholds | None = None
) -> Result:
    """Simulate `runs` runs with a planted shift, and the same number of quiet runs."""
    random = np.random.default_rng(seed)
    names = list(METRICS)
    detected, planted = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    false_runs = 0
    for number in range(runs):
        name = names[number % len(names)]
        planted[name] += 1
        detected[name] += name in _run(random, name, thresholds)
        false_runs += bool(_run(random, None, thresholds))
    return Result(detected, planted, runs, false_runs)


def _run(random: Generator, shifted: str | None, thresholds: DriftThresholds | None) -> set[str]:
    """Compare samples in which the metric `shifted` has its shift; return the reported metrics."""
    hypotheses = [
        Hypothesis(
            name,
            metric.draw(random, BASELINE_COUNT, False),  # noqa: FBT003
            metric.draw(random, CURRENT_COUNT, name == shifted),
        )
        for name, metric in METRICS.items()
    ]
    comparisons = assign_outcomes(
        [compare(hypothesis, thresholds) for hypothesis in hypotheses], thresholds
    )
    return {
        comparison.key for comparison in comparisons if comparison.outcome == DriftOutcome.DRIFT
    }


def main() -> int:
    """Print both shares; return 0 if both meet their bounds, or 1 otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args().runs
    result = simulate(runs)
    print(f"{runs} runs with a planted shift and {runs} without; {len(METRICS)} metrics a run,")
    print(f"{CURRENT_COUNT} documents compared with {BASELINE_COUNT}.")
    for name, metric in METRICS.items():
        share = result.detected[name] / max(1, result.planted[name])
        print(f"  {name:24}{share:7.1%}  {metric.shift}")
    bound = f"at least {MIN_DETECTED_SHARE:.0%}"
    print(f"planted shifts found:       {result.detected_share:.1%} ({bound})")
    bound = f"at most {MAX_FALSE_REPORT_SHARE:.0%}"
    print(f"quiet runs with any report: {result.false_report_share:.1%} ({bound})")
    met = (
        result.detected_share >= MIN_DETECTED_SHARE
        and result.false_report_share <= MAX_FALSE_REPORT_SHARE
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
