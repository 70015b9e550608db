"""doccano exports: all project types that export text."""

from typing import Any

import pytest

from app.engines.imports.detection import detect_format
from app.engines.imports.doccano import convert_line
from app.engines.imports.marks import SpanMark, ValueMark
from app.engines.imports.records import ContentError


@pytest.mark.parametrize(
    ("labels", "marks"),
    [
        ({"label": [[0, 5, "ORG"]]}, [SpanMark("ORG", 0, 5)]),
        ({"labels": [[0, 5, "ORG"]], "Comments": []}, [SpanMark("ORG", 0, 5)]),
        (
            {
                "entities": [{"id": 1, "label": "ORG", "start_offset": 0, "end_offset": 5}],
                "relations": [{"id": 2}],
            },
            [SpanMark("ORG", 0, 5)],
        ),
        ({"label": ["positive", "urgent"]}, [ValueMark("positive"), ValueMark("urgent")]),
        ({"label": "positive"}, [ValueMark("positive")]),
        ({"entities": [[0, 5, "ORG"]], "cats": ["x"]}, [SpanMark("ORG", 0, 5), ValueMark("x")]),
    ],
)
def test_labels(labels: dict[str, Any], marks: list[Any]) -> None:
    content = convert_line({"id": 3, "text": "Hello", "lot": 7, **labels})
    assert content.properties == {"text": "Hello", "external_id": "3", "metadata": {"lot": 7}}
    assert content.mark_lists == (marks,)


def test_the_text_in_versions_that_call_it_data() -> None:
    content = convert_line({"id": 3, "data": "Hello", "label": [[0, 5, "ORG"]]})
    assert content.properties == {"text": "Hello", "external_id": "3", "metadata": {}}
    assert convert_line({"text": "a", "data": "b"}).properties["metadata"] == {"data": "b"}


@pytest.mark.parametrize("labels", [{}, {"label": []}, {"labels": None}])
def test_a_line_without_labels(labels: dict[str, Any]) -> None:
    assert convert_line({"text": "Hello", **labels}).mark_lists == ()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"label": []}, "`text` is missing"),
        ({"text": 7}, "`text` is missing"),
        ({"text": "x", "annotations": [{"label": 2}]}, "`annotations`: Has numbers instead"),
        ({"text": "x", "label": 7}, "`label`: Must be a string or a list"),
        ({"text": "x", "label": [7]}, "`label`: Each label must be"),
        ({"text": "x", "label": [[0, 1]]}, "`label`: Each label must be"),
        ({"text": "x", "labels": [["0", 1, "A"]]}, "`labels`: Each label must be"),
        ({"text": "x", "entities": [{"label": "A"}]}, "`entities`: Each label must be"),
    ],
)
def test_a_line_that_cannot_be_read(line: dict[str, Any], reason: str) -> None:
    with pytest.raises(ContentError, match=reason):
        convert_line(line)


@pytest.mark.parametrize(
    ("head", "format_id"),
    [
        (b'{"text": "x", "label": []}\n{', "doccano"),
        (b'{"text": "x", "entities": []}', "doccano"),
        (b'{"text": "x", "tags": []}\n', "jsonl"),
        (b'{"text": "x", "label": ', "jsonl"),
        (b' [{"id": 1}]', "label_studio"),
    ],
)
def test_the_format_is_recognized(head: bytes, format_id: str) -> None:
    assert detect_format(head, "export.json") == format_id
