"""Check what is answered where a coefficient is undefined or doubtful, and that it is never NaN."""

import math
from dataclasses import astuple
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.agreement.coefficients import measuring
from app.engines.agreement.coefficients.mark_measures import measure_mark_pairs, measure_marks
from app.engines.agreement.coefficients.mark_sets import build_mark_sets
from app.engines.agreement.coefficients.measuring import measure, measure_all, measure_pairs
from app.engines.agreement.coefficients.ratings import EMPTY, build_ratings, build_ratings_by_field
from app.engines.agreement.coefficients.values import normalize_value
from app.engines.agreement.marks import Mark
from app.engines.agreement.metrics import (
    RATING_METRICS,
    SPAN_METRICS,
    Estimate,
    Level,
    Metric,
    WarningCode,
)
from tests.factories.properties import examples

METRICS = sorted(RATING_METRICS)
CORRECTED = [Metric.COHEN_KAPPA, Metric.FLEISS_KAPPA, Metric.KRIPPENDORFF_ALPHA]
QUICK = examples(60)


def _codes(estimate: Estimate) -> set[WarningCode]:
    assert all(warning.text.endswith(".") for warning in estimate.warnings)
    return {warning.code for warning in estimate.warnings}


def test_coefficients_of_pairs_are_undefined_for_too_many_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measuring, "MAX_AVERAGED_PAIRS", 2)
    monkeypatch.setattr(measuring, "RaterPairs", lambda _: pytest.fail("pairs cost memory"))
    rows = [(f"d{n}", by, "x" if n % 2 else "y") for n in range(9) for by in ("ann", "bob", "cy")]
    alpha, kappa, f1 = measure_all(
        build_ratings(rows), [Metric.KRIPPENDORFF_ALPHA, Metric.COHEN_KAPPA, Metric.F1]
    )
    assert alpha.value == 1.0
    for estimate in (kappa, f1):
        assert (estimate.value, estimate.ci_low, estimate.ci_high) == (None, None, None)
        assert WarningCode.TOO_MANY_PAIRS in _codes(estimate)
        assert (estimate.units, estimate.documents, estimate.raters) == (9, 9, 3)
    two_raters = [row for row in rows if row[1] != "cy"]
    monkeypatch.undo()
    assert measure(build_ratings(two_raters), Metric.COHEN_KAPPA).value == 1.0


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([], WarningCode.NO_RATINGS),
        ([("d1", "ann", None)], WarningCode.NO_RATINGS),
        ([("d1", "ann", "x"), ("d2", "ann", "y")], WarningCode.ONE_RATER),
        ([("d1", "ann", "x"), ("d2", "bob", "y")], WarningCode.NO_OVERLAP),
    ],
)
def test_nothing_to_compare(metric: Metric, rows: list[Any], code: WarningCode) -> None:
    estimate = measure(build_ratings(rows), metric)
    assert (estimate.value, estimate.ci_low, estimate.ci_high) == (None, None, None)
    assert (estimate.units, estimate.documents) == (0, 0)
    assert _codes(estimate) == {code}
    assert measure_pairs(build_ratings(rows), metric) == []


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("level", list(Level))
def test_one_category(metric: Metric, level: Level) -> None:
    rows = [(document, rater, 4) for document in range(40) for rater in "abc"]
    estimate = measure(build_ratings(rows, level=level), metric, resamples=50)
    assert estimate.value == (None if metric in CORRECTED else 1.0)
    assert WarningCode.ONE_CATEGORY in _codes(estimate)


def test_raters_with_a_constant_each_agree_as_chance_does() -> None:
    rows = [(n, rater, rater) for n in range(40) for rater in ("no", "yes")]
    assert measure(build_ratings(rows), Metric.COHEN_KAPPA).value == 0.0


def test_the_paradox_of_kappa_is_none_of_ac1() -> None:
    """Feinstein and Cicchetti 1990: high agreement with skewed marginals gives a low kappa."""
    pairs = [("yes", "yes")] * 118 + [("no", "yes")] * 5 + [("yes", "no")] * 2
    rows = [(n, rater, pair[rater]) for n, pair in enumerate(pairs) for rater in (0, 1)]
    kappa, ac1, percent = measure_all(
        build_ratings(rows), [Metric.COHEN_KAPPA, Metric.GWET_AC1, Metric.PERCENT]
    )
    assert kappa.value == pytest.approx(-0.0234, abs=5e-5)
    assert ac1.value == pytest.approx(0.9408, abs=5e-5)
    assert percent.value == pytest.approx(0.9440, abs=5e-5)


