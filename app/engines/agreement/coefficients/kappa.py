"""Compute Cohen's kappa and F1 for two raters, and combine all pairs of three or more raters."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from app.engines.agreement.coefficients.bootstrap import RatioStatistic, Statistic
from app.engines.agreement.coefficients.ratings import Floats, Integers, Ratings
from app.engines.agreement.coefficients.scales import Scale
from app.engines.agreement.coefficients.units import compute_nominal_distances

_MAX_MATRIX_CATEGORIES = 1_000
"""The maximum number of categories that are all kept in one matrix.

Above this number, it is faster to separate the categories that occur in only one document.
"""
_ROUNDING_ERROR = 1e-14
"""An expected distance below this limit counts as zero, because of rounding errors."""


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Two raters and the units that both rated, with the document of each unit.

    `a` and `b` are the indexes of the raters in `Ratings.raters`. `left` has the category codes
    from rater `a`, and `right` those from rater `b`.
    """

    a: int
    b: int
    units: Integers
    documents: Integers
    left: Integers
    right: Integers


def count_pairs(ratings: Ratings) -> int:
    """Count the pairs of raters who have at least one unit in common, without listing the pairs."""
    return int(_find_pairs(ratings).sum())


def _find_pairs(ratings: Ratings) -> npt.NDArray[np.bool_]:
    """Return a matrix in which entry (a, b), with a < b, is true if raters a and b share a unit.

    The ratings of a unit must be sorted by rater code.
    """
    count = len(ratings.raters)
    has_shared_units = np.zeros((count, count), dtype=bool)
    for distance in range(1, int(ratings.sizes.max(initial=0))):
        is_shared = ratings.units[distance:] == ratings.units[:-distance]
        codes = ratings.rater_codes
        has_shared_units[codes[:-distance][is_shared], codes[distance:][is_shared]] = True
    return has_shared_units


class RaterPairs:
    """The pairs of raters who share at least one unit, sorted by rater code.

    Pairs of raters without shared units take no time, because they are never visited. A pair is
    built each time it is read. Storing all pairs would need memory for each pair of
    ratings; with 20 raters, there can be 9.5 times as many pairs of ratings as ratings.
    """

    def __init__(self, ratings: Ratings) -> None:
        self._ratings = ratings
        # These are the rater codes of each pair.
        self.codes = np.argwhere(_find_pairs(ratings))
        order = np.argsort(ratings.rater_codes, kind="stable")
        counts = np.bincount(ratings.rater_codes, minlength=len(ratings.raters))
        self._ends = np.cumsum(counts)
        self._starts = self._ends - counts
        # These are the units and category codes of each rater's ratings, in ascending unit order.
        self._units = ratings.units[order].astype(np.int32)
        self._categories = ratings.codes[order].astype(np.int32)
        unit_starts = np.cumsum(ratings.sizes) - ratings.sizes
        self._positions_in_unit = (order - unit_starts[self._units]).astype(np.int32)

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[RaterPair]:
        return map(self._build_pair, range(len(self)))

    def _build_pair(self, index: int) -> RaterPair:
        a, b = map(int, self.codes[index])
        left = slice(self._starts[a], self._ends[a])
        right = slice(self._starts[b], self._ends[b])
        left_indexes, right_indexes = _find_shared_elements(self._units[left], self._units[right])
        left_indexes, right_indexes = left_indexes + left.start, right_indexes + right.start
        order = self._sort_units(left_indexes, right_indexes)
        left_indexes, right_indexes = left_indexes[order], right_indexes[order]
        units = self._units[left_indexes].astype(np.int64)
        return RaterPair(
            a,
            b,
            units,
            self._ratings.documents[units],
            self._categories[left_indexes].astype(np.int64),
            self._categories[right_indexes].astype(np.int64),
        )

    def _sort_units(self, left_indexes: Integers, right_indexes: Integers) -> Integers:
        """Return the order of a pair's units: by number of ratings, then by the ratings' positions.

        The position of a rating is its index among the ratings of its unit. The order of the units
        determines the rounding errors of sums, so stored results depend on it.
        """
        sizes = self._ratings.sizes[self._units[left_indexes]]
        count = len(self._ratings.raters)
        ranks = (
            sizes * count + self._positions_in_unit[left_indexes]
        ) * count + self._positions_in_unit[right_indexes]
        return np.argsort(ranks, kind="stable")


def _find_shared_elements(
    left: npt.NDArray[np.int32], right: npt.NDArray[np.int32]
) -> tuple[Integers, Integers]:
    """Find the elements that are in both arrays; return their indexes in `left` and in `right`.

    Each array must be sorted, without repeated elements. The elements of the shorter array are
    searched in the longer array, which takes little time if one rater has few units.
    """
    if len(left) > len(right):
        right_indexes, left_indexes = _find_shared_elements(right, left)
        return left_indexes, right_indexes
    indexes = np.searchsorted(right, left)
    indexes[indexes == len(right)] = 0
    is_shared = right[indexes] == left
    return np.flatnonzero(is_shared), indexes[is_shared]


