"""Compute the coefficients of spans and regions and their intervals."""

from dataclasses import dataclass, replace

import numpy as np

from app.engines.agreement.coefficients import cautions as reasons
from app.engines.agreement.coefficients.bootstrap import Statistic, estimate
from app.engines.agreement.coefficients.mark_sets import MarkSets
from app.engines.agreement.coefficients.ratings import Floats, Integers
from app.engines.agreement.metrics import (
    SPAN_METRICS,
    Caution,
    CautionCode,
    Estimate,
    Metric,
    PairEstimate,
)

RESAMPLES = 1000
_EXACT, _MATCHED, _BOTH, _OVERLAP, _TOUCHING, _DOCUMENTS, _AGREED, _COMMON, _LENGTH = range(9)
_UNDEFINED = (
    "Nobody marked anything, or everybody marked everything, so the coefficient is undefined."
)


def measure_marks(
    marks: MarkSets,
    metric: Metric,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    confidence: float = 0.95,
) -> Estimate:
    """Return the coefficient of spans or regions over all raters.

    - `percent`: the share of documents on which two raters agree completely, each mark of one
      overlapping a mark of the other by half; both may have marked nothing.
    - `f1`: 2 x marks at the same place / all marks; `f1_overlap`: marks that overlap by half
      (Hripcsak and Rothschild 2005; Everingham 2010 for the half).
    - `iou`: the mean overlap of marks, each with at most one mark of the other rater. Marks without
      a partner count 0.
    - `krippendorff_alpha`: the unitizing alpha of spans, see `UnitizingAlpha`.

    The sums of all pairs of raters are added up first. Raises ValueError for other metrics, and for
    alpha if the rows had no lengths.
    """
    statistic, documents = _build(marks, metric)
    return _estimate([(marks, statistic, documents)], metric, resamples, seed, confidence)[0]


