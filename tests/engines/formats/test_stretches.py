"""Stretches of the text that do not overlap: the same as spaCy chooses."""

from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span
from spacy.util import filter_spans
from spacy.vocab import Vocab

from app.engines.formats.stretches import Stretch, select_disjoint
from tests.factories.properties import examples

DOC = Doc(Vocab(), words=[str(number) for number in range(40)])


@examples(200)
@given(spans=st.lists(st.tuples(st.integers(0, 29), st.integers(1, 10)), max_size=20))
def test_the_choice_is_that_of_filter_spans(spans: list[tuple[int, int]]) -> None:
    stretches = [
        Stretch(start, start + length, "f", number) for number, (start, length) in enumerate(spans)
    ]
    expected = filter_spans([Span(DOC, one.start, one.end) for one in stretches])
    chosen = select_disjoint(stretches)
    assert [(one.start, one.end) for one in chosen] == [(one.start, one.end) for one in expected]