def test_categories_that_nobody_chose_count_for_ac1() -> None:
    rows = [(n, rater, "abab"[(n * rater) % 4]) for n in range(40) for rater in (1, 2)]
    few = measure(build_ratings(rows), Metric.GWET_AC1, resamples=0).value
    more = build_ratings(rows, categories=["a", "b", "c", "d"])
    assert more.category_count == 4
    value = measure(more, Metric.GWET_AC1, resamples=0).value
    assert few is not None
    assert value is not None
    assert value > few


def test_an_ordinal_choice_is_ordered_by_its_categories() -> None:
    order = ["low", "middle", "high"]
    near = [(n, r, order[min(n % 3, 1) + r * (n % 2)]) for n in range(30) for r in (0, 1)]
    far = [(document, rater, {"middle": "high", "high": "middle"}.get(value, value))
           for document, rater, value in near]  # fmt: skip
    values = [
        measure(
            build_ratings(rows, level=Level.ORDINAL, categories=order),
            Metric.KRIPPENDORFF_ALPHA,
            resamples=0,
        ).value
        for rows in (near, far)
    ]
    assert values[0] != values[1]
    strange = build_ratings([("d", "a", "huge")], level=Level.ORDINAL, categories=order)
    assert strange.excluded_count == 1


def test_numbers_dates_and_amounts_are_numbers_and_other_values_are_left_out() -> None:
    values = [
        *(3, 2.5, Decimal("1.25"), "12.50", date(2026, 1, 1), "2026-01-01", "14:30:00"),
        *({"amount": "9.90", "currency": "EUR"}, True, "2026-01-01T12:00:00Z"),
    ]
    rows = [(n, r, value) for n, value in enumerate(values) for r in (0, 1)]
    ratings = build_ratings(rows, level=Level.INTERVAL)
    assert ratings.excluded_count == 0
    assert measure(ratings, Metric.KRIPPENDORFF_ALPHA, resamples=0).value == 1.0
    wrong = [("d", 0, "soon"), ("d", 1, float("nan")), ("d", 2, 10**400), ("d", 3, [1])]
    broken = build_ratings([*rows, *wrong], level=Level.INTERVAL)
    assert broken.excluded_count == 4
    estimate = measure(broken, Metric.KRIPPENDORFF_ALPHA, resamples=0)
    assert WarningCode.VALUES_LEFT_OUT in _codes(estimate)


def test_empty_is_a_category_of_its_own_and_no_number() -> None:
    rows = [("d1", "a", EMPTY), ("d1", "b", EMPTY), ("d2", "a", 5), ("d2", "b", EMPTY),
            ("d3", "a", 7), ("d3", "b", 7), ("d4", "a", 9), ("d4", "b", 8)]  # fmt: skip
    ratings = build_ratings(rows, level=Level.INTERVAL)
    assert measure(ratings, Metric.PERCENT, resamples=0).value == 0.5
    # the values of a and b: 5, 7, 9 and 7, 8, of which one is equal
    assert measure(ratings, Metric.F1, resamples=0).value == pytest.approx(2 / 5)
    alpha = measure(ratings, Metric.KRIPPENDORFF_ALPHA, resamples=0)
    assert alpha.units == 2
    nothing = build_ratings([(n, r, EMPTY) for n in range(3) for r in "ab"])
    assert WarningCode.NOTHING_MARKED in _codes(measure(nothing, Metric.F1))


def test_the_last_rating_of_a_rater_counts() -> None:
    rows = [("d1", "a", "x"), ("d1", "b", "y"), ("d2", "a", "x"), ("d2", "b", "x")]
    again = [*rows, ("d1", "b", "x")]
    assert measure(build_ratings(rows), Metric.PERCENT, resamples=0).value == 0.5
    assert measure(build_ratings(again), Metric.PERCENT, resamples=0).value == 1.0


def test_the_ratio_level_refuses_what_has_no_ratios() -> None:
    rows = [(n, r, value) for n, value in enumerate((-1, 2, 3)) for r in "ab"]
    estimate = measure(build_ratings(rows, level=Level.RATIO), Metric.KRIPPENDORFF_ALPHA)
    assert estimate.value is None
    assert WarningCode.NEGATIVE_VALUES in _codes(estimate)
    many = [(n, r, 2 * n + r) for n in range(2_500) for r in (0, 1)]
    estimate = measure(build_ratings(many, level=Level.RATIO), Metric.KRIPPENDORFF_ALPHA)
    assert estimate.value is None
    assert WarningCode.TOO_MANY_VALUES in _codes(estimate)


