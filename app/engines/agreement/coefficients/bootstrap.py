"""Resample documents with the bootstrap.

Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapters 6 and 13: documents are the
independent observations, so documents are sampled with replacement. A confidence interval consists
of percentiles of the resampled values. Documents with the same ratings form a group and are sampled
together, which does not change the probabilities.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from app.engines.agreement.coefficients.ratings import Floats, Integers, Ratings

RESAMPLES = 1000
"""The default number of resamples."""
_MAX_BLOCK_ENTRIES = 2_000_000
"""The maximum number of entries in the largest array for one block of resamples (16 MB)."""
_MAX_MERGE_RATERS = 16
"""The maximum number of raters for which documents with the same ratings are merged."""
_MIN_MEAN_GROUP_SIZE = 8
"""The minimum mean group size at which one multinomial sample is faster than single samples."""


class Statistic(Protocol):
    """A coefficient, computed from how often each group of documents occurs in a resample."""

    @property
    def width(self) -> int:
        """Return the number of entries per resample in the largest array that `compute` builds."""
        ...

    def compute(self, weights: Floats) -> Floats:
        """Return one coefficient per resample (column of `weights`); NaN if it is undefined."""
        ...


@dataclass(frozen=True, slots=True)
class RatioStatistic:
    """The ratio of two sums. Each of the two rows of `sums` has one entry per document group."""

    sums: Floats
    width: int = 2

    def compute(self, weights: Floats) -> Floats:
        """Return one ratio per resample (column of `weights`); NaN for 0/0."""
        numerator, denominator = self.sums @ weights
        result: Floats = numerator / denominator
        return result


class RestrictedStatistic:
    """A statistic that is computed only from the documents with the indexes `documents`."""

    def __init__(self, statistic: Statistic, documents: Integers) -> None:
        self._statistic = statistic
        self._documents = documents
        self.width = max(statistic.width, len(documents))

    def compute(self, weights: Floats) -> Floats:
        """Return one coefficient per resample (column of `weights`); NaN if it is undefined."""
        return self._statistic.compute(weights[self._documents])


@dataclass(frozen=True, slots=True)
class CompressedRatings:
    """The ratings of one document from each group of documents with equal ratings.

    `group_sizes` contains the number of documents in each group.
    """

    ratings: Ratings
    group_sizes: Integers


def compress_ratings(ratings: Ratings) -> CompressedRatings:
    """Compress ratings by merging the documents that have the same ratings by the same raters.

    Documents are not merged if any document has several units, or if there are more than
    `_MAX_MERGE_RATERS` raters; each document is then a group.
    """
    unmerged_ratings = CompressedRatings(ratings, np.ones(ratings.document_count, dtype=np.int64))
    has_one_unit_each = ratings.unit_count == ratings.document_count > 0
    if not has_one_unit_each or len(ratings.raters) > _MAX_MERGE_RATERS:
        return unmerged_ratings
    table = np.full((ratings.unit_count, len(ratings.raters)), -1, dtype=np.int32)
    table[ratings.units, ratings.rater_codes] = ratings.codes
    order = np.lexsort(table.T)
    table = table[order]
    is_new = np.ones(len(table), dtype=bool)
    is_new[1:] = np.any(table[1:] != table[:-1], axis=1)
    groups, group_sizes = table[is_new], np.diff(np.append(np.flatnonzero(is_new), len(table)))
    units, raters = np.nonzero(groups >= 0)
    merged_ratings = Ratings(
        level=ratings.level,
        raters=ratings.raters,
        document_count=len(groups),
        documents=np.arange(len(groups)),
        units=units,
        rater_codes=raters,
        codes=groups[units, raters].astype(np.int64),
        values=ratings.values,
        excluded_count=ratings.excluded_count,
    )
    return CompressedRatings(merged_ratings, group_sizes)


def resample(group_sizes: Integers, resamples: int, seed: int, width: int) -> Iterator[Floats]:
    """Resample the documents, and yield the group weights (groups by resamples) in blocks.

    A weight is the number of times that documents of a group occur in a resample. `width` is the
    greatest `Statistic.width`, which limits the block size.
    """
    generator = np.random.default_rng(seed)
    document_count = int(group_sizes.sum())
    step = max(1, _MAX_BLOCK_ENTRIES // max(width, len(group_sizes), 1))
    for start in range(0, resamples, step):
        block_size = min(step, resamples - start)
        if len(group_sizes) * _MIN_MEAN_GROUP_SIZE <= document_count:
            probabilities = group_sizes / document_count
            weights = generator.multinomial(document_count, probabilities, size=block_size)
            yield np.ascontiguousarray(weights.T, dtype=np.float64)
        else:
            yield _sample_documents(generator, group_sizes, block_size)


def _sample_documents(
    generator: np.random.Generator, group_sizes: Integers, block_size: int
) -> Floats:
    """Sample documents one by one, with replacement; return the group weights (see `resample`).

    This is faster than a multinomial sample if most groups have few documents.
    """
    count, document_count = len(group_sizes), int(group_sizes.sum())
    groups = np.repeat(np.arange(count), group_sizes) if count < document_count else None
    weights = np.empty((block_size, count), dtype=np.int32)
    for row in range(block_size):
        documents = generator.integers(0, document_count, size=document_count, dtype=np.int32)
        weights[row] = np.bincount(
            documents if groups is None else groups[documents], minlength=count
        )
    return weights.T.astype(np.float64, order="C")


def compute_values(
    statistics: list[Statistic], group_sizes: Integers, resamples: int, seed: int
) -> tuple[Floats, Floats]:
    """Compute coefficients; return their values in the sample and in the resamples.

    The second array has a row for each coefficient and a column for each resample. Undefined values
    are NaN.
    """
    if not statistics:
        return np.empty(0), np.empty((0, resamples))
    with np.errstate(divide="ignore", invalid="ignore"):
        full_weights = group_sizes.astype(np.float64)[:, np.newaxis]
        values = np.array([statistic.compute(full_weights)[0] for statistic in statistics])
        resampled_values = np.empty((len(statistics), resamples))
        width = max(statistic.width for statistic in statistics)
        start = 0
        for weights in resample(group_sizes, resamples, seed, width):
            end = start + weights.shape[1]
            for row, statistic in enumerate(statistics):
                resampled_values[row, start:end] = statistic.compute(weights)
            start = end
    return values, resampled_values
