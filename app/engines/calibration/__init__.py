"""Compare predictions with correct values: compute rates, calibration errors and thresholds.

The intervals of rates are Wilson score intervals. Predictions are counted in confidence bins of one
percent, so the metrics of any period can be computed from sums of counts.
"""

from app.engines.calibration.bins import (
    MILLION,
    ConfidenceBin,
    compute_calibration_error,
    get_bin_number,
    merge_bins,
)
from app.engines.calibration.comparing import ModelComparison, compare_models, describe_comparison
from app.engines.calibration.rates import Outcomes, compute_wilson_interval, merge_outcomes
from app.engines.calibration.thresholds import Threshold, recommend_threshold

__all__ = [
    "MILLION",
    "ConfidenceBin",
    "ModelComparison",
    "Outcomes",
    "Threshold",
    "compare_models",
    "compute_calibration_error",
    "compute_wilson_interval",
    "describe_comparison",
    "get_bin_number",
    "merge_bins",
    "merge_outcomes",
    "recommend_threshold",
]
