"""Compute Krippendorff's alpha for nominal, ordinal, interval and ratio data.

Krippendorff 2011, Computing Krippendorff's Alpha-Reliability (sections C to E), and Hayes and
Krippendorff 2007, Answering the call for a standard reliability measure for coding data,
Communication Methods and Measures 1. With n pairable ratings, of which n_c have the value c,

    alpha = 1 - (n - 1) * (sum over units of D / (m - 1)) / (sum over c, k of n_c n_k d(c, k)),

where m is the number of ratings of a unit, d is the squared difference that the level of
measurement defines, and D is the sum of d over the ordered pairs of ratings of the unit. Units with
a single rating are not pairable and are ignored.

The library `krippendorff` requires a table of units by categories and a matrix of categories by
categories, which do not fit into memory for free text. This module computes the sums without the
table and the matrix.
"""

import numpy as np

from app.engines.agreement.coefficients.bootstrap import Statistic
from app.engines.agreement.coefficients.ratings import Floats, Integers, Ratings
from app.engines.agreement.coefficients.units import (
    DistanceFunction,
    SquaredCounts,
    compute_mean_distances,
    compute_nominal_distances,
    count_categories,
    sum_by_document,
)
from app.engines.agreement.metrics import Level

MAX_RATIO_VALUES = 4_000
"""The maximum number of distinct values at the ratio level, which compares each pair of values."""
_VALUES_PER_BLOCK = 512
"""The number of values whose distances from all values are in memory at once."""


def build_alpha(ratings: Ratings) -> Statistic:
    """Build the alpha statistic for the level of measurement of the ratings.

    All ratings must be pairable. Above the nominal level, no rating may be EMPTY.
    """
    match ratings.level:
        case Level.NOMINAL:
            return NominalAlpha(ratings)
        case Level.ORDINAL:
            return OrdinalAlpha(ratings)
        case Level.INTERVAL:
            return IntervalAlpha(ratings)
        case Level.RATIO:
            return RatioAlpha(ratings)


def _sum_observed_disagreement(ratings: Ratings, means: Floats) -> Floats:
    """Return two rows: the observed disagreement and the number of ratings of each document.

    `means` contains the mean distance between two ratings of each unit. The disagreement of a unit
    with m ratings is m times this mean, which is D / (m - 1) in the formula of this module.
    """
    sizes = ratings.sizes.astype(np.float64)
    return sum_by_document(ratings, [sizes * means, sizes])


def _compute_alpha(observed: Floats, expected: Floats, total: Floats) -> Floats:
    """Return one alpha per resample, or NaN for a resample in which all ratings are equal."""
    result: Floats = 1 - (total - 1) * observed / expected
    result[expected <= 0] = np.nan
    return result


class NominalAlpha:
    """Krippendorff's alpha for nominal data: the distance d of two different values is 1."""

    def __init__(self, ratings: Ratings) -> None:
        self._document_sums = _sum_observed_disagreement(
            ratings, compute_mean_distances(ratings, compute_nominal_distances)
        )
        self._squares = SquaredCounts(ratings)
        self.width = self._squares.width

    def compute(self, weights: Floats) -> Floats:
        """Return one alpha per resample (column of `weights`); NaN if all its ratings are equal."""
        observed, total = self._document_sums @ weights
        # The sum of n_c n_k d(c, k) in the module's formula is n^2 minus the sum of n_c^2.
        return _compute_alpha(observed, total**2 - self._squares.compute(weights), total)


class _ValueAlpha:
    """The base class of interval and ratio alpha, which computes the sums that both need.

    `compute_distances` returns the distances between two arrays of category codes.
    """

    def __init__(
        self, ratings: Ratings, values: Floats, compute_distances: DistanceFunction
    ) -> None:
        self._document_sums = _sum_observed_disagreement(
            ratings, compute_mean_distances(ratings, compute_distances)
        )
        self._counts, used_codes = count_categories(ratings)
        self._values = values[used_codes]
        self.width = len(used_codes)


