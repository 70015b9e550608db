"""Compute sums over the pairs of ratings in each unit, and over the units of each document."""

from collections.abc import Callable

import numpy as np
from scipy import sparse

from app.engines.agreement.coefficients.ratings import Floats, Integers, Ratings

DistanceFunction = Callable[[Integers, Integers], Floats]


def compute_mean_distances(ratings: Ratings, compute_distances: DistanceFunction) -> Floats:
    """Return, for each unit, the mean distance over its pairs of ratings; 0 if it has no pair."""
    means = np.zeros(ratings.unit_count)
    sizes = ratings.sizes
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 1]):
        unit_indexes = np.flatnonzero(sizes == size)
        table = ratings.codes[starts[unit_indexes, np.newaxis] + np.arange(size)]
        total = np.zeros(len(unit_indexes))
        for left in range(size):
            for right in range(left + 1, size):
                total += compute_distances(table[:, left], table[:, right])
        means[unit_indexes] = total * (2 / (size * (size - 1)))
    return means


def compute_nominal_distances(a: Integers, b: Integers) -> Floats:
    """Return the nominal distances: 1 for different categories, 0 for equal ones."""
    distances: Floats = (a != b).astype(np.float64)
    return distances


def sum_by_document(ratings: Ratings, columns: list[Floats]) -> Floats:
    """Sum each column of unit values by document, and return the sums as rows."""
    count = ratings.document_count
    return np.array(
        [np.bincount(ratings.documents, weights=column, minlength=count) for column in columns]
    )


def count_categories(
    ratings: Ratings, rating_weights: Floats | None = None
) -> tuple[sparse.csr_array, Integers]:
    """Count the ratings by category and document; return the counts and the category codes.

    The counts are a matrix of categories by documents, without categories that nobody chose.
    `rating_weights` contains the weight of each rating; by default, all weights are 1.
    """
    categories, rows = np.unique(ratings.codes, return_inverse=True)
    if rating_weights is None:
        rating_weights = np.ones(len(rows))
    shape = (len(categories), ratings.document_count)
    return sparse.csr_array(
        (rating_weights, (rows, ratings.rating_documents)), shape=shape
    ), categories


class SquaredCounts:
    """The sum of the squared category counts, as a function of the document weights.

    A category that occurs in a single document, such as a unique value of a text field, needs no
    matrix row, because its squared count is proportional to the square of the document's weight.
    """

    def __init__(self, ratings: Ratings, rating_weights: Floats | None = None) -> None:
        counts, _ = count_categories(ratings, rating_weights)
        counts.sum_duplicates()
        is_shared = np.diff(counts.indptr) > 1
        self._shared_counts = counts[is_shared]
        unshared_counts = counts[~is_shared]
        self._unshared_squares = np.bincount(
            unshared_counts.indices, unshared_counts.data**2, minlength=ratings.document_count
        )
        self.width = self._shared_counts.shape[0]

    def compute(self, weights: Floats) -> Floats:
        """Return one sum per resample (column of `weights`)."""
        total: Floats = self._unshared_squares @ weights**2
        if self.width:
            counts = self._shared_counts @ weights
            total += np.einsum("kb,kb->b", counts, counts)
        return total
