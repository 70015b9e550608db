"""Sum over the pairs of ratings in each unit, and over the units of each document."""

from collections.abc import Callable

import numpy as np
from scipy import sparse

from app.engines.agreement.coefficients.ratings import Floats, Integers, Ratings

Distances = Callable[[Integers, Integers], Floats]


def compute_mean_distances(ratings: Ratings, distances: Distances) -> Floats:
    """Return for each unit the mean distance between two of its ratings; 0 without pairs."""
    means = np.zeros(ratings.unit_count)
    sizes = ratings.sizes
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 1]):
        unit_indexes = np.flatnonzero(sizes == size)
        table = ratings.codes[starts[unit_indexes, np.newaxis] + np.arange(size)]
        total = np.zeros(len(unit_indexes))
        for left in range(size):
            for right in range(left + 1, size):
                total += distances(table[:, left], table[:, right])
        means[unit_indexes] = total * (2 / (size * (size - 1)))
    return means


def compute_nominal_distances(a: Integers, b: Integers) -> Floats:
    """Return the nominal distances: 1 for different categories, 0 for equal ones."""
    distances: Floats = (a != b).astype(np.float64)
    return distances


def sum_by_document(ratings: Ratings, columns: list[Floats]) -> Floats:
    """Sum up each column of unit values by document, and return the sums as rows."""
    count = ratings.document_count
    return np.array(
        [np.bincount(ratings.documents, weights=column, minlength=count) for column in columns]
    )


def count_categories(
    ratings: Ratings, amounts: Floats | None = None
) -> tuple[sparse.csr_array, Integers]:
    """Return the number of ratings by category and document, and the category codes.

    The counts are a matrix of categories by documents, without categories that nobody chose.
    `amounts` gives each rating a weight other than 1.
    """
    categories, rows = np.unique(ratings.codes, return_inverse=True)
    if amounts is None:
        amounts = np.ones(len(rows))
    shape = (len(categories), ratings.document_count)
    return sparse.csr_array((amounts, (rows, ratings.rating_documents)), shape=shape), categories


class SquaredCounts:
    """The sum of the squared category counts, as a function of the document weights.

    Categories that occur in a single document, such as unique texts, need no matrix row: their
    squares grow with the square of the document's weight.
    """

    def __init__(self, ratings: Ratings, amounts: Floats | None = None) -> None:
        counts, _ = count_categories(ratings, amounts)
        counts.sum_duplicates()
        is_shared = np.diff(counts.indptr) > 1
        self._shared_counts = counts[is_shared]
        single = counts[~is_shared]
        self._single_squares = np.bincount(
            single.indices, single.data**2, minlength=ratings.document_count
        )
        self.width = self._shared_counts.shape[0]

    def compute(self, weights: Floats) -> Floats:
        """Return the sum for each column of `weights`."""
        total: Floats = self._single_squares @ weights**2
        if self.width:
            counts = self._shared_counts @ weights
            total += np.einsum("kb,kb->b", counts, counts)
        return total
