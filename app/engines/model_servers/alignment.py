"""Find the values of a model's answer in the document, and build tags with evidence.

A value that the document does not contain is left out: it was made up. Choices and booleans are
conclusions, which no text must state, so they are kept without evidence.
"""

import re
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Any, NamedTuple

from app.engines.extraction import Document, SourceWord
from app.engines.fields import Field, Tag, ValueProblem, normalize
from app.engines.model_servers.protocol import is_asked

MAX_VALUES = 1_000
"""The maximum number of values that are read from one answer."""

_MAX_WINDOW = 6
_MAX_VALUE_CHARS = 1_000
# An answer can be made so that every search is slow; its thread shares the process with others.
_BUDGET_SECONDS = 5.0
_CONCLUSIONS = frozenset({"choice", "boolean"})
# Fields whose values are compared in canonical form, so that other spellings are found too.
_TYPED = frozenset(
    {"number", "integer", "money", "date", "time", "datetime", "phone", "email", "url"}
)


class _Wanted(NamedTuple):
    field: Field
    name: str
    row: int | None
    raw: Any


def align_values(values: dict[str, Any], document: Document, fields: Sequence[Field]) -> list[Tag]:
    """Return tags of the values that fit their fields and that the document contains.

    Values after the first MAX_VALUES, and those that are not reached within some seconds, are left
    out.
    """
    tags: list[Tag] = []
    ends_at = monotonic() + _BUDGET_SECONDS
    for count, wanted in enumerate(_list_wanted(values, fields)):
        if count == MAX_VALUES or monotonic() > ends_at:
            break
        tag = _build_tag(wanted, document)
        if tag is not None and tag not in tags:
            tags.append(tag)
    return tags


def _list_wanted(values: dict[str, Any], fields: Sequence[Field]) -> Iterator[_Wanted]:
    for field in filter(is_asked, fields):
        value = values.get(field["key"])
        if field["type"] == "table":
            rows = (
                [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
            )
            for number, row in enumerate(rows):
                for column in filter(is_asked, field["columns"]):
                    name = f"{field['key']}.{column['key']}"
                    yield _Wanted(column, name, number, row.get(column["key"]))
        elif field.get("multiple") or field["type"] == "span":
            for item in value if isinstance(value, list) else [value]:
                yield _Wanted(field, field["key"], None, item)
        else:
            yield _Wanted(field, field["key"], None, value)


def _build_tag(wanted: _Wanted, document: Document) -> Tag | None:
    raw = wanted.raw
    if raw is None or raw == "" or isinstance(raw, dict | list):
        return None
    if isinstance(raw, str) and len(raw) > _MAX_VALUE_CHARS:
        return None
    field = wanted.field
    if field["type"] == "span":
        return _build_span(wanted, document)
    try:
        value = normalize(field, raw)
    except ValueProblem:
        return None
    evidence = _find_text(str(raw), document)
    if evidence is None and field["type"] in _TYPED:
        evidence = _find_value(field, value, document)
    if evidence is None and field["type"] not in _CONCLUSIONS:
        return None
    pieces = [] if evidence is None or field["type"] in _CONCLUSIONS else [evidence]
    return _make_tag(wanted, value, pieces)


def _build_span(wanted: _Wanted, document: Document) -> Tag | None:
    evidence = _find_text(str(wanted.raw), document)
    if evidence is None:
        return None
    return _make_tag(wanted, {"start": evidence["start"], "end": evidence["end"]}, [evidence])


def _make_tag(wanted: _Wanted, value: Any, evidence: list[dict[str, Any]]) -> Tag:
    return {
        "field": wanted.name,
        "value": value,
        "row": wanted.row,
        "confidence": None,
        "source": "model",
        "evidence": evidence,
    }


def _find_text(raw: str, document: Document) -> dict[str, Any] | None:
    parts = raw.split()
    if not parts:
        return None
    pattern = r"\s+".join(map(re.escape, parts))
    # A number must not be found inside a longer one.
    match = re.search(rf"(?<!\w){pattern}(?!\w)", document.text, re.IGNORECASE)
    return None if match is None else _build_evidence(match.start(), match.end(), document)


def _find_value(field: Field, value: Any, document: Document) -> dict[str, Any] | None:
    """Return the shortest run of words that has the same canonical value."""
    words = sorted(document.words, key=lambda word: word.start)
    for length in range(1, _MAX_WINDOW + 1):
        for first in range(len(words) - length + 1):
            start, end = words[first].start, words[first + length - 1].end
            if not any(character.isdigit() for character in words[first].text) and length == 1:
                continue
            try:
                found = normalize(field, document.text[start:end])
            except ValueProblem:
                continue
            if found == value:
                return _build_evidence(start, end, document)
    return None


def _build_evidence(start: int, end: int, document: Document) -> dict[str, Any]:
    touched = [word for word in document.words if word.start < end and word.end > start]
    page = touched[0].page if touched else 1
    boxes = [word.box for word in touched if word.page == page and word.box is not None]
    return {
        "page": page,
        "box": _unite(boxes) if boxes else None,
        "start": start,
        "end": end,
        "text": document.text[start:end],
    }


def _unite(boxes: Sequence[tuple[float, float, float, float]]) -> list[float]:
    left, top, right, bottom = zip(*boxes, strict=True)
    return [min(left), min(top), max(right), max(bottom)]


Words = Sequence[SourceWord]
