"""Resample documents: those with the same ratings are drawn together, which changes no probability.

Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapters 6 and 13: the documents are
the independent observations, so they are drawn with replacement, and the interval is that of the
percentiles.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from app.engines.agreement.coefficients.ratings import Floats, Integers, Ratings

_BLOCK_ENTRIES = 2_000_000
"""The maximum number of entries of the largest array of a block of resamples (16 MB)."""
_MAX_PATTERN_RATERS = 16
_FEW_CLASSES = 8


class Statistic(Protocol):
    """A coefficient as a function of how often each class of documents occurs."""

    @property
    def width(self) -> int:
        """Return the entries that a resample needs, which bounds the resamples of a block."""
        ...

    def compute(self, weights: Floats) -> Floats:
        """Return the coefficient for each column of `weights` (classes by resamples), or NaN."""
        ...


@dataclass(frozen=True, slots=True)
class Compressed:
    """Ratings with one document for each class of equal ones, and the sizes of the classes."""

    ratings: Ratings
    counts: Integers


def compress(ratings: Ratings) -> Compressed:
    """Merge the documents that have the same ratings by the same raters."""
    each = Compressed(ratings, np.ones(ratings.document_count, dtype=np.int64))
    is_simple = ratings.unit_count == ratings.document_count > 0
    if not is_simple or len(ratings.raters) > _MAX_PATTERN_RATERS:
        return each
    table = np.full((ratings.unit_count, len(ratings.raters)), -1, dtype=np.int32)
    table[ratings.units, ratings.rater_codes] = ratings.codes
    order = np.lexsort(table.T)
    table = table[order]
    is_new = np.ones(len(table), dtype=bool)
    is_new[1:] = np.any(table[1:] != table[:-1], axis=1)
    classes, counts = table[is_new], np.diff(np.append(np.flatnonzero(is_new), len(table)))
    units, raters = np.nonzero(classes >= 0)
    merged = Ratings(
        level=ratings.level,
        raters=ratings.raters,
        document_count=len(classes),
        documents=np.arange(len(classes)),
        units=units,
        rater_codes=raters,
        codes=classes[units, raters].astype(np.int64),
        values=ratings.values,
        left_out=ratings.left_out,
    )
    return Compressed(merged, counts)


def resample(counts: Integers, resamples: int, seed: int, width: int) -> Iterator[Floats]:
    """Yield the weights of the classes (classes by resamples) in blocks of bounded size."""
    generator = np.random.default_rng(seed)
    total = int(counts.sum())
    step = max(1, _BLOCK_ENTRIES // max(width, len(counts), 1))
    for start in range(0, resamples, step):
        block = min(step, resamples - start)
        if len(counts) * _FEW_CLASSES <= total:
            drawn = generator.multinomial(total, counts / total, size=block)
            yield np.ascontiguousarray(drawn.T, dtype=np.float64)
        else:
            yield _draw(generator, counts, total, block)


def _draw(generator: np.random.Generator, counts: Integers, total: int, block: int) -> Floats:
    """Draw document by document, which is faster if most classes are small."""
    classes = np.repeat(np.arange(len(counts)), counts) if len(counts) < total else None
    weights = np.empty((block, len(counts)), dtype=np.int32)
    for row in range(block):
        drawn = generator.integers(0, total, size=total, dtype=np.int32)
        chosen = drawn if classes is None else classes[drawn]
        weights[row] = np.bincount(chosen, minlength=len(counts))
    return weights.T.astype(np.float64, order="C")


def estimate(
    statistics: list[Statistic], counts: Integers, resamples: int, seed: int
) -> tuple[Floats, Floats]:
    """Return the coefficients, and (coefficients by resamples) their values in the resamples."""
    if not statistics:
        return np.empty(0), np.empty((0, resamples))
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = counts.astype(np.float64)[:, np.newaxis]
        values = np.array([statistic.compute(whole)[0] for statistic in statistics])
        drawn = np.empty((len(statistics), resamples))
        width = max(statistic.width for statistic in statistics)
        start = 0
        for weights in resample(counts, resamples, seed, width):
            end = start + weights.shape[1]
            for row, statistic in enumerate(statistics):
                drawn[row, start:end] = statistic.compute(weights)
            start = end
    return values, drawn
