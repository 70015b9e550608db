"""Test pairs of samples, and control the false discovery rate over all pairs of a run.

The tests and the Jensen-Shannon distance come from scipy. The pooling of rare categories, and the
population stability index with its correction for sample sizes, are implemented in this module,
because scipy does not implement them.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from app.engines.drift.model import (
    CategorySample,
    Comparison,
    DriftOutcome,
    DriftThresholds,
    Hypothesis,
    NumberSample,
    RateSample,
    Sample,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    CountTable = NDArray[np.float64]

MAX_BINS = 10
"""The maximum number of quantile bins from which the effect size for numbers is computed."""
MIN_EXPECTED_COUNT = 5.0
"""The minimum expected count of each table cell for the chi-square test."""
_MAX_EXACT_PAIRS = 250_000
"""The maximum product of the sample sizes for an exact Kolmogorov-Smirnov test."""
_SMOOTHING = 0.5
"""Added to each count, so that the population stability index is finite for counts of 0."""
_MIN_GONE_P_VALUE = 0.05
"""The p-value, not adjusted, above which a small difference is GONE (see `DriftOutcome`)."""


def compare(hypothesis: Hypothesis, thresholds: DriftThresholds | None = None) -> Comparison:
    """Compare two samples with a statistical test.

    The outcome is NOT_ENOUGH if a sample is too small. Otherwise, it is preliminary until
    `assign_outcomes` sets it.

    Raises:
        ValueError: the samples are not of the same type.
    """
    thresholds = thresholds or DriftThresholds()
    key, baseline, current = hypothesis.key, hypothesis.baseline, hypothesis.current
    if type(baseline) is not type(current):
        raise ValueError("The samples of a hypothesis must be of the same type.")
    sizes = _count_values(baseline), _count_values(current)
    if min(sizes) < thresholds.min_size:
        values = _summarize(baseline), _summarize(current)
        return Comparison(key, DriftOutcome.NOT_ENOUGH, None, *sizes, *values)
    if isinstance(baseline, NumberSample) and isinstance(current, NumberSample):
        return _compare_numbers(key, baseline, current)
    if isinstance(baseline, RateSample) and isinstance(current, RateSample):
        comparison = _compare_categories(key, _to_categories(baseline), _to_categories(current))
        before, after = _summarize(baseline), _summarize(current)
        return replace(comparison, category=None, baseline_value=before, current_value=after)
    assert isinstance(baseline, CategorySample)
    assert isinstance(current, CategorySample)
    return _compare_categories(key, baseline, current)


def assign_outcomes(
    comparisons: Sequence[Comparison], thresholds: DriftThresholds | None = None
) -> list[Comparison]:
    """Return the comparisons of a run with adjusted p-values (`q_value`) and final outcomes."""
    from scipy.stats import false_discovery_control  # noqa: PLC0415 - a large library

    thresholds = thresholds or DriftThresholds()
    p_values = [comparison.p_value for comparison in comparisons if comparison.p_value is not None]
    adjusted_p_values = iter(false_discovery_control(p_values).tolist() if p_values else ())
    return [
        comparison
        if comparison.p_value is None
        else _set_outcome(replace(comparison, q_value=next(adjusted_p_values)), thresholds)
        for comparison in comparisons
    ]


def _set_outcome(comparison: Comparison, thresholds: DriftThresholds) -> Comparison:
    p_value, q_value, psi = comparison.p_value, comparison.q_value, comparison.psi
    assert p_value is not None
    assert q_value is not None
    assert psi is not None
    outcome = DriftOutcome.UNCLEAR
    if q_value <= thresholds.false_discovery_rate and psi >= thresholds.min_effect:
        outcome = DriftOutcome.DRIFT
    elif p_value > _MIN_GONE_P_VALUE and psi < thresholds.min_effect / 2:
        outcome = DriftOutcome.GONE
    return replace(comparison, outcome=outcome)


def _count_values(sample: Sample) -> int:
    if isinstance(sample, CategorySample):
        return sum(sample.counts.values())
    return len(sample.values) if isinstance(sample, NumberSample) else sample.n


def _summarize(sample: Sample) -> float | None:
    """Summarize a sample: the median of numbers, or the rate; None for categories or no values."""
    import numpy as np  # noqa: PLC0415 - a large library

    if isinstance(sample, CategorySample) or not _count_values(sample):
        return None
    if isinstance(sample, RateSample):
        return sample.hits / sample.n
    return float(np.median(np.asarray(sample.values, dtype=float)))


def _to_categories(rate: RateSample) -> CategorySample:
    return CategorySample({"hit": rate.hits, "miss": rate.n - rate.hits})


def _compare_numbers(key: str, baseline: NumberSample, current: NumberSample) -> Comparison:
    import numpy as np  # noqa: PLC0415 - a large library
    from scipy.stats import ks_2samp  # noqa: PLC0415 - a large library

    before = np.asarray(baseline.values, dtype=float)
    after = np.asarray(current.values, dtype=float)
    method = "exact" if before.size * after.size <= _MAX_EXACT_PAIRS else "asymp"
    p_value = float(ks_2samp(before, after, method=method).pvalue)
    # Each bin holds an equal part of the combined samples. Ties reduce the number of bins.
    combined_values = np.concatenate([before, after])
    edges = np.unique(np.quantile(combined_values, np.linspace(0, 1, MAX_BINS + 1)[1:-1]))
    table = np.stack(
        [
            np.bincount(np.searchsorted(edges, sample, side="left"), minlength=edges.size + 1)
            for sample in (before, after)
        ]
    ).astype(float)
    psi, distance = _measure_shift(table[:, table.sum(axis=0) > 0])
    return Comparison(
        key,
        DriftOutcome.UNCLEAR,
        "kolmogorov_smirnov",
        before.size,
        after.size,
        _summarize(baseline),
        _summarize(current),
        p_value=p_value,
        psi=psi,
        js_distance=distance,
    )


def _compare_categories(key: str, baseline: CategorySample, current: CategorySample) -> Comparison:
    import numpy as np  # noqa: PLC0415 - a large library

    names = sorted(
        {name for sample in (baseline, current) for name in sample.counts if sample.counts[name]}
    )
    table = np.array(
        [[sample.counts.get(name, 0) for name in names] for sample in (baseline, current)],
        dtype=float,
    )
    proportions = table / table.sum(axis=1, keepdims=True)
    category_index = int(np.argmax(np.abs(proportions[1] - proportions[0])))
    test, p_value = _test_table(pool_rare_categories(table))
    psi, distance = _measure_shift(pool_rare_categories(table))
    return Comparison(
        key,
        DriftOutcome.UNCLEAR,
        test,
        _count_values(baseline),
        _count_values(current),
        float(proportions[0, category_index]),
        float(proportions[1, category_index]),
        names[category_index],
        p_value=p_value,
        psi=psi,
        js_distance=distance,
    )


def pool_rare_categories(table: "CountTable") -> "CountTable":
    """Pool the rarest categories until each expected count is at least MIN_EXPECTED_COUNT.

    Categories are pooled by their total count. The total does not depend on how the counts are
    distributed over the two periods, so pooling does not favor any result. At least two categories
    remain, even if an expected count is then below the minimum. Returns the table with its columns
    sorted by total count, and with the pooled category last.
    """
    import numpy as np  # noqa: PLC0415 - a large library

    order = np.argsort(-table.sum(axis=0), kind="stable")
    sorted_table = table[:, order]
    totals = sorted_table.sum(axis=0)
    min_total = MIN_EXPECTED_COUNT * table.sum() / table.sum(axis=1).min()
    kept_count = int((totals >= min_total).sum())
    if kept_count == totals.size:
        return sorted_table
    # The pooled category must also be frequent enough.
    while kept_count > 1 and totals[kept_count:].sum() < min_total:
        kept_count -= 1
    kept_count = max(kept_count, 1)
    pooled_counts = sorted_table[:, kept_count:].sum(axis=1, keepdims=True)
    return np.concatenate([sorted_table[:, :kept_count], pooled_counts], axis=1)


def _test_table(table: "CountTable") -> tuple[str, float]:
    """Test a table of counts; return the name of the test that was used, and the p-value."""
    from scipy.stats import chi2_contingency, fisher_exact  # noqa: PLC0415 - a large library
    from scipy.stats.contingency import expected_freq  # noqa: PLC0415 - a large library

    if table.shape[1] < 2:  # noqa: PLR2004 - all values are the same
        return "chi_square", 1.0
    if expected_freq(table).min() < MIN_EXPECTED_COUNT:
        return "fisher_exact", float(fisher_exact(table.astype(int)).pvalue)
    return "chi_square", float(chi2_contingency(table, correction=False).pvalue)


def _measure_shift(table: "CountTable") -> tuple[float, float]:
    """Measure the shift: the corrected population stability index and the Jensen-Shannon distance.

    Without a shift, the index of k bins is (k - 1) * (1 / n + 1 / m) on average, where n and m are
    the sizes of the two samples. This value is subtracted, so that random differences between small
    samples do not look like a shift.
    """
    import numpy as np  # noqa: PLC0415 - a large library
    from scipy.spatial.distance import jensenshannon  # noqa: PLC0415 - a large library

    if table.shape[1] < 2:  # noqa: PLR2004 - all values are the same
        return 0.0, 0.0
    smoothed_table = table + _SMOOTHING
    before, after = smoothed_table / smoothed_table.sum(axis=1, keepdims=True)
    psi = float(np.sum((after - before) * np.log(after / before)))
    expected = (table.shape[1] - 1) * float(np.sum(1 / table.sum(axis=1)))
    distance = float(jensenshannon(table[0], table[1], base=2))
    return max(0.0, psi - expected), distance if np.isfinite(distance) else 0.0
