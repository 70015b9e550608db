"""Count pairs of labelers before their agreement is computed. Only the job loads this module."""

import numpy as np

from app.engines.agreement import coefficients
from app.engines.agreement.coefficients import MarkSets, Ratings

PAIR_RESAMPLES = 200
MAX_PAIRS_WITH_INTERVALS = 66
"""The maximum number of pairs that get confidence intervals: the pairs of twelve labelers. The
interval of a pair takes as long to compute as the interval of a field."""
MAX_RATERS_IN_PAIRS = 100
MAX_PAIRS = 20_000
"""The maximum number of pairs that a run computes. A field that would exceed this limit has no
pairs."""


def count_pairs(ratings_or_marks: Ratings | MarkSets) -> int:
    """Count the pairs of labelers who have at least one unit in common."""
    if isinstance(ratings_or_marks, Ratings):
        return coefficients.count_pairs(ratings_or_marks)
    raters = len(ratings_or_marks.raters)
    return len(np.unique(ratings_or_marks.pair_a * raters + ratings_or_marks.pair_b))


def choose_resample_count(raters: int) -> int:
    """Choose the number of resamples for the interval of each pair; 0 omits the intervals."""
    pairs = raters * (raters - 1) // 2
    return PAIR_RESAMPLES if pairs <= MAX_PAIRS_WITH_INTERVALS else 0
