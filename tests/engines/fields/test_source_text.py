"""Evidence is compared with the text that it points into."""

from typing import Any

import pytest

from app.engines.fields import CompiledFields, SourceText, TagErrors, check_fields

COMPILED = CompiledFields(
    check_fields([{"key": "number", "type": "text"}, {"key": "clause", "type": "span"}])
)
TEXT = "Total 0 E 100"


def _check(piece: dict[str, Any], text: str = TEXT, **members: Any) -> list[dict[str, Any]]:
    tag = {"field": "number", "value": "x", "evidence": [piece], **members}
    return COMPILED.check_tags(
        [tag], text_length=len(text), page_count=1, source=SourceText(lambda: text)
    )


def test_another_text_names_both() -> None:
    with pytest.raises(TagErrors) as caught:
        _check({"start": 6, "end": 9, "text": "100"})
    assert caught.value.errors == [
        ("tags.0.evidence.0.text", 'is "100", but the document has "0 E" at this position')
    ]


@pytest.mark.parametrize("said", ["0 e", "0 E ", " 0 E", "0\u00a0E", "0E"])
def test_nothing_but_composition_is_forgiven(said: str) -> None:
    with pytest.raises(TagErrors):
        _check({"start": 6, "end": 9, "text": said})


def test_the_text_is_loaded_once_and_only_if_it_is_needed() -> None:
    loads = []

    def load() -> str:
        loads.append(1)
        return TEXT

    source = SourceText(load)
    tags = [{"field": "number", "value": "x", "evidence": [{"page": 1}, {"text": "own"}]}]
    COMPILED.check_tags(tags, text_length=len(TEXT), page_count=1, source=source)
    assert loads == []
    tags[0]["evidence"] = [{"start": 6, "end": 9}, {"start": 10, "end": 13, "text": "100"}]
    (checked,) = COMPILED.check_tags(tags, text_length=len(TEXT), page_count=1, source=source)
    assert [piece["text"] for piece in checked["evidence"]] == ["0 E", "100"]
    assert loads == [1]


def test_a_very_long_text_is_not_repeated_in_the_error() -> None:
    text = "a" * 19_999 + "b"
    with pytest.raises(TagErrors) as caught:
        _check({"start": 0, "end": 20_000, "text": "a" * 20_000}, text)
    (error,) = caught.value.errors
    assert len(error[1]) < 200
    assert error[1].count("…") == 2
