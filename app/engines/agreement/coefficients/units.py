"""Sum over the pairs of ratings in each unit, and over the units of each document."""

from collections.abc import Callable

import numpy as np
from scipy import sparse

from app.engines.agreement.coefficients.ratings import Floats, Integers, Ratings

Distances = Callable[[Integers, Integers], Floats]


def compute_mean_distances(ratings: Ratings, distances: Distances) -> Floats:
    """Return the mean distance of the pairs of ratings of each unit; 0 without pairs."""
    means = np.zeros(ratings.unit_count)
    sizes = ratings.sizes
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 1]):
        chosen = np.flatnonzero(sizes == size)
        table = ratings.codes[starts[chosen, np.newaxis] + np.arange(size)]
        total = np.zeros(len(chosen))
        for left in range(size):
            for right in range(left + 1, size):
                total += distances(table[:, left], table[:, right])
        means[chosen] = total * (2 / (size * (size - 1)))
    return means


def is_different(a: Integers, b: Integers) -> Floats:
    """Return the nominal distances: 1 for different categories, 0 for equal ones."""
    distances: Floats = (a != b).astype(np.float64)
    return distances


def sum_by_document(ratings: Ratings, columns: list[Floats]) -> Floats:
    """Sum columns of values of units by document, and return them as rows."""
    count = ratings.document_count
    return np.array(
        [np.bincount(ratings.documents, weights=column, minlength=count) for column in columns]
    )


def count_categories(
    ratings: Ratings, amounts: Floats | None = None
) -> tuple[sparse.csr_array, Integers]:
    """Return how often each document has each category, and the codes of these categories.

    The counts are a matrix of categories by documents, without categories that nobody chose.
    `amounts` gives each rating a weight other than 1.
    """
    known, rows = np.unique(ratings.codes, return_inverse=True)
    if amounts is None:
        amounts = np.ones(len(rows))
    shape = (len(known), ratings.document_count)
    return sparse.csr_array((amounts, (rows, ratings.label_documents)), shape=shape), known


class SquaredCounts:
    """The sum over the categories of the squared counts, as a function of the weights.

    Categories of a single document, such as texts that nobody else wrote, need no row of a matrix:
    their squares grow with the square of the weight of the document.
    """

    def __init__(self, ratings: Ratings, amounts: Floats | None = None) -> None:
        counts, _ = count_categories(ratings, amounts)
        counts.sum_duplicates()
        is_shared = np.diff(counts.indptr) > 1
        self._shared = counts[is_shared]
        own = counts[~is_shared]
        self._own = np.bincount(own.indices, own.data**2, minlength=ratings.document_count)
        self.width = self._shared.shape[0]

    def compute(self, weights: Floats) -> Floats:
        """Return the sum for each column of `weights`."""
        total: Floats = self._own @ weights**2
        if self.width:
            counts = self._shared @ weights
            total += np.einsum("kb,kb->b", counts, counts)
        return total
