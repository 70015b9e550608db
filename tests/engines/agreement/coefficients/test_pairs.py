"""The pairs of raters, which are built one by one."""

import random
import tracemalloc
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.agreement.coefficients.kappa import RaterPairs, count_pairs
from app.engines.agreement.coefficients.measuring import measure_all, measure_pairs
from app.engines.agreement.coefficients.ratings import Ratings, build_ratings
from app.engines.agreement.metrics import Metric
from tests.factories.properties import examples

_DOCUMENTS, _RATERS = 1_000, 20


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 2), st.integers(0, 6), st.integers(1, 4)),
        max_size=120,
    )
)
@examples(100)
def test_pairs_are_those_of_the_definition(rows: list[Any]) -> None:
    ratings = build_ratings(rows)
    expected = _list_by_definition(ratings)
    pairs = list(RaterPairs(ratings))
    assert len(pairs) == count_pairs(ratings) == len(expected)
    found = [
        (p.a, p.b, list(zip(p.units, p.documents, p.left, p.right, strict=True))) for p in pairs
    ]
    assert found == expected
    assert [(pair.a, pair.b) for pair in pairs[1:3]] == [(a, b) for a, b, _ in expected[1:3]]


def _list_by_definition(ratings: Ratings) -> list[Any]:
    codes = dict(
        zip(
            zip(ratings.units.tolist(), ratings.rater_codes.tolist(), strict=True),
            ratings.codes.tolist(),
            strict=True,
        )
    )
    result = []
    for a, b in combinations(range(len(ratings.raters)), 2):
        shared = [u for u in range(ratings.unit_count) if (u, a) in codes and (u, b) in codes]
        raters_by_unit = {u: [r for unit, r in codes if unit == u] for u in shared}
        # The order decides about rounding errors: results must not change with the release.
        shared.sort(
            key=lambda u: (
                len(raters_by_unit[u]),
                raters_by_unit[u].index(a),
                raters_by_unit[u].index(b),
            )
        )
        units = [(u, ratings.documents[u], codes[u, a], codes[u, b]) for u in shared]
        if units:
            result.append((a, b, units))
    return result


@pytest.mark.parametrize(
    "compute",
    [
        lambda ratings: measure_all(ratings, [Metric.COHEN_KAPPA, Metric.F1], resamples=2),
        lambda ratings: measure_pairs(ratings, Metric.COHEN_KAPPA, resamples=0),
        lambda ratings: measure_pairs(ratings, Metric.PERCENT, resamples=0),
    ],
    ids=["all raters", "kappa of pairs", "percent of pairs"],
)
def test_the_memory_of_pairs_is_limited(compute: Callable[[Ratings], Any]) -> None:
    """With 20 raters there are 9.5 pairs for each rating."""
    generator = random.Random(3)
    rows = [(n, r, generator.random() < 0.3) for n in range(_DOCUMENTS) for r in range(_RATERS)]
    ratings = build_ratings(rows)
    compute(build_ratings(rows[:200]))  # imports and caches
    tracemalloc.start()
    try:
        compute(ratings)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 400 * len(rows), f"{peak / len(rows):.0f} bytes for each rating"


def test_many_units_in_one_document_are_counted_exactly() -> None:
    """Counts are stored in small types of integers; 300 does not fit into the smallest."""
    rows = [("d", unit, rater, "x") for unit in range(300) for rater in ("ann", "bob")]
    rows += [("d", 300, "ann", "x"), ("d", 300, "bob", "y")]
    rows += [("e", 0, "ann", "y"), ("e", 0, "bob", "y")]
    (pair,) = measure_pairs(build_ratings(rows), Metric.COHEN_KAPPA, resamples=0)
    expected = 1 - np.float64(1 / 302) / (1 - (301 * 300 + 1 * 2) / 302**2)
    assert pair.estimate.value == pytest.approx(expected, abs=1e-12)
