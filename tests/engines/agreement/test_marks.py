"""Which marks go together: beside a brute force over all pairs, and counted."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.agreement import dense_marks, marks, measures
from app.engines.agreement.marks import MIN_OVERLAP, Mark, compute_overlap, group_marks, match_marks
from app.engines.agreement.measures import has_agreement
from tests.engines.agreement.labels import FIELD_SPECS, span
from tests.factories.properties import examples

QUICK = examples(150)

_corner = st.integers(0, 5).map(lambda n: n / 10)
_side = st.integers(1, 5).map(lambda n: n / 10)
_boxes = st.builds(
    lambda x, y, w, h, page, label: Mark(page, (x, y, x + w, y + h), label),
    _corner, _corner, _side, _side, st.integers(1, 2), st.sampled_from(["", "s"]),
)  # fmt: skip
_spans = st.builds(
    lambda start, length: Mark(0, (0, start, 1, start + length)),
    st.integers(0, 12),
    st.integers(1, 9),
)
MARKS = st.one_of(st.lists(_boxes, max_size=10), st.lists(_spans, max_size=12))
MIN_OVERLAPS = st.sampled_from([0.0, MIN_OVERLAP])


@pytest.fixture(params=["listed", "arrays", "dense"])
def _implementation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few pairs are listed, more of them as arrays, many not at all: all say the same."""
    if request.param != "listed":
        monkeypatch.setattr(marks, "MAX_PYTHON_PAIRS", -1)
    if request.param == "dense":
        monkeypatch.setattr(dense_marks, "MAX_SORTED_PAIRS", -1)


def _compute_shared_fraction(one: Mark, other: Mark) -> float:
    alone = one.page != other.page or one.label != other.label
    return 0.0 if alone else compute_overlap(one.box, other.box)


def _match_greedily(
    left: list[Mark], right: list[Mark], min_overlap: float
) -> list[tuple[Mark, Mark]]:
    """All pairs from the best to the worst, those of equal overlap from the top of the page."""

    def rank(pair: tuple[Mark, Mark]) -> Any:
        return -_compute_shared_fraction(*pair), sorted(
            (m.box[1], m.box[0], m.box[3], m.box[2]) for m in pair
        )

    ours, theirs = list(left), list(right)
    found = []
    for one, other in sorted(((a, b) for a in left for b in right), key=rank):
        shared = _compute_shared_fraction(one, other)
        if one in ours and other in theirs and shared > 0 and shared >= min_overlap:
            ours.remove(one)
            theirs.remove(other)
            found.append((one, other))
    return found


def _sort_pairs(chosen: Any) -> list[str]:
    return sorted(map(repr, chosen))


@pytest.mark.usefixtures("_implementation")
class TestAlike:
    """However many pairs there are, what comes out is that of trying all."""

    @QUICK
    @given(MARKS, MARKS, MIN_OVERLAPS)
    def test_the_best_pair_goes_first_and_each_mark_once(
        self, left: list[Mark], right: list[Mark], min_overlap: float
    ) -> None:
        found = match_marks(left, right, min_overlap)
        assert found == sorted(found)
        assert len({a for a, _ in found}) == len({b for _, b in found}) == len(found)
        pairs = [(left[here], right[there]) for here, there in found]
        assert _sort_pairs(pairs) == _sort_pairs(_match_greedily(left, right, min_overlap))

    @QUICK
    @given(MARKS, MARKS, MIN_OVERLAPS, st.randoms(use_true_random=False))
    def test_neither_side_nor_order_matters(
        self, left: list[Mark], right: list[Mark], min_overlap: float, generator: random.Random
    ) -> None:
        found = [
            (left[here], right[there]) for here, there in match_marks(left, right, min_overlap)
        ]
        one, other = generator.sample(left, len(left)), generator.sample(right, len(right))
        swapped = [
            (one[here], other[there]) for there, here in match_marks(other, one, min_overlap)
        ]
        assert _sort_pairs(found) == _sort_pairs(swapped)

    @QUICK
    @given(MARKS)
    def test_groups_are_what_overlaps_link(self, marks_on_page: list[Mark]) -> None:
        found = group_marks(marks_on_page)
        linked = [{n} for n in range(len(marks_on_page))]
        for one in range(len(marks_on_page)):
            for other in range(one):
                if (
                    _compute_shared_fraction(marks_on_page[one], marks_on_page[other])
                    >= MIN_OVERLAP
                ):
                    both = linked[one] | linked[other]
                    for member in both:
                        linked[member] = both
        together = [
            {n for n in range(len(marks_on_page)) if found[n] == number} for number in found
        ]
        assert together == linked


def _make_shifted_marks(count: int) -> tuple[list[Mark], list[Mark]]:
    return tuple([Mark(0, (0, n, 1, n + 20_000 + s)) for n in range(count)] for s in (0, 3))  # type: ignore[return-value]


