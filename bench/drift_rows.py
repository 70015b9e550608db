"""Measure the shares of detected shifts and of false reports in a drift simulation."""

from bench.drift_simulation import MAX_FALSE_REPORT_SHARE, MIN_DETECTED_SHARE, RUNS, simulate
from bench.report import Report


def measure(report: Report) -> None:
    """Run the simulation, and report the shares of detected shifts and of false reports."""
    result = simulate(RUNS)
    detected, false_reports = result.detected_share, result.false_report_share
    report.add_without_floor(
        f"drift: {RUNS:,} planted shifts found",
        f"{detected:.1%}",
        f"at least {MIN_DETECTED_SHARE:.0%}",
        detected >= MIN_DETECTED_SHARE,
    )
    report.add_without_floor(
        f"drift: {RUNS:,} quiet runs with any report",
        f"{false_reports:.1%}",
        f"at most {MAX_FALSE_REPORT_SHARE:.0%}",
        false_reports <= MAX_FALSE_REPORT_SHARE,
    )