class CohenKappa:
    """Cohen's kappa of two raters: 1 - (observed distance) / (distance expected by chance).

    Cohen 1960, A coefficient of agreement for nominal scales, Educational and Psychological
    Measurement 20; with weights Cohen 1968. Only units that both raters rated are counted.
    """

    def __init__(self, pair: RaterPair, scale: Scale | None) -> None:
        self._documents, document_indexes = np.unique(pair.documents, return_inverse=True)
        self._unit_counts = np.bincount(document_indexes)
        if scale is None:
            # Categories that only one rater used cannot agree by chance.
            categories = np.intersect1d(pair.left, pair.right)
            distances = compute_nominal_distances(pair.left, pair.right)
            self._scale = None
        else:
            categories = np.union1d(pair.left, pair.right)
            distances = scale.compute_distances(pair.left, pair.right)
            self._scale = Scale(scale.values[categories], scale.linear, scale.quadratic)
        shape = (len(categories), len(self._documents))
        self._left = _count_codes(pair.left, categories, document_indexes, shape)
        self._right = _count_codes(pair.right, categories, document_indexes, shape)
        self._single_products: Floats | None = None
        if scale is None and len(categories) > _MAX_MATRIX_CATEGORIES:
            self._separate_single_document_categories()
        self._distances = np.bincount(document_indexes, weights=distances)
        self._shrink()
        self.width = 2 * max(shape)

    def _separate_single_document_categories(self) -> None:
        """Move categories that occur in only one document from the matrices to `_single_products`.

        The product of the two counts of a category grows with the square of the document's weight;
        see `SquaredCounts`.
        """
        is_single = (np.diff(self._left.indptr) == 1) & (np.diff(self._right.indptr) == 1)
        first_left = self._left.indices[self._left.indptr[:-1]]
        first_right = self._right.indices[self._right.indptr[:-1]]
        is_single &= first_left == first_right
        left, right = self._left[is_single], self._right[is_single]
        self._single_products = np.bincount(
            left.indices, left.data * right.data, minlength=len(self._documents)
        ).astype(np.float64)
        self._left, self._right = self._left[~is_single], self._right[~is_single]

    def _shrink(self) -> None:
        """Store counts in small types, because the kappas of all pairs are in memory at once.

        The counts are converted to floats when they are used, so the results do not change.
        """
        self._documents = self._documents.astype(np.int32)
        self._unit_counts = _shrink_counts(self._unit_counts)
        self._left.data = _shrink_counts(self._left.data)
        self._right.data = _shrink_counts(self._right.data)
        if self._scale is None:
            self._distances = _shrink_counts(self._distances)

    def compute(self, weights: Floats) -> Floats:
        """Return one kappa per resample (column of `weights`).

        A kappa is NaN if all ratings in the resample have the same category.
        """
        if len(self._documents) < len(weights):
            weights = weights[self._documents]
        left, right = self._left @ weights, self._right @ weights
        total = self._unit_counts @ weights
        if self._scale is None:
            chance = np.einsum("kb,kb->b", left, right)
            if self._single_products is not None:
                chance += self._single_products @ weights**2
            expected = 1 - chance / total**2
        else:
            expected = self._scale.compute_expected_distance(left / total, right / total)
        result: Floats = 1 - (self._distances @ weights) / total / expected
        result[expected < _ROUNDING_ERROR] = np.nan
        return result


def _count_codes(
    codes: Integers, categories: Integers, documents: Integers, shape: tuple[int, int]
) -> sparse.csr_array:
    """Return a matrix with the number of units by category and document."""
    is_counted = np.isin(codes, categories)
    rows = np.searchsorted(categories, codes[is_counted])
    counts = sparse.csr_array((np.ones(len(rows)), (rows, documents[is_counted])), shape=shape)
    counts.sum_duplicates()
    return counts


def _shrink_counts(counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the counts in the smallest type of integers that can represent them."""
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


def build_value_f1(
    pairs: Iterable[RaterPair], empty_code: int, document_count: int
) -> RatioStatistic:
    """Build the statistic for the F1 score of one or more pairs of raters.

    The score is 2 x equal values / values of both raters, or NaN without values; `empty_code` is
    the code of EMPTY ratings. Unlike kappa, F1 ignores units for which both raters found no
    value. The counts of all pairs are added up before dividing. Hripcsak and Rothschild 2005,
    Agreement, the F-measure, and reliability in information retrieval, Journal of the American
    Medical Informatics Association 12.
    """
    document_sums = np.zeros((2, document_count))
    for pair in pairs:
        has_left, has_right = pair.left != empty_code, pair.right != empty_code
        equal_count = 2.0 * (has_left & (pair.left == pair.right))
        value_count = has_left.astype(np.float64) + has_right
        for row, column in enumerate((equal_count, value_count)):
            document_sums[row] += np.bincount(pair.documents, column, minlength=document_count)
    return RatioStatistic(document_sums)


class MeanOfPairs:
    """The mean of a coefficient over all pairs for which it is defined.

    Light 1971, Measures of response agreement for qualitative data: Some generalizations and
    alternatives, Psychological Bulletin 76, for Cohen's kappa.
    """

    def __init__(self, statistics: list[Statistic]) -> None:
        self._statistics = statistics
        self.width = max((statistic.width for statistic in statistics), default=1)

    def compute(self, weights: Floats) -> Floats:
        """Return one mean per resample (column of `weights`); NaN if no pair has a coefficient."""
        total, count = np.zeros(weights.shape[1]), np.zeros(weights.shape[1])
        for statistic in self._statistics:
            values = statistic.compute(weights)
            is_defined = ~np.isnan(values)
            total += np.where(is_defined, values, 0)
            count += is_defined
        return total / count
