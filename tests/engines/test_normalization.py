"""Unicode normalization takes linear time, because long runs of combining marks are not sorted."""

import unicodedata
from collections.abc import Callable
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.agreement.coefficients.values import normalize_value
from app.engines.agreement.tag_keys import build_value_key
from app.engines.conditions.attributes import fold_text
from app.engines.documents.layout import parse_text
from app.engines.extraction.layout import compact_text
from app.engines.fields.source_text import is_same_text
from app.engines.normalization import MAX_MARKS, Form, normalize

FORMS = get_args(Form)
LETTERS = "ae\u00e9\u0300\u0315\u0344\u0f73\uff9e\ufb01\u1f82\u0958\u212b\uac00\u1100\u1161 "
RUNS = ["\u0315\u0300", "\u0f73", "\u0344\u0316", "\uff9e\u0300"]
UNSORTED = "\u0315\u0300" * MAX_MARKS


@pytest.mark.parametrize("form", FORMS)
@given(text=st.text(alphabet=LETTERS, max_size=MAX_MARKS))
def test_ordinary_text_is_normalized_as_by_the_standard_library(form: Form, text: str) -> None:
    assert normalize(form, text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("run", RUNS)
def test_a_long_run_of_marks_is_kept_and_the_text_around_it_is_normalized(
    form: Form, run: str
) -> None:
    marks = run * 50_000
    normalized = normalize(form, f"\u212b{marks}e\u0301")
    assert normalized == unicodedata.normalize(form, "\u212b") + marks + unicodedata.normalize(
        form, "e\u0301"
    )
    assert normalize(form, normalized) == normalized


@pytest.mark.parametrize(
    "read",
    [
        fold_text,
        lambda text: normalize_value("text", text),
        lambda text: build_value_key({"field": "x", "value": text}),
        lambda text: text if not is_same_text(text, unicodedata.normalize("NFC", text)) else "",
    ],
)
def test_long_runs_of_marks_in_conditions_and_labels_are_not_sorted(
    read: Callable[[str], object],
) -> None:
    assert read(f"a{UNSORTED}") == f"a{UNSORTED}"


@pytest.mark.parametrize("mark", ["\u0300", "\u0f73"])
@pytest.mark.parametrize("start", [0, 1, MAX_MARKS - 1, MAX_MARKS, 1000])
def test_the_text_of_a_document_has_no_long_runs_of_marks(start: int, mark: str) -> None:
    for length in (1, MAX_MARKS, MAX_MARKS + 1, 1000):
        kept, replaced = min(length, MAX_MARKS), max(0, length - MAX_MARKS)
        text = parse_text(f"{'x' * start}{mark * length}end").text
        assert text == f"{'x' * start}{mark * kept}{chr(0xFFFD) * replaced}end"


def test_a_long_run_of_marks_has_no_letters() -> None:
    assert compact_text(f"A{UNSORTED}") == "a"
