"""Reproduce published examples with their published results."""

from typing import Any

import pytest

from app.engines.agreement.coefficients.mark_measures import measure_mark_pairs, measure_marks
from app.engines.agreement.coefficients.mark_sets import build_mark_sets
from app.engines.agreement.coefficients.measuring import measure, measure_pairs
from app.engines.agreement.coefficients.ratings import build_ratings
from app.engines.agreement.marks import Mark
from app.engines.agreement.metrics import Level, Metric, Weights


def _parse(lines: str) -> list[tuple[int, int, int | None]]:
    """Return the rows of a table that has a line for each rater and a column for each unit."""
    return [
        (unit, rater, None if cell == "." else int(cell))
        for rater, line in enumerate(lines.strip().splitlines())
        for unit, cell in enumerate(line.split())
    ]


def _compute(rows: list[Any], metric: Metric, level: Level = Level.NOMINAL) -> float | None:
    """Return the value of a coefficient without an interval."""
    return measure(build_ratings(rows, level=level), metric, resamples=0).value


# Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section C: four observers, twelve
# units, missing data. The same table is Table 2.10 of Gwet 2014 (AC1, Fleiss, percent agreement).
FOUR_OBSERVERS = _parse("""
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
""")


@pytest.mark.parametrize(
    ("level", "published"),
    [
        (Level.NOMINAL, 0.743),  # section C
        (Level.ORDINAL, 0.815),  # section D
        (Level.INTERVAL, 0.849),  # section D
        (Level.RATIO, 0.797),  # section D
    ],
)
def test_krippendorff_2011_four_observers(level: Level, published: float) -> None:
    value = _compute(FOUR_OBSERVERS, Metric.KRIPPENDORFF_ALPHA, level)
    assert value == pytest.approx(published, abs=0.0005)


def test_krippendorff_2011_two_observers_with_binary_data() -> None:
    """Section A: ten units, alpha = 0.095."""
    table = _parse("""
    0 1 0 0 0 0 0 0 1 0
    1 1 1 0 0 1 0 0 0 0
    """)
    assert _compute(table, Metric.KRIPPENDORFF_ALPHA) == pytest.approx(0.095, abs=0.0005)


def test_krippendorff_2011_two_observers_with_nominal_data() -> None:
    """Section B: twelve units and five values, alpha = 0.692."""
    names = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
    lines = ["a a b b d c c c e d d a", "b a b b b c c c e d d d"]
    table = [
        (unit, rater, names[cell])
        for rater, line in enumerate(lines)
        for unit, cell in enumerate(line.split())
    ]
    assert _compute(table, Metric.KRIPPENDORFF_ALPHA) == pytest.approx(0.692, abs=0.0005)


@pytest.mark.parametrize(
    ("metric", "published"),
    [
        (Metric.GWET_AC1, 0.77544),
        (Metric.FLEISS_KAPPA, 0.76117),
        (Metric.PERCENT, 0.81818),
    ],
)
def test_gwet_2014_four_raters(metric: Metric, published: float) -> None:
    """Gwet 2014, Handbook of Inter-Rater Reliability, 4th edition, Table 2.10; as in irrCAC."""
    assert _compute(FOUR_OBSERVERS, metric) == pytest.approx(published, abs=0.000005)


@pytest.mark.parametrize(("weights", "published"), [("quadratic", 0.91400), ("linear", 0.85874)])
def test_ac2_of_four_raters(weights: Weights, published: float) -> None:
    """The values are those of irrCAC 0.4.4 for Table 2.10."""
    ratings = build_ratings(FOUR_OBSERVERS, level=Level.INTERVAL)
    value = measure(ratings, Metric.GWET_AC2, weights=weights, resamples=0).value
    assert value == pytest.approx(published, abs=0.000005)


def test_kappa_of_two_readers_of_fifty_proposals() -> None:
    """The example of the article on Cohen's kappa in the English Wikipedia: kappa = 0.4."""
    counts = {("yes", "yes"): 20, ("yes", "no"): 5, ("no", "yes"): 10, ("no", "no"): 15}
    pairs = [pair for pair, count in counts.items() for _ in range(count)]
    rows = [(unit, rater, pair[rater]) for unit, pair in enumerate(pairs) for rater in (0, 1)]
    assert _compute(rows, Metric.COHEN_KAPPA) == pytest.approx(0.4, abs=1e-12)


def test_fleiss_1971() -> None:
    """Fleiss 1971, Table 1: 30 patients, six psychiatrists of each, kappa = 0.430."""
    lines = """
    0 0 0 6 0  0 3 0 0 3  0 1 4 0 1  0 0 0 0 6  0 3 0 3 0  2 0 4 0 0  0 0 4 0 2  2 0 3 1 0
    2 0 0 4 0  0 0 0 0 6  1 0 0 5 0  1 1 0 4 0  0 3 3 0 0  1 0 0 5 0  0 2 0 3 1  0 0 5 0 1
    3 0 0 1 2  5 1 0 0 0  0 2 0 4 0  1 0 2 0 3  0 0 0 0 6  0 1 0 5 0  0 2 0 1 3  2 0 0 4 0
    1 0 0 4 1  0 5 0 1 0  4 0 0 0 2  0 2 0 4 0  1 0 5 0 0  0 0 0 0 6
    """
    counts = lines.split()
    rows = []
    for patient in range(30):
        cells = map(int, counts[5 * patient : 5 * patient + 5])
        ratings = [category for category, count in enumerate(cells) for _ in range(count)]
        rows += [(patient, number, category) for number, category in enumerate(ratings)]
    assert _compute(rows, Metric.FLEISS_KAPPA) == pytest.approx(0.430, abs=0.0005)
    assert _compute(rows, Metric.PERCENT) == pytest.approx(0.5556, abs=0.00005)


