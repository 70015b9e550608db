"""Compute Cohen's kappa and F1 of two raters, and their mean over the pairs of more raters."""

from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from scipy import sparse

from app.engines.agreement.coefficients.bootstrap import Statistic
from app.engines.agreement.coefficients.ratings import Floats, Integers, Ratings
from app.engines.agreement.coefficients.scales import Scale
from app.engines.agreement.coefficients.units import is_different

_FEW_CATEGORIES = 1_000
"""Up to this number of categories, one matrix is faster than separating rare categories."""
_NOTHING = 1e-14
"""An expected distance below this is a rounding error of zero."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The units that both of two raters rated: their documents, and the codes of both."""

    a: int
    b: int
    units: Integers
    documents: Integers
    left: Integers
    right: Integers


def list_pairs(ratings: Ratings) -> list[Pair]:
    """Return the pairs of raters who share units, in order. Takes time only for pairs that do."""
    sizes = ratings.sizes
    starts = np.cumsum(sizes) - sizes
    found: list[tuple[Integers, Integers, Integers]] = []
    for size in np.unique(sizes[sizes > 1]):
        firsts = starts[sizes == size]
        units = np.flatnonzero(sizes == size)
        for first, second in combinations(range(size), 2):
            found.append((units, firsts + first, firsts + second))
    if not found:
        return []
    units, left, right = (np.concatenate(column) for column in zip(*found, strict=True))
    count = len(ratings.raters)
    keys = ratings.rater_codes[left] * count + ratings.rater_codes[right]
    order = np.argsort(keys, kind="stable")
    keys, units, left, right = keys[order], units[order], left[order], right[order]
    bounds = np.append(np.flatnonzero(np.diff(keys, prepend=-1)), len(keys))
    return [
        Pair(
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
    Measurement 20; with weights Cohen 1968. Only units that both rated count.
    """

    def __init__(self, pair: Pair, scale: Scale | None) -> None:
        self._classes, documents = np.unique(pair.documents, return_inverse=True)
        self._units = np.bincount(documents)
        if scale is None:
            # Categories of only one rater cannot agree by chance.
            known = np.intersect1d(pair.left, pair.right)
            distances = is_different(pair.left, pair.right)
            self._scale = None
        else:
            known = np.union1d(pair.left, pair.right)
            distances = scale.compute_distances(pair.left, pair.right)
            self._scale = Scale(scale.values[known], scale.linear, scale.quadratic)
        shape = (len(known), len(self._classes))
        self._left = _count(pair.left, known, documents, shape)
        self._right = _count(pair.right, known, documents, shape)
        self._own = np.zeros(shape[1])
        if scale is None and len(known) > _FEW_CATEGORIES:
            self._set_own_categories_apart()
        self._distances = np.bincount(documents, weights=distances)
        self.width = 2 * max(shape)

    def _set_own_categories_apart(self) -> None:
        """Sum up the categories of a single document, whose products need no matrix.

        They grow with the square of the weight of the document; see `SquaredCounts`.
        """
        is_own = (np.diff(self._left.indptr) == 1) & (np.diff(self._right.indptr) == 1)
        first_left = self._left.indices[self._left.indptr[:-1]]
        first_right = self._right.indices[self._right.indptr[:-1]]
        is_own &= first_left == first_right
        left, right = self._left[is_own], self._right[is_own]
        self._own += np.bincount(left.indices, left.data * right.data, minlength=len(self._own))
        self._left, self._right = self._left[~is_own], self._right[~is_own]

    def compute(self, weights: Floats) -> Floats:
        """Return kappa for each column of `weights`, or NaN if only one category was used."""
        if len(self._classes) < len(weights):
            weights = weights[self._classes]
        left, right, total = self._left @ weights, self._right @ weights, self._units @ weights
        if self._scale is None:
            chance = np.einsum("kb,kb->b", left, right) + self._own @ weights**2
            expected = 1 - chance / total**2
        else:
            expected = self._scale.compute_expected(left / total, right / total)
        result: Floats = 1 - (self._distances @ weights) / total / expected
        result[expected < _NOTHING] = np.nan
        return result


def _count(
    codes: Integers, known: Integers, documents: Integers, shape: tuple[int, int]
) -> sparse.csr_array:
    """Return how often each document has each of the known codes."""
    is_known = np.isin(codes, known)
    rows = np.searchsorted(known, codes[is_known])
    counts = sparse.csr_array((np.ones(len(rows)), (rows, documents[is_known])), shape=shape)
    counts.sum_duplicates()
    return counts


class ValueF1:
    """The F1 of the values of two raters: 2 x equal values / (values of one + values of the other).

    Unlike kappa it does not count that both found nothing. Hripcsak and Rothschild 2005, Agreement,
    the F-measure, and reliability in information retrieval, Journal of the American Medical
    Informatics Association 12. Of more pairs, all counts are added up first.
    """

    def __init__(self, pairs: list[Pair], empty_code: int, document_count: int) -> None:
        self._sums = np.zeros((2, document_count))
        for pair in pairs:
            has_left, has_right = pair.left != empty_code, pair.right != empty_code
            equal = 2.0 * (has_left & (pair.left == pair.right))
            given = has_left.astype(np.float64) + has_right
            for row, column in enumerate((equal, given)):
                self._sums[row] += np.bincount(pair.documents, column, minlength=document_count)
        self.width = 2

    def compute(self, weights: Floats) -> Floats:
        """Return F1 for each column of `weights`, or NaN if nobody gave a value."""
        equal, given = self._sums @ weights
        result: Floats = equal / given
        return result


class MeanOfPairs:
    """The mean of the coefficients of all pairs for which it is defined.

    Light 1971, Measures of response agreement for qualitative data: Some generalizations and
    alternatives, Psychological Bulletin 76, for Cohen's kappa.
    """

    def __init__(self, statistics: list[Statistic]) -> None:
        self._statistics = statistics
        self.width = max((statistic.width for statistic in statistics), default=1)

    def compute(self, weights: Floats) -> Floats:
        """Return the mean for each column of `weights`."""
        total, count = np.zeros(weights.shape[1]), np.zeros(weights.shape[1])
        for statistic in self._statistics:
            values = statistic.compute(weights)
            is_defined = ~np.isnan(values)
            total += np.where(is_defined, values, 0)
            count += is_defined
        return total / count
