"""Words become rows, tokens and segments, whatever their order."""

import random

from app.engines.extraction.layout import build_layout
from app.engines.extraction.model import MAX_WORDS, Document, SourceWord
from tests.engines.extraction.documents import build_document


def _texts(document):
    return [token.text for token in build_layout(document).tokens]


def test_glued_words_are_split_and_keep_their_offsets():
    document = build_document(["DATE:02/02/17 RM9.00 12,50€ 12:30 http://a.example"])
    tokens = build_layout(document).tokens
    assert [token.text for token in tokens] == [
        "DATE:",
        "02/02/17",
        "RM",
        "9.00",
        "12,50",
        "€",
        "12:30",
        "http://a.example",
    ]
    assert all(document.text[token.start : token.end] == token.text for token in tokens)


def test_the_order_of_the_words_does_not_matter():
    document = build_document(["one two     three", "four      five"])
    shuffled = list(document.words)
    random.Random(1).shuffle(shuffled)
    assert _texts(Document(document.text, shuffled)) == _texts(document)


def test_a_tilted_row_stays_together():
    words = [
        SourceWord(
            f"w{n}",
            1,
            (n / 10, 0.1 + n * 0.0008, n / 10 + 0.05, 0.112 + n * 0.0008),
            3 * n,
            3 * n + 2,
        )
        for n in range(9)
    ]
    assert len(build_layout(Document(" " * 30, words)).rows) == 1


def test_words_without_boxes_are_placed_by_the_lines_of_the_text():
    text = "first line\nsecond"
    words = [
        SourceWord("first", 1, None, 0, 5),
        SourceWord("line", 1, None, 6, 10),
        SourceWord("second", 1, None, 11, 17),
    ]
    assert build_layout(Document(text, words)).rows == [(0, 1), (2, 2)]


def test_a_long_document_keeps_its_start_and_end():
    words = [
        SourceWord("x", 1 + n // 500, (0.1, 0.1, 0.2, 0.2), 2 * n, 2 * n + 1) for n in range(5000)
    ]
    tokens = build_layout(Document("x " * 5000, words)).tokens
    assert len(tokens) == MAX_WORDS
    assert {tokens[0].page, tokens[-1].page} == {1, 10}


def test_an_empty_document_has_no_tokens():
    assert build_layout(Document("", [])).tokens == []


def test_a_word_that_is_too_long_for_a_value_is_left_out():
    words = [SourceWord("a" * size, 1, (0.1, 0.1, 0.9, 0.2), 0, size) for size in (500, 501)]
    assert _texts(Document("a" * 501, words)) == ["a" * 500]
