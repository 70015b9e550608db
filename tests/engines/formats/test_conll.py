"""CoNLL files: a strict reader, spaCy's reader, and the rules for words and overlapping tags."""

import re
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.training import iob_to_biluo
from spacy.training.converters import conll_ner_to_docs

from app.engines.formats import FORMATS
from app.engines.formats.model import Page, Word
from tests.engines.formats.documents import (
    A4,
    Documents,
    frame,
    lay_out,
    make_pages,
    make_row,
    mark,
    write,
)
from tests.factories.properties import examples

TEXT = "Invoice A-1 of 5 May, total 119.00 EUR"
WIDTHS = {"plain": 2, "boxes": 6, "conll2003": 4}
_TAG = re.compile(r"O|[BI]-\S+")

Block = list[list[list[str]]]
"""The sequences of a block: lines of columns."""


def parse(data: bytes, columns: str = "plain") -> list[Block]:
    """Return the blocks of a file; fails unless every line is as the format says."""
    blocks: list[Block] = []
    text = data.decode()
    assert not text or text.endswith("\n\n")
    for part in text.split("\n\n")[:-1]:
        lines = [line.split() for line in part.split("\n")]
        assert {len(line) for line in lines} == {WIDTHS[columns]}, part
        if lines[0][0] == "-DOCSTART-":
            assert len(lines) == 1
            blocks.append([])
            continue
        previous = "O"
        for line in lines:
            tag = line[-1]
            assert _TAG.fullmatch(tag)
            assert not tag.startswith("I-") or previous[2:] == tag[2:], part
            previous = tag
        blocks[-1].append(lines)
    return blocks


def convert(tags: list[Any], *texts: str, **options: Any) -> list[Block]:
    source = Documents({"doc-1": make_pages(*(texts or (TEXT,)))})
    return parse(
        write("conll", [make_row(tags)], source, **options), options.get("columns", "plain")
    )


def tags_of(tags: list[Any], *texts: str) -> list[str]:
    return [line[-1] for sequence in convert(tags, *texts)[0] for line in sequence]


def test_words_with_their_tags() -> None:
    tags = [mark("number", 8, 11), mark("date", 15, 20), mark("items.price", 28, 38, row=3)]
    ((sequence,),) = convert(tags)
    assert [line[0] for line in sequence] == TEXT.split()
    assert [line[1] for line in sequence] == [
        *("O", "B-number", "O", "B-date", "I-date", "O", "B-items.price", "I-items.price"),
    ]


def test_neighbours_of_the_same_field_are_two_entities() -> None:
    assert tags_of([mark("a", 0, 7), mark("a", 8, 11)])[:3] == ["B-a", "B-a", "O"]


@pytest.mark.parametrize("turn", [1, -1])
def test_the_longest_of_overlapping_tags_wins_in_any_order(turn: int) -> None:
    tags = [mark("short", 8, 11), mark("long", 0, 11), mark("other", 9, 14)]
    assert tags_of(tags[::turn])[:4] == ["B-long", "I-long", "O", "O"]


def test_of_equally_long_tags_the_first_in_the_text_wins_then_the_first_tag() -> None:
    assert tags_of([mark("late", 8, 16), mark("early", 0, 8)])[:2] == ["B-early", "B-late"]
    assert tags_of([mark("late", 4, 12), mark("early", 0, 8)])[:2] == ["B-early", "O"]
    assert tags_of([mark("one", 0, 7), mark("two", 0, 7)])[0] == "B-one"


def test_a_part_of_a_word_tags_the_word_and_the_first_part_wins() -> None:
    assert tags_of([mark("day", 0, 2), mark("month", 3, 5)], "05/12/2026 due") == ["B-day", "O"]
    # The second span gets its B tag in the next word.
    assert tags_of([mark("a", 0, 2), mark("b", 3, 14)], "05/12/2026 due") == ["B-a", "B-b"]


@pytest.mark.parametrize(
    "tag",
    [
        mark("number", 38, 45),
        mark("number", 500, 510),
        mark("number", 5, 5),
        mark("number", 7, 8),
        frame("number", 1, [0, 0, 1, 1]),
        {"field": "number", "value": "A-1", "evidence": []},
        {"field": "number", "value": "A-1"},
    ],
)
def test_tags_that_mark_no_word_are_left_out(tag: dict[str, Any]) -> None:
    assert set(tags_of([tag])) == {"O"}


def test_each_page_is_a_sequence_and_a_span_begins_again_on_it() -> None:
    first, second = convert([mark("a", 4, 13)], "one two", "three four")[0]
    assert [line[-1] for line in first] == ["O", "B-a"]
    assert [line[-1] for line in second] == ["B-a", "O"]


