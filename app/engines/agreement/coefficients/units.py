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
    return (a != b).astype(np.float64)


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
    return sparse.csr_array(
        (amounts, (rows, ratings.label_documents)), shape=shape
    ), known