# Krippendorff 2019, Content Analysis, 4th edition, figure 12.11 (p. 340): three observers divide a
# text of 60 characters. Begin and end count from 1 and belong to the unit.
UNITS: dict[str, list[tuple[int, int, str]]] = {
    "Alex": [
        *((1, 7, "1"), (8, 13, "2"), (31, 32, "5"), (33, 37, "6"), (38, 44, "6"), (45, 60, "7"))
    ],
    "Paul": [(1, 7, "1"), (8, 13, "3"), (14, 21, "5"), (33, 44, "6")],
    "Suzan": [
        *((1, 7, "1"), (8, 13, "4"), (14, 21, "5"), (33, 37, "6"), (38, 41, "6"), (42, 44, "6"))
    ],
}


def _mark_rows(*, labeled: bool) -> list[tuple[Any, ...]]:
    return [
        ("text", 60, name, [_mark(unit, labeled=labeled) for unit in units])
        for name, units in UNITS.items()
    ]


def _mark(unit: tuple[int, int, str], *, labeled: bool) -> Mark:
    start, end, label = unit
    return Mark(0, (0, start - 1, 1, end), label if labeled else None)


@pytest.mark.parametrize(
    ("labeled", "published", "tolerance"),
    [
        (True, 0.510, 0.0005),  # u-alpha, equation 34
        (False, 0.413, 0.001),  # |u-alpha, equation 35; the unrounded value is 0.4136
    ],
)
def test_unitizing_alpha_of_krippendorff_2019(
    labeled: bool, published: float, tolerance: float
) -> None:
    marks = build_mark_sets(_mark_rows(labeled=labeled))
    value = measure_marks(marks, Metric.KRIPPENDORFF_ALPHA, resamples=0).value
    assert value == pytest.approx(published, abs=tolerance)


def test_unitizing_alpha_of_a_pair_is_that_of_the_pair_alone() -> None:
    rows = _mark_rows(labeled=True)
    pairs = measure_mark_pairs(build_mark_sets(rows), Metric.KRIPPENDORFF_ALPHA, resamples=0)
    names = [(pair.a, pair.b) for pair in pairs]
    assert names == [("Alex", "Paul"), ("Alex", "Suzan"), ("Paul", "Suzan")]
    for pair in pairs:
        alone = build_mark_sets([row for row in rows if row[2] in (pair.a, pair.b)])
        value = measure_marks(alone, Metric.KRIPPENDORFF_ALPHA, resamples=0).value
        assert pair.estimate.value == pytest.approx(value, abs=1e-12)


# Hayes and Krippendorff 2007, Table 1: five observers and 40 articles with missing data; read from
# data-raw/hayes2007table1.csv of github.com/jucor/krippendorff.
FIVE_OBSERVERS = _parse("""
1 1 2 . 0 0 1 1 2 2 . 0 1 3 1 1 2 1 1 0 0 0 2 0 1 0 0 1 1 1 1 2 2 3 2 2 2 2 2 1
1 1 3 0 0 0 0 . 2 1 1 0 2 3 1 1 1 2 1 0 0 0 3 0 2 1 0 2 1 1 1 1 2 2 2 2 2 2 2 1
2 0 3 0 0 0 2 2 2 1 0 0 2 2 1 1 2 3 0 0 1 . 3 0 . 1 0 1 2 2 0 2 . 2 2 3 2 . 2 1
. 1 3 . . . . 0 . 1 0 0 2 2 . . . 3 1 . 1 0 3 0 2 1 1 2 2 . . 1 2 2 . . . 1 2 .
2 . . 0 0 0 1 . 2 . . . . 3 1 1 2 . . 0 . 0 . . 2 . 0 . . 2 0 . 2 . 2 2 2 2 . 1
""")


@pytest.mark.parametrize(
    ("level", "published"),
    [(Level.NOMINAL, 0.4765), (Level.ORDINAL, 0.7598), (Level.INTERVAL, 0.7574)],
)
def test_hayes_and_krippendorff_2007(level: Level, published: float) -> None:
    """The ordinal value is that of the article; the others are those of its macro KALPHA."""
    ratings = build_ratings(FIVE_OBSERVERS, level=level)
    estimate = measure(ratings, Metric.KRIPPENDORFF_ALPHA, resamples=2_000)
    assert estimate.value == pytest.approx(published, abs=0.00005)
    # The article resamples pairs of values, which depend on each other, and gets 0.708 to 0.808.
    assert estimate.ci_low is not None
    assert estimate.ci_high is not None
    assert estimate.ci_low < published < estimate.ci_high


def test_pairs_of_the_four_observers_are_in_order() -> None:
    pairs = measure_pairs(build_ratings(FOUR_OBSERVERS), Metric.PERCENT, resamples=0)
    assert [(pair.a, pair.b) for pair in pairs] == [
        *(("0", "1"), ("0", "2"), ("0", "3"), ("1", "2"), ("1", "3"), ("2", "3"))
    ]
    assert [pair.estimate.units for pair in pairs] == [9, 8, 9, 9, 10, 10]
