"""Read the tasks that Label Studio exports as JSON, with the labels of their annotations.

Predictions, relations and comments are ignored. See
https://labelstud.io/guide/export#Label-Studio-JSON-format-of-annotated-tasks.
"""

from collections.abc import Callable, Mapping
from typing import Any

from app.engines.imports.marks import Mark, SpanMark, ValueMark
from app.engines.imports.records import ContentError, RecordContent, build_properties, read_id

_SEPARATOR = " / "
"""The separator between the levels of a taxonomy path. Schema imports use it in option values."""
_MAX_SHOWN_CHARS = 64
_IGNORED_TYPES = ("relation",)
_OLD_ANNOTATIONS_NAME = "completions"
"""The name of `annotations` before Label Studio 1.0."""


def convert_task(task: dict[str, Any]) -> RecordContent:
    """Convert a task from Label Studio to the content of a record.

    The `id` of the task becomes the external id, and simple values of its `data` become metadata.
    Each annotation that was not canceled becomes a list of marks; ground truths come first. Raises
    ContentError if the text is missing, or if a result is malformed or not supported.
    """
    data = task.get("data")
    if not isinstance(data, dict):
        raise ContentError("`data` is missing. Export as JSON, not as JSON-MIN.")
    name = _find_text_property(data)
    metadata = {key: value for key, value in data.items() if key != name}
    properties = build_properties(data[name], read_id(task.get("id")), metadata)
    annotations = [
        annotation
        for annotation in _read_list(
            task, "annotations" if "annotations" in task else _OLD_ANNOTATIONS_NAME
        )
        if not annotation.get("was_cancelled")
    ]
    annotations.sort(key=lambda annotation: annotation.get("ground_truth") is not True)
    return RecordContent(properties, tuple(_read_marks(annotation) for annotation in annotations))


def _find_text_property(data: Mapping[str, Any]) -> str:
    """Find the property with the text: `text`, or the only string. Raises ContentError if none."""
    names = [name for name, value in data.items() if isinstance(value, str)]
    if "text" in names:
        return "text"
    if len(names) != 1:
        raise ContentError("`data.text` is missing.")
    return names[0]


def _read_list(parent: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    values = parent.get(name)
    if values is None:
        return []
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise ContentError(f"`{name}`: Must be a list of objects.")
    return values


def _read_marks(annotation: Mapping[str, Any]) -> list[Mark]:
    marks: list[Mark] = []
    for result in _read_list(annotation, "result"):
        result_type = result.get("type")
        if result_type in _IGNORED_TYPES:
            continue
        read_result = _RESULT_READERS.get(result_type) if isinstance(result_type, str) else None
        if read_result is None:
            message = (
                f"Results of the type `{str(result_type)[:_MAX_SHOWN_CHARS]}` are not supported."
            )
            raise ContentError(f"`annotations`: {message}")
        control, value = result.get("from_name"), result.get("value")
        if not isinstance(control, str) or not isinstance(value, dict):
            raise ContentError("`annotations`: A result lacks `from_name` or `value`.")
        try:
            marks += read_result(control, value)
        except (KeyError, TypeError, ValueError):
            message = f"A result of the type `{result_type}` has an invalid value."
            raise ContentError(f"`annotations`: {message}") from None
    return marks


def _read_spans(control: str, value: Mapping[str, Any]) -> list[Mark]:
    start, end, text = value["start"], value["end"], value.get("text")
    if type(start) is not int or type(end) is not int:
        raise TypeError
    exported_text = text if isinstance(text, str) else None
    return [
        SpanMark(label, start, end, control, exported_text)
        for label in _read_strings(value["labels"])
    ]


def _read_choices(control: str, value: Mapping[str, Any]) -> list[Mark]:
    return [ValueMark(choice, control) for choice in _read_strings(value["choices"])]


def _read_taxonomy_paths(control: str, value: Mapping[str, Any]) -> list[Mark]:
    return [ValueMark(_SEPARATOR.join(_read_strings(path)), control) for path in value["taxonomy"]]


def _read_texts(control: str, value: Mapping[str, Any]) -> list[Mark]:
    text = value["text"]
    texts = [text] if isinstance(text, str) else _read_strings(text)
    return [ValueMark(text, control) for text in texts]


def _read_strings(values: object) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TypeError
    return values


def _build_property_reader(name: str) -> Callable[[str, Mapping[str, Any]], list[Mark]]:
    return lambda control, value: [ValueMark(value[name], control)]


_RESULT_READERS: Mapping[str, Callable[[str, Mapping[str, Any]], list[Mark]]] = {
    "labels": _read_spans,
    "choices": _read_choices,
    "taxonomy": _read_taxonomy_paths,
    "textarea": _read_texts,
    **{name: _build_property_reader(name) for name in ("number", "rating", "datetime")},
}
