"""Text spans that do not overlap: the same selection as in spaCy."""

from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span
from spacy.util import filter_spans
from spacy.vocab import Vocab

from app.engines.formats.text_spans import TextSpan, select_disjoint_spans
from tests.factories.properties import examples

DOC = Doc(Vocab(), words=[str(number) for number in range(40)])


@examples(200)
@given(spans=st.lists(st.tuples(st.integers(0, 29), st.integers(1, 10)), max_size=20))
def test_the_choice_is_that_of_filter_spans(spans: list[tuple[int, int]]) -> None:
    text_spans = [
        TextSpan(start, start + length, "f", number) for number, (start, length) in enumerate(spans)
    ]
    expected = filter_spans([Span(DOC, span.start, span.end) for span in text_spans])
    chosen = select_disjoint_spans(text_spans)
    assert [(span.start, span.end) for span in chosen] == [
        (span.start, span.end) for span in expected
    ]
