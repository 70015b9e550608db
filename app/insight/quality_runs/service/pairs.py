"""Count pairs of labelers before anything is computed for them. Runs only in the job."""

import numpy as np

from app.engines.agreement.coefficients import MarkSets, Ratings

PAIR_RESAMPLES = 200
MAX_PAIRS_WITH_INTERVALS = 66
"""Pairs of twelve labelers. More pairs have no intervals, because each costs as much as a field."""
MAX_RATERS_IN_PAIRS = 100
MAX_PAIRS = 20_000
"""The number of pairs that are computed in a run; fields that would exceed it have none."""


def count_pairs(measured: Ratings | MarkSets) -> int:
    """Return the number of pairs of labelers who share units."""
    raters = len(measured.raters)
    if isinstance(measured, MarkSets):
        return len(np.unique(measured.pair_a * raters + measured.pair_b))
    units, codes = measured.units, measured.rater_codes
    shared = np.zeros((raters, raters), dtype=bool)
    for distance in range(1, int(measured.sizes.max(initial=0))):
        is_shared = units[distance:] == units[:-distance]
        shared[codes[:-distance][is_shared], codes[distance:][is_shared]] = True
    return int(shared.sum())


def choose_resamples(raters: int) -> int:
    """Return the number of resamples for the interval of each pair; 0 for no interval."""
    pairs = raters * (raters - 1) // 2
    return PAIR_RESAMPLES if pairs <= MAX_PAIRS_WITH_INTERVALS else 0
