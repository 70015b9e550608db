"""Plain text without a file: virtual pages, offsets and boxes."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.engines.documents import Limits, ParsedDocument, ParseFailed
from app.engines.documents.layout import COLUMNS, ROWS, parse_text
from tests.engines.documents.parsing import get_failure

ANY = st.text(
    st.characters() | st.sampled_from("\n\t \r\f\u0301\u200b中かא\u202e\U0001f600\x00\ud800"),
    min_size=1,
)


def check(document: ParsedDocument) -> None:
    """Check the properties of every document on virtual pages."""
    text = document.text
    assert "".join(page.text for page in document.pages) == text
    assert [page.number for page in document.pages] == list(range(1, len(document.pages) + 1))
    seen = 0
    for page in document.pages:
        assert text[page.start : page.end] == page.text
        for word in page.words:
            assert text[word.start : word.end] == word.text
            assert page.start <= seen <= word.start < word.end <= page.end
            x0, y0, x1, y1 = word.box
            assert 0 < x0 <= x1 < 1
            assert 0 < y0 < y1 < 1
            seen = word.end
        seen = page.end
    words = "".join(word.text for page in document.pages for word in page.words)
    assert words == "".join(text.split())


@given(ANY)
@example("\U0001f600" * 200)
@example("a\u0301" * 1000)
@example("\u0301" * 1000)
@example("\t" * 100 + "x")
@example("x" * 83 + " " * 300 + "y")
@example("word\f\fword\f")
@example("\u2028" * 200 + "x")
def test_offsets_and_boxes_of_any_text(text: str) -> None:
    if not text.strip():
        with pytest.raises(ParseFailed, match="empty_document"):
            parse_text(text)
        return
    document = parse_text(text)
    assert len(document.text) == len(text)
    document.text.encode("utf-8")
    assert "\x00" not in document.text
    check(document)


@given(
    st.lists(
        st.sampled_from(["word", "中文", "שלום", " ", "\n", "\t", "e\u0301", "."]),
        min_size=1,
        max_size=400,
    )
)
def test_words_of_a_row_do_not_overlap(parts: list[str]) -> None:
    text = "".join(parts) + "x"
    document = parse_text(text)
    check(document)
    for page in document.pages:
        rows: dict[float, list[tuple[float, float]]] = {}
        for word in page.words:
            rows.setdefault(word.box[1], []).append((word.box[0], word.box[2]))
        for spans in rows.values():
            spans.sort()
            for (_, end), (start, _) in pairwise(spans):
                assert end <= start + 1e-5


def test_a_row_holds_84_columns_and_a_page_58_rows() -> None:
    line = "x" * COLUMNS
    assert len(parse_text("\n".join([line] * ROWS)).pages) == 1
    assert len(parse_text("\n".join([line] * (ROWS + 1))).pages) == 2
    assert len(parse_text(line + "y").pages[0].words) == 2
    assert (COLUMNS, ROWS) == (84, 58)


def test_lines_wrap_at_spaces() -> None:
    document = parse_text("word " * 40)
    rows = sorted({word.box[1] for word in document.pages[0].words})
    assert len(rows) == 3
    assert all(word.text == "word" for word in document.pages[0].words)


def test_a_page_breaks_at_a_form_feed() -> None:
    pages = parse_text("first\fsecond\f").pages
    assert [(page.start, page.end) for page in pages] == [(0, 6), (6, 13)]
    assert pages[1].words[0].box[1] == pages[0].words[0].box[1]


def test_wide_characters_take_two_columns_and_are_words_of_their_own() -> None:
    latin = parse_text("ab").pages[0].words[0].box
    wide = parse_text("中文").pages[0].words
    assert [word.text for word in wide] == ["中", "文"]
    assert wide[0].box == latin
    assert wide[1].box[0] == latin[2]


def test_a_row_that_begins_with_hebrew_runs_to_the_left() -> None:
    first, second = parse_text("שלום 123").pages[0].words
    assert first.box[0] > second.box[2]
    assert first.box[2] > 0.9


def test_tabs_line_up() -> None:
    words = parse_text("a\tb\nlonger\tc").pages[0].words
    assert words[1].box[0] == words[3].box[0]


@pytest.mark.parametrize(
    ("text", "limits", "code"),
    [
        ("", Limits(), "empty_document"),
        ("\n \t", Limits(), "empty_document"),
        ("x" * 11, Limits(max_text_chars=10), "too_large_unpacked"),
        ("x\f" * 4, Limits(max_pages=3), "too_many_pages"),
    ],
)
def test_refusals(text: str, limits: Limits, code: str) -> None:
    assert get_failure(parse_text, text, limits).code == code


def test_ten_million_characters_without_a_break() -> None:
    document = parse_text("x" * 9_700_000)
    assert document.pages[-1].end == 9_700_000
    assert len(document.pages[-1].words) <= ROWS
