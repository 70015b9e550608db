"""Measure the shares of detected shifts and of false reports in a drift simulation."""

from bench.drift_simulation import MAX_FALSE_REPORT_SHARE, MIN_DETECTED_SHARE, RUNS, simulate
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
            f"at least {MIN_DETECTED_SHARE:.0%}",
            found >= MIN_DETECTED_SHARE,
        )
    )
    report.add(
        Row(
            f"drift: {RUNS:,} quiet runs with any report",
            f"{false:.1%}",
            "",
            None,
            f"at most {MAX_FALSE_REPORT_SHARE:.0%}",
            false <= MAX_FALSE_REPORT_SHARE,
        )
    )
