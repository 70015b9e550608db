"""Find drift: compare samples from two periods, and report significant and large differences.

`compare` tests a pair of samples. `assign_verdicts` controls the false discovery rate over all
pairs of a run. A difference is drift if it is significant and its effect is large enough.
`find_drift` does both in a child process, so that the caller does not load scipy. This package
imports numpy and scipy only inside the functions that compute.
"""

from app.engines.drift.model import (
    CategorySample,
    Comparison,
    DriftLimits,
    Hypothesis,
    NumberSample,
    RateSample,
    Sample,
    Verdict,
)
from app.engines.drift.process import ComparisonFailed, find_drift
from app.engines.drift.testing import assign_verdicts, compare

__all__ = [
    "CategorySample",
    "Comparison",
    "ComparisonFailed",
    "DriftLimits",
    "Hypothesis",
    "NumberSample",
    "RateSample",
    "Sample",
    "Verdict",
    "assign_verdicts",
    "compare",
    "find_drift",
]