def test_every_tag_set_is_a_block_even_without_words() -> None:
    rows = [make_row([], number, text=None) for number in range(1, 4)]
    blocks = parse(write("conll", rows, Documents({"doc-2": make_pages("two words")})))
    assert [len(block) for block in blocks] == [0, 1, 0]
    assert write("conll", []) == b""


def test_documents_without_words_have_the_tokens_of_their_text() -> None:
    row = make_row([mark("a", 6, 7)], text="one\u00a0\n two\tthree")
    for pages in ([], [Page(1, *A4, [])]):
        ((sequence,),) = parse(write("conll", [row], Documents({"doc-1": pages})))
        assert sequence == [["one", "O"], ["two", "B-a"], ["three", "O"]]


def test_boxes_and_the_columns_of_conll2003() -> None:
    expected = {
        "boxes": ["Invoice", "0.00000", "0.10000", "0.18421", "0.20000", "B-a"],
        "conll2003": ["Invoice", "-X-", "O", "B-a"],
    }
    for columns, line in expected.items():
        assert convert([mark("a", 0, 7)], columns=columns)[0][0][0] == line


def test_odd_tokens_stay_in_their_column() -> None:
    odd = {
        "-DOCSTART-": "_-DOCSTART-",
        "a\u2028b": "a\ufffdb",
        "\x1c": "\ufffd",
        "x\x85y": "x\ufffdy",
        "": "\ufffd",
        "\ud800": "?",
        **{token: token for token in ("\u202eabc\u202c", "#", "عربي")},
    }
    words = [Word(text, (0, 0, 1, 1), 10 * i, 10 * i + 5) for i, text in enumerate(odd)]
    data = write("conll", [make_row([])], Documents({"doc-1": [Page(1, *A4, words)]}))
    ((sequence,),) = parse(data)
    assert [line[0] for line in sequence] == list(odd.values())


def test_words_are_in_the_order_of_the_text() -> None:
    page = Page(1, *A4, lay_out(TEXT)[::-1])
    ((sequence,),) = parse(write("conll", [make_row([])], Documents({"doc-1": [page]})))
    assert [line[0] for line in sequence] == TEXT.split()


def test_spacy_reads_the_entities() -> None:
    source = Documents({"doc-1": make_pages(TEXT), "doc-2": make_pages("Paid", "by Ann Lee")})
    rows = [
        make_row([mark("number", 8, 11), mark("date", 15, 20)]),
        make_row([mark("who", 8, 15)], 2),
    ]
    data = write("conll", rows, source, columns="conll2003").decode()
    docs = list(conll_ner_to_docs(data, n_sents=0, no_print=True))
    ents = [[(ent.text, ent.label_) for ent in doc.ents] for doc in docs]
    assert [found for found in ents if found] == [
        [("A-1", "number"), ("5 May,", "date")],
        [("Ann Lee", "who")],
    ]


@examples(100)
@given(
    spans=st.lists(
        st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 60), st.integers(1, 30)), max_size=12
    )
)
def test_any_tags_are_valid_iob2(spans: list[tuple[str, int, int]]) -> None:
    tags = [mark(field, start, start + length) for field, start, length in spans]
    block = convert(tags, TEXT, "second page, with 4 words")[0]
    for sequence in block:
        iob_to_biluo([line[-1] for line in sequence])
    assert [line[0] for sequence in block for line in sequence] == [
        *TEXT.split(),
        *["second", "page,", "with", "4", "words"],
    ]


def test_a_megabyte_of_words_is_written_in_pieces() -> None:
    class Sizes(list[int]):
        def write(self, data: bytes) -> None:
            self.append(len(data))

    out = Sizes()
    pages = [Page(number, *A4, lay_out("word " * 5_000)) for number in range(1, 41)]
    writer = FORMATS["conll"].create_writer(out, [], {}, Documents({"doc-1": pages}))  # type: ignore[arg-type]
    writer.write_json(orjson.dumps(make_row([])))
    writer.close()
    assert sum(out) > 1_000_000
    assert max(out) < 500_000


def test_documents_are_read_in_batches() -> None:
    source = Documents()
    write("conll", [make_row([], number) for number in range(250)], source)
    assert source.batches == [(100, True), (100, True), (50, True)]
    source = Documents()
    write("conll", [make_row([], number, text="x" * 3_000_000) for number in range(3)], source)
    assert [count for count, _ in source.batches] == [2, 1]
