"""Measure the shares of detected shifts and of false reports in a drift simulation."""

from bench.drift_simulation import LEAST_FOUND, MOST_FALSE, RUNS, simulate
from bench.report import Report, Row


def measure(report: Report) -> None:
    """Run the simulation, and report the shares of detected shifts and of false reports."""
    result = simulate(RUNS)
    found, false = result.found_share, result.false_share
    report.add(
        Row(
            f"drift: {RUNS:,} planted shifts found",
            f"{found:.1%}",
            "",
            None,
            f"at least {LEAST_FOUND:.0%}",
            found >= LEAST_FOUND,
        )
    )
    report.add(
        Row(
            f"drift: {RUNS:,} quiet runs with any report",
            f"{false:.1%}",
            "",
            None,
            f"at most {MOST_FALSE:.0%}",
            false <= MOST_FALSE,
        )
    )
