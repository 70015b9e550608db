"""Resample documents with the bootstrap.

Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapters 6 and 13: documents are the
independent observations, so documents are sampled with replacement. A confidence interval consists
of percentiles of the resampled values. Documents with the same ratings form a class and are sampled
together, which does not change the probabilities.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from app.engines.agreement.coefficients.ratings import Floats, Integers, Ratings

RESAMPLES = 1000
"""The default number of resamples."""
_BLOCK_ENTRIES = 2_000_000
"""The maximum number of entries in the largest array for one block of resamples (16 MB)."""
_MAX_PATTERN_RATERS = 16
"""The maximum number of raters for which documents with the same ratings are merged."""
_MIN_MEAN_CLASS_SIZE = 8
"""The minimum mean class size at which one multinomial sample is faster than separate ones."""


class Statistic(Protocol):
    """A coefficient, computed from how often each class of documents occurs in a resample."""

    @property
    def width(self) -> int:
        """Return the number of array entries per resample, which limits the block size."""
        ...

    def compute(self, weights: Floats) -> Floats:
        """Return the coefficient, or NaN, for each column of `weights` (classes by resamples)."""
        ...


@dataclass(frozen=True, slots=True)
class RatioStatistic:
    """The ratio of two sums. Each of the two rows of `sums` has one entry per document."""

    sums: Floats
    width: int = 2

    def compute(self, weights: Floats) -> Floats:
        """Return one ratio per resample, or NaN for 0/0. Each column of `weights` is a resample."""
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
        """Return one coefficient, or NaN, per resample; each column of `weights` is a resample."""
        return self._statistic.compute(weights[self._documents])


@dataclass(frozen=True, slots=True)
class CompressedRatings:
    """The ratings of one document from each class of documents with equal ratings.

    `counts` contains the number of documents in each class.
    """

    ratings: Ratings
    counts: Integers


def compress_ratings(ratings: Ratings) -> CompressedRatings:
    """Compress ratings by merging the documents that have the same ratings by the same raters.

    Documents are not merged if any document has several units, or if there are more than
    `_MAX_PATTERN_RATERS` raters.
    """
    unmerged_ratings = CompressedRatings(ratings, np.ones(ratings.document_count, dtype=np.int64))
    has_one_unit_each = ratings.unit_count == ratings.document_count > 0
    if not has_one_unit_each or len(ratings.raters) > _MAX_PATTERN_RATERS:
        return unmerged_ratings
    table = np.full((ratings.unit_count, len(ratings.raters)), -1, dtype=np.int32)
    table[ratings.units, ratings.rater_codes] = ratings.codes
    order = np.lexsort(table.T)
    table = table[order]
    is_new = np.ones(len(table), dtype=bool)
    is_new[1:] = np.any(table[1:] != table[:-1], axis=1)
    classes, counts = table[is_new], np.diff(np.append(np.flatnonzero(is_new), len(table)))
    units, raters = np.nonzero(classes >= 0)
    merged_ratings = Ratings(
        level=ratings.level,
        raters=ratings.raters,
        document_count=len(classes),
        documents=np.arange(len(classes)),
        units=units,
        rater_codes=raters,
        codes=classes[units, raters].astype(np.int64),
        values=ratings.values,
        excluded_count=ratings.excluded_count,
    )
    return CompressedRatings(merged_ratings, counts)


def resample(counts: Integers, resamples: int, seed: int, width: int) -> Iterator[Floats]:
    """Resample the documents, and yield the class weights (classes by resamples) in blocks.

    `counts` contains the number of documents in each class. `width` is the number of array entries
    per resample, which limits the block size.
    """
    generator = np.random.default_rng(seed)
    total = int(counts.sum())
    step = max(1, _BLOCK_ENTRIES // max(width, len(counts), 1))
    for start in range(0, resamples, step):
        block_size = min(step, resamples - start)
        if len(counts) * _MIN_MEAN_CLASS_SIZE <= total:
            class_counts = generator.multinomial(total, counts / total, size=block_size)
            yield np.ascontiguousarray(class_counts.T, dtype=np.float64)
        else:
            yield _sample_documents(generator, counts, total, block_size)


def _sample_documents(
    generator: np.random.Generator, counts: Integers, total: int, block_size: int
) -> Floats:
    """Sample documents one by one, with replacement; return the class weights of each resample.

    This is faster than a multinomial sample if most classes have few documents.
    """
    classes = np.repeat(np.arange(len(counts)), counts) if len(counts) < total else None
    weights = np.empty((block_size, len(counts)), dtype=np.int32)
    for row in range(block_size):
        document_indexes = generator.integers(0, total, size=total, dtype=np.int32)
        class_indexes = document_indexes if classes is None else classes[document_indexes]
        weights[row] = np.bincount(class_indexes, minlength=len(counts))
    return weights.T.astype(np.float64, order="C")


def compute_values(
    statistics: list[Statistic], counts: Integers, resamples: int, seed: int
) -> tuple[Floats, Floats]:
    """Estimate coefficients; return their values in the sample and in the resamples.

    The second array has a row for each coefficient and a column for each resample. Undefined values
    are NaN.
    """
    if not statistics:
        return np.empty(0), np.empty((0, resamples))
    with np.errstate(divide="ignore", invalid="ignore"):
        full_weights = counts.astype(np.float64)[:, np.newaxis]
        values = np.array([statistic.compute(full_weights)[0] for statistic in statistics])
        resampled_values = np.empty((len(statistics), resamples))
        width = max(statistic.width for statistic in statistics)
        start = 0
        for weights in resample(counts, resamples, seed, width):
            end = start + weights.shape[1]
            for row, statistic in enumerate(statistics):
                resampled_values[row, start:end] = statistic.compute(weights)
            start = end
    return values, resampled_values
