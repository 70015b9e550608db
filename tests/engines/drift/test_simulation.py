"""A small version of the simulation; `python -m bench.drift_simulation` runs all of it."""

from app.engines.drift.model import DriftThresholds
from bench.drift_simulation import MAX_FALSE_REPORT_SHARE, METRICS, MIN_DETECTED_SHARE, simulate


def test_planted_shifts_are_found_and_quiet_runs_report_nothing() -> None:
    result = simulate(20 * len(METRICS))
    assert result.detected_share >= MIN_DETECTED_SHARE, result.detected
    assert result.false_report_share <= MAX_FALSE_REPORT_SHARE


def test_without_control_of_false_discoveries_quiet_runs_would_report() -> None:
    careless = simulate(
        len(METRICS) * 10, thresholds=DriftThresholds(false_discovery_rate=0.9, min_effect=0.0)
    )
    assert careless.false_report_share > MAX_FALSE_REPORT_SHARE
