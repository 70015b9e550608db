"""Read the tasks that Label Studio exports as JSON, with the labels of their annotations.

Predictions, relations and comments are ignored. Source: the format of
https://labelstud.io/guide/export#Label-Studio-JSON-format-of-annotated-tasks.
"""

from collections.abc import Callable, Mapping
from typing import Any

from app.engines.imports.foreign import build_members, read_id
from app.engines.imports.marks import Mark, SpanMark, ValueMark
from app.engines.imports.records import Content, ContentError

_SEPARATOR = " / "
"""Joins the levels of a taxonomy, as in the schema that its configuration creates."""
_MAX_SHOWN = 64
_IGNORED = ("relation",)


def convert_task(task: dict[str, Any]) -> Content:
    """Return the content of a task. Raises ContentError.

    Its `id` becomes the external id, and plain values of its `data` become metadata. Each
    annotation that was not cancelled is a set of labels, ground truths first.
    """
    data = task.get("data")
    if not isinstance(data, dict):
        raise ContentError("`data`: Missing. Export as JSON, not as JSON-MIN.")
    name = _find_text(data)
    others = {key: value for key, value in data.items() if key != name}
    members = build_members(data[name], read_id(task.get("id")), others)
    annotations = [one for one in _read_list(task, "annotations") if not one.get("was_cancelled")]
    annotations.sort(key=lambda one: one.get("ground_truth") is not True)
    return Content(members, tuple(_read_marks(one) for one in annotations))


def _find_text(data: Mapping[str, Any]) -> str:
    """Return the name of the member that has the text: `text`, or the only one with a text."""
    texts = [name for name, value in data.items() if isinstance(value, str)]
    if "text" in texts:
        return "text"
    if len(texts) != 1:
        raise ContentError("`data.text`: Missing data for required member.")
    return texts[0]


def _read_list(owner: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    values = owner.get(name)
    if values is None:
        return []
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise ContentError(f"`{name}`: Must be a list of objects.")
    return values


def _read_marks(annotation: Mapping[str, Any]) -> list[Mark]:
    marks: list[Mark] = []
    for result in _read_list(annotation, "result"):
        kind = result.get("type")
        if kind in _IGNORED:
            continue
        read = _RESULTS.get(kind) if isinstance(kind, str) else None
        if read is None:
            message = f"Results of the type `{str(kind)[:_MAX_SHOWN]}` are not supported."
            raise ContentError(f"`annotations`: {message}")
        control, value = result.get("from_name"), result.get("value")
        if not isinstance(control, str) or not isinstance(value, dict):
            raise ContentError("`annotations`: A result lacks `from_name` or `value`.")
        try:
            marks += read(control, value)
        except (KeyError, TypeError, ValueError):
            message = f"A result of the type `{kind}` has a wrong value."
            raise ContentError(f"`annotations`: {message}") from None
    return marks


def _read_spans(control: str, value: Mapping[str, Any]) -> list[Mark]:
    start, end, text = value["start"], value["end"], value.get("text")
    if type(start) is not int or type(end) is not int:
        raise TypeError
    exported = text if isinstance(text, str) else None
    return [
        SpanMark(label, start, end, control, exported) for label in _read_texts(value["labels"])
    ]


def _read_choices(control: str, value: Mapping[str, Any]) -> list[Mark]:
    return [ValueMark(choice, control) for choice in _read_texts(value["choices"])]


def _read_paths(control: str, value: Mapping[str, Any]) -> list[Mark]:
    return [ValueMark(_SEPARATOR.join(_read_texts(path)), control) for path in value["taxonomy"]]


def _read_answers(control: str, value: Mapping[str, Any]) -> list[Mark]:
    text = value["text"]
    answers = [text] if isinstance(text, str) else _read_texts(text)
    return [ValueMark(answer, control) for answer in answers]


def _read_texts(values: object) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TypeError
    return values


def _read_member(name: str) -> Callable[[str, Mapping[str, Any]], list[Mark]]:
    return lambda control, value: [ValueMark(value[name], control)]


_RESULTS: Mapping[str, Callable[[str, Mapping[str, Any]], list[Mark]]] = {
    "labels": _read_spans,
    "choices": _read_choices,
    "taxonomy": _read_paths,
    "textarea": _read_answers,
    **{name: _read_member(name) for name in ("number", "rating", "datetime")},
}
