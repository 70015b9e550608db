"""Label Studio tasks: the import of data, annotations and every type of result."""

from typing import Any

import pytest

from app.engines.imports.label_studio import convert_task
from app.engines.imports.marks import SpanMark, ValueMark
from app.engines.imports.records import ContentError


def _result(kind: str, value: Any, control: str = "c") -> dict[str, Any]:
    return {"type": kind, "from_name": control, "to_name": "text", "value": value}


def _task(*results: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"data": {"text": "Hello"}, "annotations": [{"result": list(results)}], **members}


def test_the_data_of_a_task() -> None:
    data = {"text": "Hello", "lot": 7, "paid": True, "who": "Ann", "none": None, "list": [1]}
    content = convert_task({"id": 12, "data": data})
    assert content.properties == {
        "text": "Hello",
        "external_id": "12",
        "metadata": {"lot": 7, "paid": True, "who": "Ann"},
    }
    assert content.mark_lists == ()


def test_the_only_text_is_the_text() -> None:
    content = convert_task({"data": {"body": "Hello", "lot": 7}})
    assert content.properties == {"text": "Hello", "external_id": None, "metadata": {"lot": 7}}


@pytest.mark.parametrize(
    ("result", "marks"),
    [
        (
            _result("labels", {"start": 0, "end": 5, "text": "Hello", "labels": ["A", "B"]}),
            [SpanMark("A", 0, 5, "c", "Hello"), SpanMark("B", 0, 5, "c", "Hello")],
        ),
        (_result("choices", {"choices": ["x", "y"]}), [ValueMark("x", "c"), ValueMark("y", "c")]),
        (_result("taxonomy", {"taxonomy": [["a", "b"], ["c"]]}),
         [ValueMark("a / b", "c"), ValueMark("c", "c")]),
        (_result("textarea", {"text": ["one", "two"]}),
         [ValueMark("one", "c"), ValueMark("two", "c")]),
        (_result("textarea", {"text": "one"}), [ValueMark("one", "c")]),
        (_result("number", {"number": 7}), [ValueMark(7, "c")]),
        (_result("rating", {"rating": 4}), [ValueMark(4, "c")]),
        (_result("datetime", {"datetime": "2029-01-31"}), [ValueMark("2029-01-31", "c")]),
        ({"type": "relation", "from_id": "a", "to_id": "b"}, []),
    ],
)  # fmt: skip
def test_each_type_of_result(result: dict[str, Any], marks: list[Any]) -> None:
    assert convert_task(_task(result)).mark_lists == (marks,)


def test_ground_truths_come_first_and_cancelled_annotations_do_not_count() -> None:
    annotations = [
        {"result": [_result("number", {"number": 1})], "was_cancelled": True},
        {"result": [_result("number", {"number": 2})]},
        {"result": [_result("number", {"number": 3})], "ground_truth": True},
        {"result": []},
    ]
    content = convert_task(_task(annotations=annotations, predictions=[{"result": [{}]}]))
    assert content.mark_lists == ([ValueMark(3, "c")], [ValueMark(2, "c")], [])


def test_annotations_of_versions_before_1_0() -> None:
    completions = [{"result": [_result("number", {"number": 2})]}]
    task = {"data": {"text": "Hello"}, "completions": completions}
    assert convert_task(task).mark_lists == ([ValueMark(2, "c")],)


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        ({"text": "JSON-MIN", "sentiment": "x"}, "not as JSON-MIN"),
        ({"data": {}}, "`data.text` is missing"),
        ({"data": {"a": "x", "b": "y"}}, "`data.text` is missing"),
        (_task(annotations=7), "`annotations`: Must be a list"),
        (_task(annotations=[{"result": [7]}]), "`result`: Must be a list"),
        (_task({"type": "rectanglelabels"}), "type `rectanglelabels` are not supported"),
        (_task({}), "are not supported"),
        (_task({"type": "choices"}), "lacks `from_name` or `value`"),
        (_task(_result("labels", {"labels": ["A"]})), "type `labels` has an invalid value"),
        (_task(_result("labels", {"start": "/p", "end": "/p", "labels": ["A"]})), "invalid value"),
        (_task(_result("choices", {"choices": [1]})), "invalid value"),
        (_task(_result("taxonomy", {"taxonomy": 7})), "invalid value"),
        (_task(_result("number", {})), "invalid value"),
    ],
)
def test_a_task_that_cannot_be_read(task: dict[str, Any], reason: str) -> None:
    with pytest.raises(ContentError, match=reason):
        convert_task(task)
