"""Values of a model's answer: which are kept, and where the document states them."""

from typing import Any

import pytest

from app.engines.extraction.model import Document, SourceWord
from app.engines.fields import CompiledFields, SourceText, check_fields
from app.engines.model_servers import document_search
from app.engines.model_servers.alignment import align_values
from app.engines.model_servers.protocol import InvalidAnswer, build_request, parse_answer

FIELDS = check_fields(
    [
        {"key": "number", "type": "text"},
        {"key": "total", "type": "money"},
        {"key": "due", "type": "date"},
        {"key": "site", "type": "url"},
        {"key": "kind", "type": "choice", "options": [{"value": "a", "label": "A"}]},
        {"key": "marks", "type": "span"},
        {"key": "place", "type": "region"},
        {"key": "hidden", "type": "text", "ai_assist": False},
        {"key": "names", "type": "text", "multiple": True},
    ]
)
TEXT = "No 12 and no 123\nTotal EUR 1,250.50 by 3 March 2026\nAnn, Bob www.Example.com/"


def _document() -> Document:
    words, start = [], 0
    for place, text in enumerate(TEXT.split()):
        start = TEXT.index(text, start)
        box = (place / 20, 0.1, place / 20 + 0.04, 0.2)
        words.append(SourceWord(text, 1, box, start, start + len(text)))
        start += len(text)
    return Document(TEXT, words)


def _align(**values: Any) -> list[Any]:
    return align_values(values, _document(), FIELDS)


def _found(tags: list[Any]) -> list[str]:
    return [tag["evidence"][0]["text"] for tag in tags]


@pytest.mark.parametrize(
    ("field", "value", "found"),
    [
        ("number", "123", "123"),
        ("number", "no  12", "No 12"),
        ("total", "EUR 1250.50", "EUR 1,250.50"),
        ("due", "2026-03-03", "3 March 2026"),
        ("marks", ["Total EUR"], "Total EUR"),
        ("site", "https://www.example.com/", "www.Example.com/"),
    ],
)
def test_a_value_is_found_where_the_document_states_it(field: str, value: Any, found: str) -> None:
    (tag,) = _align(**{field: value})
    assert _found([tag]) == [found]
    (evidence,) = tag["evidence"]
    assert TEXT[evidence["start"] : evidence["end"]] == found
    assert len(evidence["box"]) == 4
    source = SourceText(lambda: TEXT)
    fields = CompiledFields(FIELDS)
    (kept,) = fields.keep_valid_tags([tag], text_length=len(TEXT), page_count=1, source=source)
    if field == "marks":
        assert kept["value"] == found


@pytest.mark.parametrize(
    "values",
    [
        {"number": "23"},
        {"number": ""},
        {"number": None},
        {"number": ["123"]},
        {"total": "EUR 7"},
        {"total": "much"},
        {"due": "2026-03-04"},
        {"kind": "b"},
        {"hidden": "123"},
        {"place": "123"},
        {"other": "123"},
    ],
)
def test_values_that_are_made_up_or_do_not_fit_are_left_out(values: dict[str, Any]) -> None:
    assert _align(**values) == []


def test_values_that_are_not_reached_in_time_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.1, 1_000.0])
    monkeypatch.setattr(document_search, "thread_time", lambda: next(clock, 1_000.0))
    names = [field for field in FIELDS if field["key"] == "names"]
    tags = align_values({"names": ["Ann", "Bob"]}, _document(), names)
    assert _found(tags) == ["Ann"]


def test_choices_have_no_evidence_and_lists_have_one_tag_each() -> None:
    (choice,) = _align(kind="a")
    assert (choice["value"], choice["evidence"], choice["confidence"]) == ("a", [], None)
    assert _found(_align(names=["Ann", "Bob", "Ann", "Cid"])) == ["Ann", "Bob"]


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[]", b'{"choices": []}', b'{"choices": [{"message": {"content": null}}]}',
     b'{"choices": [{"message": {"content": "prose"}}]}',
     b'{"choices": [{"message": {"content": "[1]"}}]}', b'{"choices": 7}'],
)  # fmt: skip
def test_answers_that_are_not_values_are_refused(body: bytes) -> None:
    with pytest.raises(InvalidAnswer):
        parse_answer(body)


def test_counts_of_tokens_that_make_no_sense_are_ignored() -> None:
    answer = parse_answer(
        b'{"choices": [{"message": {"content": "{}"}}], "model": 7,'
        b' "usage": {"prompt_tokens": -1, "completion_tokens": "many"}}'
    )
    assert answer == ({}, None, 0, 0)


def test_the_request_asks_only_for_assisted_fields() -> None:
    body = build_request("text", FIELDS, model="m")
    assert b'"number"' in body
    assert b'"hidden"' not in body
    assert b'"place"' not in body