class IntervalAlpha(_ValueAlpha):
    """Krippendorff's alpha for interval data: the distance d of two values c and k is (c - k)^2."""

    def __init__(self, ratings: Ratings) -> None:
        values = _scale_values(ratings)

        def compute_distances(a: Integers, b: Integers) -> Floats:
            distances: Floats = (values[a] - values[b]) ** 2
            return distances

        super().__init__(ratings, values, compute_distances)

    def compute(self, weights: Floats) -> Floats:
        """Return one alpha per resample (column of `weights`); NaN if all its ratings are equal."""
        observed, total = self._document_sums @ weights
        counts = self._counts @ weights
        means = self._values @ counts / total
        # The sum of n_c n_k d(c, k) in the module's formula is 2 n times the sum of the squared
        # deviations from the mean. Subtracting two large sums instead would lose digits.
        spread = np.einsum("kb,kb->b", (self._values[:, np.newaxis] - means) ** 2, counts)
        spread[np.count_nonzero(counts, axis=0) < 2] = 0  # noqa: PLR2004 - all values are equal
        return _compute_alpha(observed, 2 * total * spread, total)


class OrdinalAlpha:
    """Krippendorff's alpha for ordinal data: alpha for interval data, computed on midranks.

    The distance of two values c and k is the squared number of ratings from c to k, of which those
    equal to c or k count half. This is the squared difference of the midranks of c and k. The
    midranks change with every resample.
    """

    def __init__(self, ratings: Ratings) -> None:
        self._ratings = ratings
        self._sizes = ratings.sizes.astype(np.float64)
        self._starts = np.cumsum(ratings.sizes) - ratings.sizes
        self._counts, used_codes = count_categories(ratings)
        self._rating_rows = np.searchsorted(used_codes, ratings.codes)
        self._totals = sum_by_document(ratings, [self._sizes])[0]
        self.width = len(ratings.codes)

    def compute(self, weights: Floats) -> Floats:
        """Return one alpha per resample (column of `weights`); NaN if all its ratings are equal."""
        counts = self._counts @ weights
        total = self._totals @ weights
        ranks = (np.cumsum(counts, axis=0) - counts / 2) / total
        mean = np.einsum("kb,kb->b", ranks, counts) / total
        spread = np.einsum("kb,kb->b", (ranks - mean) ** 2, counts)
        spread[np.count_nonzero(counts, axis=0) < 2] = 0  # noqa: PLR2004 - all values are equal
        rating_ranks = ranks[self._rating_rows]
        unit_means = np.add.reduceat(rating_ranks, self._starts) / self._sizes[:, np.newaxis]
        rating_ranks -= unit_means[self._ratings.units]
        squares = np.add.reduceat(rating_ranks**2, self._starts)
        factors = 2 * self._sizes / (self._sizes - 1)
        observed = np.einsum(
            "ub,ub->b", factors[:, np.newaxis] * squares, weights[self._ratings.documents]
        )
        return _compute_alpha(observed, 2 * total * spread, total)


class RatioAlpha(_ValueAlpha):
    """Krippendorff's alpha for ratio data; see `_compute_ratio_distances` for the distance."""

    def __init__(self, ratings: Ratings) -> None:
        values = ratings.values

        def compute_distances(a: Integers, b: Integers) -> Floats:
            return _compute_ratio_distances(values[a], values[b])

        super().__init__(ratings, values, compute_distances)

    def compute(self, weights: Floats) -> Floats:
        """Return one alpha per resample (column of `weights`); NaN if all its ratings are equal."""
        observed, total = self._document_sums @ weights
        counts = self._counts @ weights
        expected = np.zeros(weights.shape[1])
        values = self._values
        for start in range(0, len(values), _VALUES_PER_BLOCK):
            rows = slice(start, start + _VALUES_PER_BLOCK)
            distances = _compute_ratio_distances(values[rows, np.newaxis], values)
            expected += np.einsum("kb,kb->b", counts[rows], distances @ counts)
        return _compute_alpha(observed, expected, total)


def _compute_ratio_distances(a: Floats, b: Floats) -> Floats:
    """Return the ratio distances ((a - b) / (a + b))^2 of values of 0 or more; 0 for two zeros."""
    total = a + b
    ratio: Floats = np.divide(a - b, total, out=np.zeros(total.shape), where=total != 0)
    return ratio**2


def _scale_values(ratings: Ratings) -> Floats:
    """Return the values scaled to the range 0 to 1, which does not change interval alpha."""
    values = ratings.values
    spread = float(values[-1] - values[0]) if len(values) else 0.0
    scaled_values: Floats = (values - values[0]) / spread if spread else np.zeros(len(values))
    return scaled_values