def test_weights_need_an_order_and_marks_their_own_functions() -> None:
    ratings = build_ratings([("d", "a", "x"), ("d", "b", "y")])
    with pytest.raises(ValueError, match="ordered level"):
        measure(ratings, Metric.COHEN_KAPPA, weights="linear")
    with pytest.raises(ValueError, match="measure_marks"):
        measure(ratings, Metric.IOU)


def test_a_hundred_raters_of_one_document() -> None:
    rows = [("d", f"r{n}", "yes" if n % 10 else "no") for n in range(100)]
    ratings = build_ratings(rows)
    metrics = [Metric.PERCENT, Metric.KRIPPENDORFF_ALPHA, Metric.FLEISS_KAPPA]
    estimates = measure_all(ratings, metrics, resamples=5)
    assert estimates[0].value == pytest.approx((90 * 89 + 10 * 9) / (100 * 99))
    assert all(WarningCode.ONE_DOCUMENT in _codes(each) for each in estimates)
    assert len(measure_pairs(ratings, Metric.PERCENT, resamples=0)) == 4950


_values = st.sampled_from(["a", "b", 1, 1.0, True, None, EMPTY, -3, "2026-01-01", ["a", "b"]])
_rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 3), _values))


@QUICK
@given(rows=_rows, level=st.sampled_from(list(Level)))
def test_no_input_gives_nan(rows: list[Any], level: Level) -> None:
    ratings = build_ratings(rows, level=level)
    estimates = measure_all(ratings, METRICS, resamples=10)
    for metric in METRICS:
        estimates += [pair.estimate for pair in measure_pairs(ratings, metric, resamples=10)]
    for estimate in estimates:
        for number in (estimate.value, estimate.ci_low, estimate.ci_high):
            assert number is None or math.isfinite(number)
        assert estimate.value is not None or estimate.warnings


