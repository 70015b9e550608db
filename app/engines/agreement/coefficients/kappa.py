"""Compute Cohen's kappa and F1 for two raters, and combine all pairs of three or more raters."""

from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from scipy import sparse

from app.engines.agreement.coefficients.bootstrap import Statistic
from app.engines.agreement.coefficients.ratings import Floats, Integers, Ratings
from app.engines.agreement.coefficients.scales import Scale
from app.engines.agreement.coefficients.units import compute_nominal_distances

_MAX_MATRIX_CATEGORIES = 1_000
"""The maximum number of categories that are kept in one matrix.

Above this number, it is faster to separate rare categories.
"""
_ROUNDING_ERROR = 1e-14
"""An expected distance below this limit counts as zero, because of rounding errors."""


@dataclass(frozen=True, slots=True)
class RaterPair:
    """The units that both raters `a` and `b` rated, with the document of each unit.

    `left` has the category codes from rater `a`, and `right` those from rater `b`.
    """

    a: int
    b: int
    units: Integers
    documents: Integers
    left: Integers
    right: Integers


def count_pairs(ratings: Ratings) -> int:
    """Count the pairs of raters who have at least one unit in common, without listing the pairs."""
    count = len(ratings.raters)
    has_shared_units = np.zeros((count, count), dtype=bool)
    for distance in range(1, int(ratings.sizes.max(initial=0))):
        is_shared = ratings.units[distance:] == ratings.units[:-distance]
        codes = ratings.rater_codes
        has_shared_units[codes[:-distance][is_shared], codes[distance:][is_shared]] = True
    return int(has_shared_units.sum())


def list_pairs(ratings: Ratings) -> list[RaterPair]:
    """List the pairs of raters who rated the same units, sorted by rater code.

    Pairs of raters without shared units take no time, because they are never visited.
    """
    sizes = ratings.sizes
    starts = np.cumsum(sizes) - sizes
    index_columns: list[tuple[Integers, Integers, Integers]] = []
    for size in np.unique(sizes[sizes > 1]):
        unit_starts = starts[sizes == size]
        units = np.flatnonzero(sizes == size)
        for first_offset, second_offset in combinations(range(size), 2):
            index_columns.append((units, unit_starts + first_offset, unit_starts + second_offset))
    if not index_columns:
        return []
    units, left, right = (np.concatenate(column) for column in zip(*index_columns, strict=True))
    count = len(ratings.raters)
    keys = ratings.rater_codes[left] * count + ratings.rater_codes[right]
    order = np.argsort(keys, kind="stable")
    keys, units, left, right = keys[order], units[order], left[order], right[order]
    bounds = np.append(np.flatnonzero(np.diff(keys, prepend=-1)), len(keys))
    return [
        RaterPair(
            int(keys[start]) // count,
            int(keys[start]) % count,
            units[start:end],
            ratings.documents[units[start:end]],
            ratings.codes[left[start:end]],
            ratings.codes[right[start:end]],
        )
        for start, end in pairwise(bounds)
    ]


class CohenKappa:
    """Cohen's kappa of two raters: 1 - (observed distance) / (distance expected by chance).

    Cohen 1960, A coefficient of agreement for nominal scales, Educational and Psychological
    Measurement 20; with weights Cohen 1968. Only units that both raters rated are counted.
    """

    def __init__(self, pair: RaterPair, scale: Scale | None) -> None:
        self._classes, documents = np.unique(pair.documents, return_inverse=True)
        self._units = np.bincount(documents)
        if scale is None:
            # Categories that only one rater used cannot agree by chance.
            categories = np.intersect1d(pair.left, pair.right)
            distances = compute_nominal_distances(pair.left, pair.right)
            self._scale = None
        else:
            categories = np.union1d(pair.left, pair.right)
            distances = scale.compute_distances(pair.left, pair.right)
            self._scale = Scale(scale.values[categories], scale.linear, scale.quadratic)
        shape = (len(categories), len(self._classes))
        self._left = _count_codes(pair.left, categories, documents, shape)
        self._right = _count_codes(pair.right, categories, documents, shape)
        self._single_products = np.zeros(shape[1])
        if scale is None and len(categories) > _MAX_MATRIX_CATEGORIES:
            self._separate_single_document_categories()
        self._distances = np.bincount(documents, weights=distances)
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
        self._single_products += np.bincount(
            left.indices, left.data * right.data, minlength=len(self._single_products)
        )
        self._left, self._right = self._left[~is_single], self._right[~is_single]

    def compute(self, weights: Floats) -> Floats:
        """Return one kappa per resample. Each column of `weights` is a resample.

        The kappa of a resample with only one category is NaN.
        """
        if len(self._classes) < len(weights):
            weights = weights[self._classes]
        left, right, total = self._left @ weights, self._right @ weights, self._units @ weights
        if self._scale is None:
            chance = np.einsum("kb,kb->b", left, right) + self._single_products @ weights**2
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


class ValueF1:
    """The F1 score for two raters: 2 x equal values / (values of `a` + values of `b`).

    Unlike kappa, F1 ignores units for which both raters found no value. For more than one pair, the
    counts of all pairs are added up before dividing. Hripcsak and Rothschild 2005, Agreement, the
    F-measure, and reliability in information retrieval, Journal of the American Medical Informatics
    Association 12.
    """

    def __init__(self, pairs: list[RaterPair], empty_code: int, document_count: int) -> None:
        self._document_sums = np.zeros((2, document_count))
        for pair in pairs:
            has_left, has_right = pair.left != empty_code, pair.right != empty_code
            equal_count = 2.0 * (has_left & (pair.left == pair.right))
            value_count = has_left.astype(np.float64) + has_right
            for row, column in enumerate((equal_count, value_count)):
                self._document_sums[row] += np.bincount(
                    pair.documents, column, minlength=document_count
                )
        self.width = 2

    def compute(self, weights: Floats) -> Floats:
        """Return one F1 score per resample. Each column of `weights` is a resample.

        The score of a resample without values is NaN.
        """
        equal_count, value_count = self._document_sums @ weights
        result: Floats = equal_count / value_count
        return result


class MeanOfPairs:
    """The mean of a coefficient over all pairs for which it is defined.

    Light 1971, Measures of response agreement for qualitative data: Some generalizations and
    alternatives, Psychological Bulletin 76, for Cohen's kappa.
    """

    def __init__(self, statistics: list[Statistic]) -> None:
        self._statistics = statistics
        self.width = max((statistic.width for statistic in statistics), default=1)

    def compute(self, weights: Floats) -> Floats:
        """Return one mean per resample. Each column of `weights` is a resample."""
        total, count = np.zeros(weights.shape[1]), np.zeros(weights.shape[1])
        for statistic in self._statistics:
            values = statistic.compute(weights)
            is_defined = ~np.isnan(values)
            total += np.where(is_defined, values, 0)
            count += is_defined
        return total / count