def measure_mark_pairs(
    marks: MarkSets,
    metric: Metric,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    confidence: float = 0.95,
) -> list[PairEstimate]:
    """Return the coefficient of spans or regions for each pair of raters who share documents."""
    count = len(marks.raters)
    keys = np.unique(marks.pair_a * count + marks.pair_b)
    parts = []
    for key in keys.tolist():
        part = _select_pair(marks, key // count, key % count)
        parts.append((part, *_build(part, metric)))
    results = _estimate(parts, metric, resamples, seed, confidence)
    return [
        PairEstimate(marks.raters[key // count], marks.raters[key % count], result)
        for key, result in zip(keys.tolist(), results, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Ratio:
    """A sum over the documents, divided by another."""

    documents: Integers
    sums: Floats
    width: int = 2

    def compute(self, weights: Floats) -> Floats:
        """Return the ratio for each column of `weights`."""
        upper, lower = self.sums @ weights[self.documents]
        result: Floats = upper / lower
        return result


class UnitizingAlpha:
    """Krippendorff's unitizing alpha in its form of 2016, for nominal labels: u-alpha.

    Krippendorff, Mathet, Bouvry and Widloecher 2016, On the reliability of unitizing textual
    continua: Further developments, Quality and Quantity 50, equations 1 to 5; the same in
    Krippendorff 2019, Content Analysis, 4th edition, section 12.6.3. Without labels, as in a span
    field, it is the binary |u-alpha of equation 6: marked or not marked. It replaces the form of
    1995 and 2004, which misjudges more than two raters.

    Observed are the lengths of text to which two raters give the same category. Expected is what
    chance would give if the units were shuffled as wholes and the gaps letter by letter:
    e_cc = l (l_c^2 - s_c) / (l^2 - sum s), where l_c is the length of category c, l that of all,
    and s_c the sum of the squared lengths of its units, or the plain length of the gaps.
    Documents follow each other as one continuum. Those of a single rater do not count.
    """

    def __init__(self, marks: MarkSets, documents: Integers) -> None:
        position = np.searchsorted(documents, marks.pair_documents)
        count = len(documents)
        where = np.searchsorted(documents, marks.segments[0].astype(np.int64))
        categories = marks.segments[2].astype(np.int64)
        lengths = np.bincount(position, marks.pair_sums[_LENGTH], minlength=count)
        common = np.bincount(position, marks.pair_sums[_COMMON], minlength=count)
        pairs = np.bincount(position, minlength=count)
        sizes = (1 + np.sqrt(1 + 8 * pairs)) / 2  # m raters form m(m - 1) / 2 pairs
        self._totals = lengths / pairs * sizes
        self._observed = 2 * common / (sizes - 1)
        self._documents = documents
        self._lengths, self._squares = (
            np.array(
                [
                    np.bincount(where[chosen], column[chosen], minlength=count)
                    for chosen in (categories == name for name in np.unique(categories))
                ]
            ).reshape(-1, count)
            for column in marks.segments[3:]
        )
        self.width = max(2, len(self._lengths))

    def compute(self, weights: Floats) -> Floats:
        """Return alpha for each column of `weights`, or NaN if there is only one category."""
        weights = weights[self._documents]
        total, observed = self._totals @ weights, self._observed @ weights
        lengths, squares = self._lengths @ weights, self._squares @ weights
        chance = total * (lengths**2 - squares).sum(axis=0) / (total**2 - squares.sum(axis=0))
        result: Floats = 1 - (total - observed) / (total - chance)
        result[np.count_nonzero(lengths, axis=0) < 2] = np.nan  # noqa: PLR2004 - no variation
        return result


def _build(marks: MarkSets, metric: Metric) -> tuple[Statistic | None, Integers]:
    """Return the function of a coefficient, and the documents that count."""
    if metric not in SPAN_METRICS:
        raise ValueError(f"{metric} is no coefficient of marks")
    is_alpha = metric == Metric.KRIPPENDORFF_ALPHA
    if is_alpha and not marks.has_lengths and marks.document_count:
        raise ValueError("alpha needs the length of each text: use rows with lengths")
    documents, position = np.unique(marks.pair_documents, return_inverse=True)
    if not len(documents):
        return None, documents
    if is_alpha:
        return UnitizingAlpha(marks, documents), documents
    sums = marks.pair_sums
    upper, lower = {
        Metric.PERCENT: (sums[_AGREED], sums[_DOCUMENTS]),
        Metric.F1: (2 * sums[_EXACT], sums[_BOTH]),
        Metric.F1_OVERLAP: (2 * sums[_MATCHED], sums[_BOTH]),
        Metric.IOU: (sums[_OVERLAP], sums[_BOTH] - sums[_TOUCHING]),
    }[metric]
    columns = [np.bincount(position, column) for column in (upper, lower)]
    return _Ratio(documents, np.array(columns)), documents


def _select_pair(marks: MarkSets, a: int, b: int) -> MarkSets:
    """Return the documents that two raters share, with their marks only."""
    chosen = (marks.pair_a == a) & (marks.pair_b == b)
    documents = marks.pair_documents[chosen]
    is_theirs = np.isin(marks.segments[1], (a, b)) & np.isin(marks.segments[0], documents)
    return replace(
        marks,
        raters=(marks.raters[a], marks.raters[b]),
        single_count=0,
        pair_documents=documents,
        pair_a=marks.pair_a[chosen],
        pair_b=marks.pair_b[chosen],
        pair_sums=marks.pair_sums[:, chosen],
        segments=marks.segments[:, is_theirs],
    )


def _estimate(
    parts: list[tuple[MarkSets, Statistic | None, Integers]],
    metric: Metric,
    resamples: int,
    seed: int,
    confidence: float,
) -> list[Estimate]:
    statistics = [statistic for _, statistic, _ in parts if statistic is not None]
    if not statistics:
        return [_finish(marks, metric, documents, None, []) for marks, _, documents in parts]
    counts = np.ones(parts[0][0].document_count, dtype=np.int64)
    values, drawn = estimate(statistics, counts, resamples, seed)
    results = []
    for (marks, _, documents), value, resampled in zip(parts, values, drawn, strict=True):
        if not np.isfinite(value):
            results.append(_finish(marks, metric, documents, None, []))
            continue
        low, high, cautions = reasons.build_interval(resampled, len(documents), confidence)
        results.append(_finish(marks, metric, documents, (float(value), low, high), cautions))
    return results


def _finish(
    marks: MarkSets,
    metric: Metric,
    documents: Integers,
    values: tuple[float, float | None, float | None] | None,
    cautions: list[Caution],
) -> Estimate:
    """Return the estimate with the cautions that follow from the marks."""
    notes = []
    raters = len(marks.raters)
    if not len(documents):
        notes.append(reasons.explain_missing_pairs(raters))
    elif values is None:
        code = CautionCode.NOTHING_MARKED
        if metric == Metric.KRIPPENDORFF_ALPHA and marks.pair_sums[_BOTH].any():
            code = CautionCode.ONE_CATEGORY
        notes.append(Caution(code, _UNDEFINED))
    if marks.single_count and len(documents):
        text = f"{marks.single_count} documents were seen by one person only and do not count."
        notes.append(Caution(CautionCode.MISSING_RATINGS, text))
    value, low, high = values or (None, None, None)
    count = len(documents)
    return Estimate(metric, value, low, high, count, count, raters, (*notes, *cautions))