@QUICK
@given(rows=_rows, random=st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(rows: list[Any], random: Any) -> None:
    unique = list({row[:3]: row for row in rows}.values())
    shuffled = random.sample(unique, len(unique))
    first, second = (
        measure_all(build_ratings(each), METRICS, resamples=20, seed=5)
        for each in (unique, shuffled)
    )
    for a, b in zip(first, second, strict=True):
        assert astuple(a)[:4] == pytest.approx(astuple(b)[:4], abs=1e-12, nan_ok=False)


def test_fields_are_read_in_one_pass_each_with_its_level() -> None:
    rows = [
        (field, document, rater, document % 5 + (rater and document % 2))
        for document in range(50)
        for rater in (0, 1)
        for field in ("total", "kind")
    ]
    both = build_ratings_by_field(rows, levels={"total": Level.INTERVAL})
    assert {name: each.level for name, each in both.items()} == {
        "total": Level.INTERVAL,
        "kind": Level.NOMINAL,
    }
    alone = build_ratings([row[1:] for row in rows if row[0] == "total"], level=Level.INTERVAL)
    metric = Metric.KRIPPENDORFF_ALPHA
    assert measure(both["total"], metric) == measure(alone, metric)


def _money(amount: str, currency: str = "EUR") -> dict[str, str]:
    return {"amount": amount, "currency": currency}


@pytest.mark.parametrize(
    ("field_type", "a", "b", "same"),
    [
        ("text", "  ACME\u00a0 GmbH ", "acme gmbh", True),
        ("text", "\ufb01nal", "final", True),
        ("text", "acme", "acne", False),
        ("money", _money("1.50"), _money("1.5"), True),
        ("money", _money("1.50"), _money("1.5", "USD"), False),
        ("number", "0.30", 0.3, True),
        ("number", 1, True, False),
        ("number", "0E+3", 0, True),
        ("integer", "1" * 49 + "2", "1" * 49 + "3", False),
        ("money", _money("1" * 30 + ".20"), _money("1" * 30 + ".30"), False),
        ("choice", "A", "a", False),
        ("date", "2026-01-01", "2026-01-02", False),
        ("text", ["b", "A"], ["a", "B"], True),
    ],
)
def test_values_that_mean_the_same_have_one_key(
    field_type: str, a: Any, b: Any, same: bool
) -> None:
    keys = [normalize_value(field_type, value) for value in (a, b)]
    assert (keys[0] == keys[1]) is same
    rows = [("d", rater, key) for rater, key in enumerate(keys)]
    value = measure(build_ratings(rows), Metric.PERCENT, resamples=0).value
    assert value == float(same)


def _span(start: int, end: int) -> Mark:
    return Mark(0, (0, start, 1, end))


def test_marks_are_matched_exactly_and_by_overlap() -> None:
    rows = [
        ("d1", 100, "a", [_span(0, 10), _span(20, 30)]),
        ("d1", 100, "b", [_span(0, 10), _span(22, 30), _span(50, 60)]),
        ("d2", 50, "a", []),
        ("d2", 50, "b", []),
        ("d3", 10, "a", [_span(0, 5)]),
    ]
    marks = build_mark_sets(rows)
    expected = {
        Metric.F1: 2 * 1 / 5,
        Metric.F1_OVERLAP: 2 * 2 / 5,
        Metric.IOU: (1 + 0.8) / 3,
        Metric.PERCENT: 1 / 2,
    }
    for metric, value in expected.items():
        estimate = measure_marks(marks, metric, resamples=50)
        assert estimate.value == pytest.approx(value)
        assert (estimate.units, estimate.raters) == (2, 2)
        assert WarningCode.MISSING_RATINGS in _codes(estimate)
        (pair,) = measure_mark_pairs(marks, metric, resamples=50)
        assert pair.estimate.value == estimate.value


def test_regions_of_different_pages_or_labels_do_not_match() -> None:
    box = (0.1, 0.1, 0.3, 0.2)
    rows = [("d", "a", [Mark(1, box, "x"), Mark(2, box, "x")]),
            ("d", "b", [Mark(1, box, "x"), Mark(3, box, "x"), Mark(2, box, "y")])]  # fmt: skip
    assert measure_marks(build_mark_sets(rows), Metric.IOU, resamples=0).value == 1 / 4
    with pytest.raises(ValueError, match="length"):
        measure_marks(build_mark_sets(rows), Metric.KRIPPENDORFF_ALPHA)


def test_rows_of_a_document_must_follow_each_other() -> None:
    rows = [("d1", "a", []), ("d2", "a", []), ("d1", "b", [])]
    with pytest.raises(ValueError, match="must be consecutive"):
        build_mark_sets(rows)


@pytest.mark.parametrize("metric", sorted(SPAN_METRICS))
@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([], WarningCode.NO_RATINGS),
        ([("d", 9, "a", [_span(0, 4)])], WarningCode.ONE_RATER),
        ([("d", 9, "a", []), ("e", 9, "b", [])], WarningCode.NO_OVERLAP),
    ],
)
def test_marks_without_pairs(metric: Metric, rows: list[Any], code: WarningCode) -> None:
    estimate = measure_marks(build_mark_sets(rows), metric)
    assert estimate.value is None
    assert _codes(estimate) == {code}


@pytest.mark.parametrize("metric", sorted(SPAN_METRICS - {Metric.PERCENT}))
def test_nobody_marked_anything(metric: Metric) -> None:
    marks = build_mark_sets([(n, 9, rater, []) for n in range(3) for rater in "ab"])
    estimate = measure_marks(marks, metric)
    assert estimate.value is None
    assert WarningCode.NOTHING_MARKED in _codes(estimate)


_spans = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 8)).map(lambda p: _span(p[0], p[0] + p[1])),
    max_size=4,
)
_documents = st.lists(st.dictionaries(st.sampled_from("abc"), _spans, min_size=1), max_size=5)


@QUICK
@given(documents=_documents)
def test_unitizing_alpha_is_symmetric_finite_and_1_for_equal_marks(documents: list[Any]) -> None:
    rows = [(n, 25, r, marks) for n, each in enumerate(documents) for r, marks in each.items()]
    for metric in sorted(SPAN_METRICS):
        estimate = measure_marks(build_mark_sets(rows), metric, resamples=10)
        assert estimate.value is None or (math.isfinite(estimate.value) and estimate.value <= 1)
        renamed = [(n, 25, {"a": "z"}.get(r, r), marks) for n, _, r, marks in rows]
        other = measure_marks(build_mark_sets(renamed), metric, resamples=10)
        assert other.value == (estimate.value and pytest.approx(estimate.value))
        same = [(n, 25, twin, marks) for n, _, r, marks in rows if r == "a" for twin in "xy"]
        value = measure_marks(build_mark_sets(same), metric, resamples=0).value
        assert value is None or value == pytest.approx(1.0)