def _make_nested_marks(count: int) -> tuple[list[Mark], list[Mark]]:
    """All of the left want the same of the right: the shortest one left."""
    long, short = 40_000, 30_000
    return (
        [Mark(0, (0, count - n, 1, long + n)) for n in range(count)],
        [Mark(0, (0, count + n, 1, short - n)) for n in range(count)],
    )


def _make_rising_marks(count: int) -> tuple[list[Mark], list[Mark]]:
    """Each wants the next: the first pair is found at the far end."""
    places = [0.0]
    for n in range(2 * count):
        places.append(places[-1] + 1 - n / (3 * count))
    made = [Mark(0, (0, place, 1, place + 10_000)) for place in places[:-1]]
    return made[::2], made[1::2]


def _make_scattered_marks(count: int) -> tuple[list[Mark], list[Mark]]:
    generator = random.Random(7)

    def box() -> Mark:
        x, y = generator.random() / 10, generator.random() / 10
        return Mark(1, (x, y, 0.8 + 0.2 * generator.random(), 0.8 + 0.2 * generator.random()))

    return [box() for _ in range(count)], [box() for _ in range(count)]


HEAPS = [_make_shifted_marks, _make_nested_marks, _make_rising_marks, _make_scattered_marks]


@pytest.mark.parametrize("count", [1, 160])
def test_boxes_whose_areas_are_rounded_to_zero_do_not_overlap(count: int) -> None:
    left = [Mark(1, (0, 0, 1e-200 * n, 1e-200)) for n in range(1, count + 1)]
    right = [Mark(1, (0, 0, 1e-200 * n, 2e-200)) for n in range(1, count + 1)]
    assert compute_overlap(left[0].box, right[0].box) == 0.0
    assert match_marks(left, right) == []
    assert match_marks(left, left) == [(n, n) for n in range(count)]


@pytest.fixture
def search_count(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many times a mark asked for those near it, as the only member."""
    monkeypatch.setattr(dense_marks, "MAX_SORTED_PAIRS", marks.MAX_PYTHON_PAIRS)
    count = [0]
    plain = dense_marks._MarkIndex._compute_overlaps

    def counted(self: Any, box: Any) -> Any:
        count[0] += 1
        return plain(self, box)

    monkeypatch.setattr(dense_marks._MarkIndex, "_compute_overlaps", counted)
    return count


@pytest.mark.parametrize("make", HEAPS)
def test_a_heap_takes_three_questions_a_mark_at_most(make: Any, search_count: list[int]) -> None:
    left, right = make(160)
    assert len(left) * len(right) > marks.MAX_PYTHON_PAIRS
    found = match_marks(left, right)
    assert 0 < search_count[0] <= 3 * (len(left) + len(right))
    pairs = [(left[here], right[there]) for here, there in found]
    assert _sort_pairs(pairs) == _sort_pairs(_match_greedily(left, right, MIN_OVERLAP))


@pytest.mark.parametrize("make", HEAPS)
def test_groups_of_a_heap_take_one_question_a_mark(make: Any, search_count: list[int]) -> None:
    left, right = make(500)
    assert len(set(group_marks([*left, *right]))) == 1
    assert 0 < search_count[0] <= len(left) + len(right)


def test_what_stands_far_apart_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    comparison_count = [0]
    plain = compute_overlap

    def counted(one: Any, other: Any) -> float:
        comparison_count[0] += 1
        return plain(one, other)

    monkeypatch.setattr(marks, "compute_overlap", counted)
    ours = [Mark(0, (0, 100 * n, 1, 100 * n + 20)) for n in range(3000)]
    theirs = [Mark(0, (0, 100 * n, 1, 100 * n + 15)) for n in range(-500, 3000)]
    assert len(match_marks(ours, theirs)) == 3000
    assert comparison_count[0] == 3000


def test_a_high_box_beside_many_hides_none_of_them() -> None:
    column = [Mark(1, (0.5, n / 1000, 0.6, n / 1000 + 0.0005)) for n in range(900)]
    page = Mark(1, (0.0, 0.0, 1.0, 1.0))
    assert len(match_marks([page, *column], [*column, page])) == 901


def test_a_submission_leaves_to_people_what_would_keep_it_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sets = [[span("names", n, n + 5000 + s) for n in range(600)] for s in (0, 3)]
    # In a heap each of the 1,200 counts five times.
    monkeypatch.setattr(measures, "MAX_MATCHED_MARKS", 9600)
    assert has_agreement(sets, FIELD_SPECS, 0.9) is True
    monkeypatch.setattr(measures, "MAX_MATCHED_MARKS", 9599)
    assert has_agreement(sets, FIELD_SPECS, 0.9) is False
    # What is the same in all needs no matching.
    assert has_agreement([sets[0], sets[0]], FIELD_SPECS, 0.9) is True
