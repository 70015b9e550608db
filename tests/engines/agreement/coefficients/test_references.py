"""Compare the coefficients with krippendorff, irrCAC, statsmodels and scikit-learn."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.engines.agreement.coefficients.measuring import measure, measure_pairs
from app.engines.agreement.coefficients.ratings import EMPTY, build_ratings
from app.engines.agreement.metrics import Level, Metric, Weights
from tests.factories.properties import examples
from tests.references import import_lazily

pd = import_lazily("pandas")
krippendorff = import_lazily("krippendorff")
cohen_kappa_score = import_lazily("sklearn.metrics", "cohen_kappa_score")
f1_score = import_lazily("sklearn.metrics", "f1_score")
fleiss_kappa = import_lazily("statsmodels.stats.inter_rater", "fleiss_kappa")

# What irrCAC warns of has a class of pandas, which pytest-xdist cannot import in its main process.
pytestmark = pytest.mark.filterwarnings("ignore")
_CLOSE = 1e-9
QUICK = examples(60)
_WEIGHTS: list[Weights] = ["linear", "quadratic", "ordinal"]


@pytest.fixture(scope="module")
def irrcac() -> Any:
    return import_lazily("irrCAC.raw")


@st.composite
def tables(
    draw: st.DrawFn, *, missing: bool = True, raters: int | None = None, values: int = 5
) -> list[list[int | None]]:
    """Draw ratings from 1 up: a row for each unit, None where a rater has none."""
    columns = raters or draw(st.integers(2, 5))
    rating = st.integers(1, values)
    cell = st.one_of(st.none(), rating, rating) if missing else rating
    return draw(
        st.lists(st.lists(cell, min_size=columns, max_size=columns), min_size=2, max_size=25)
    )


def _rows(table: list[list[Any]]) -> list[tuple[int, int, Any]]:
    return [
        (unit, rater, value) for unit, row in enumerate(table) for rater, value in enumerate(row)
    ]


def _measure(
    table: list[list[Any]],
    metric: Metric,
    level: Level = Level.NOMINAL,
    weights: Weights = "unweighted",
) -> float | None:
    ratings = build_ratings(_rows(table), level=level)
    return measure(ratings, metric, weights=weights, resamples=0).value


def _is_known_to_irrcac(table: list[list[int | None]]) -> bool:
    """Return whether its variance, which we do not use, is defined too: it needs two units."""
    rated = [row for row in table if any(value is not None for value in row)]
    return len(rated) > 1 and _is_comparable(table)


def _is_comparable(table: list[list[int | None]]) -> bool:
    """Return whether there are two raters for a unit and two values in such units."""
    pairable = [
        value
        for row in table
        if sum(each is not None for each in row) > 1
        for value in row
        if value is not None
    ]
    return len(set(pairable)) > 1


@QUICK
@given(table=tables())
@pytest.mark.parametrize("level", list(Level))
def test_alpha_is_that_of_krippendorff(level: Level, table: list[list[int | None]]) -> None:
    assume(_is_comparable(table))
    data = np.array(table, dtype=float).T
    expected = krippendorff.alpha(reliability_data=data, level_of_measurement=str(level))
    assert _measure(table, Metric.KRIPPENDORFF_ALPHA, level) == pytest.approx(expected, abs=_CLOSE)


@QUICK
@given(table=tables())
def test_chance_corrected_coefficients_are_those_of_irrcac(
    irrcac: Any, table: list[list[int | None]]
) -> None:
    assume(_is_known_to_irrcac(table))
    frame = pd.DataFrame(table, dtype=float)
    reference = irrcac.CAC(frame, digits=12)
    for metric, name in ((Metric.FLEISS_KAPPA, "fleiss"), (Metric.GWET_AC1, "gwet")):
        estimate = getattr(reference, name)()["est"]
        assert _measure(table, metric) == pytest.approx(estimate["coefficient_value"], abs=_CLOSE)
    assert _measure(table, Metric.PERCENT) == pytest.approx(estimate["pa"], abs=_CLOSE)


@QUICK
@given(table=tables())
@pytest.mark.parametrize("weights", _WEIGHTS)
def test_ac2_is_that_of_irrcac(
    irrcac: Any, weights: Weights, table: list[list[int | None]]
) -> None:
    assume(_is_known_to_irrcac(table))
    frame = pd.DataFrame(table, dtype=float)
    expected = irrcac.CAC(frame, weights=weights, digits=12).gwet()["est"]["coefficient_value"]
    value = _measure(table, Metric.GWET_AC2, Level.INTERVAL, weights)
    assert value == pytest.approx(expected, abs=_CLOSE)


@QUICK
@given(table=tables(missing=False, raters=3))
def test_fleiss_kappa_is_that_of_statsmodels(table: list[list[int]]) -> None:
    assume(len({value for row in table for value in row}) > 1)
    counts = [[row.count(value) for value in range(1, 6)] for row in table]
    expected = fleiss_kappa(np.array(counts), method="fleiss")
    assert _measure(table, Metric.FLEISS_KAPPA) == pytest.approx(expected, abs=_CLOSE)


@QUICK
@given(table=tables(missing=False, raters=2))
@pytest.mark.parametrize("weights", ["unweighted", "linear", "quadratic"])
def test_kappa_is_that_of_scikit_learn(weights: Weights, table: list[list[int]]) -> None:
    left, right = zip(*table, strict=True)
    assume(len(set(left) | set(right)) > 1)
    name = None if weights == "unweighted" else weights
    # scikit-learn's distance is that of positions, so that all values must be known to it
    expected = cohen_kappa_score(left, right, labels=range(1, 6), weights=name)
    value = _measure(table, Metric.COHEN_KAPPA, Level.INTERVAL, weights)
    assert value == pytest.approx(expected, abs=_CLOSE)


@QUICK
@given(table=tables(raters=4))
def test_kappa_of_more_raters_is_the_mean_of_all_pairs(table: list[list[int | None]]) -> None:
    kappas = []
    for a in range(4):
        for b in range(a + 1, 4):
            both = [(row[a], row[b]) for row in table if row[a] is not None and row[b] is not None]
            if len({value for pair in both for value in pair}) > 1:
                kappas.append(cohen_kappa_score(*zip(*both, strict=True)))
    assume(kappas)
    value = _measure(table, Metric.COHEN_KAPPA)
    assert value == pytest.approx(sum(kappas) / len(kappas), abs=_CLOSE)
    pairs = measure_pairs(build_ratings(_rows(table)), Metric.COHEN_KAPPA, resamples=0)
    defined = [pair.estimate.value for pair in pairs if pair.estimate.value is not None]
    assert defined == pytest.approx(kappas, abs=_CLOSE)


@QUICK
@given(table=tables(missing=False, raters=2, values=2))
def test_f1_of_marked_and_empty_is_that_of_scikit_learn(table: list[list[int]]) -> None:
    left, right = zip(*table, strict=True)
    assume(1 in left or 1 in right)
    expected = f1_score(left, right, pos_label=1)
    marked = [["yes" if value == 1 else EMPTY for value in row] for row in table]
    assert _measure(marked, Metric.F1) == pytest.approx(expected, abs=_CLOSE)


@QUICK
@given(table=tables())
@pytest.mark.parametrize("metric", [Metric.KRIPPENDORFF_ALPHA, Metric.FLEISS_KAPPA, Metric.F1])
def test_a_pair_counts_as_if_there_were_no_others(
    metric: Metric, table: list[list[int | None]]
) -> None:
    ratings = build_ratings(_rows(table))
    for pair in measure_pairs(ratings, metric, resamples=0):
        a, b = int(pair.a), int(pair.b)
        shared = [[row[a], row[b]] for row in table if row[a] is not None and row[b] is not None]
        alone = _measure(shared, metric)
        assert pair.estimate.value == (alone and pytest.approx(alone, abs=_CLOSE))
        assert pair.estimate.units == len(shared)


@QUICK
@given(table=tables(missing=False, raters=3))
@pytest.mark.parametrize("level", [Level.INTERVAL, Level.RATIO])
def test_a_great_offset_costs_no_digits(level: Level, table: list[list[int]]) -> None:
    assume(len({value for row in table for value in row}) > 1)
    far = [[1e9 + value for value in row] for row in table]
    data = np.array(far).T
    expected = krippendorff.alpha(reliability_data=data, level_of_measurement=str(level))
    value = _measure(far, Metric.KRIPPENDORFF_ALPHA, level)
    assert value is not None
    assert math.isclose(value, expected, abs_tol=1e-5 if level == Level.RATIO else 1e-9)
