"""Find the values of a model's answer in the document, and build tags with evidence.

Values that the document does not contain are dropped, because the model invented them. Choices and
booleans are conclusions that no text needs to state, so they are kept without evidence.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import orjson

from app.engines.extraction import Document
from app.engines.fields import Field, Tag, ValueProblem
from app.engines.fields.model import Normalizer
from app.engines.fields.values import get_normalizer
from app.engines.model_servers.clues import CLUES
from app.engines.model_servers.places import Budget, Places, SearchedValue
from app.engines.model_servers.protocol import is_requested

MAX_VALUES = 1_000
"""The maximum number of values that are read from one answer."""

_MAX_VALUE_CHARS = 1_000
_CONCLUSIONS = frozenset({"choice", "boolean"})


class _AnswerValue(NamedTuple):
    field: Field
    name: str
    row: int | None
    raw: Any


def align_values(values: dict[str, Any], document: Document, fields: Sequence[Field]) -> list[Tag]:
    """Return tags for the values that are valid for their fields and occur in the document.

    Values after the first MAX_VALUES are dropped. So are the values that are not reached within the
    budget, because a malicious answer can make every search slow.
    """
    return _Alignment(document).build_tags(islice(_list_answer_values(values, fields), MAX_VALUES))


class _Alignment:
    """The search for the values of one answer."""

    def __init__(self, document: Document) -> None:
        self._budget = Budget()
        self._places = Places(document, self._budget)
        self._normalizers: dict[str, Normalizer] = {}

    def build_tags(self, answer_values: Iterator[_AnswerValue]) -> list[Tag]:
        """Return the tags in the order of the values, without duplicates."""
        tags_by_number: dict[int, Tag | None] = {}
        unplaced_values: dict[int, _AnswerValue] = {}
        searched_values: dict[int, SearchedValue] = {}
        for number, answer_value in enumerate(answer_values):
            if self._budget.is_spent():
                break
            tags_by_number[number], searched_value = self._build_tag(answer_value)
            if searched_value is not None:
                unplaced_values[number], searched_values[number] = answer_value, searched_value
        for number, place in self._places.find_values(searched_values).items():
            evidence = [self._places.build_evidence(place)]
            tags_by_number[number] = _make_tag(
                unplaced_values[number], searched_values[number].value, evidence
            )
        return _deduplicate([tags_by_number[number] for number in sorted(tags_by_number)])

    def _build_tag(self, answer_value: _AnswerValue) -> tuple[Tag | None, SearchedValue | None]:
        """Return the tag for a value, or the value to search for in other spellings, or neither."""
        raw, kind = answer_value.raw, answer_value.field["type"]
        if raw is None or raw == "" or isinstance(raw, dict | list):
            return None, None
        if isinstance(raw, str) and len(raw) > _MAX_VALUE_CHARS:
            return None, None
        value = raw
        if kind != "span":
            normalize = self._get_normalizer(answer_value)
            try:
                value = normalize(raw)
            except ValueProblem:
                return None, None
        if kind in _CONCLUSIONS:
            return _make_tag(answer_value, value, []), None
        place = self._places.find_text(str(raw))
        if place is None:
            is_typed = kind in CLUES
            return None, SearchedValue(
                kind, value, self._get_normalizer(answer_value)
            ) if is_typed else None
        if kind == "span":
            value = {"start": place.start, "end": place.end}
        return _make_tag(answer_value, value, [self._places.build_evidence(place)]), None

    def _get_normalizer(self, answer_value: _AnswerValue) -> Normalizer:
        if answer_value.name not in self._normalizers:
            self._normalizers[answer_value.name] = get_normalizer(answer_value.field)
        return self._normalizers[answer_value.name]


def _list_answer_values(values: dict[str, Any], fields: Sequence[Field]) -> Iterator[_AnswerValue]:
    for field in filter(is_requested, fields):
        value = values.get(field["key"])
        if field["type"] == "table":
            rows = (
                [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
            )
            for number, row in enumerate(rows):
                for column in filter(is_requested, field["columns"]):
                    name = f"{field['key']}.{column['key']}"
                    yield _AnswerValue(column, name, number, row.get(column["key"]))
        elif field.get("multiple") or field["type"] == "span":
            for item in value if isinstance(value, list) else [value]:
                yield _AnswerValue(field, field["key"], None, item)
        else:
            yield _AnswerValue(field, field["key"], None, value)


def _make_tag(answer_value: _AnswerValue, value: Any, evidence: list[dict[str, Any]]) -> Tag:
    return {
        "field": answer_value.name,
        "value": value,
        "row": answer_value.row,
        "confidence": None,
        "source": "model",
        "evidence": evidence,
    }


def _deduplicate(tags: Sequence[Tag | None]) -> list[Tag]:
    unique_tags = {
        orjson.dumps(tag, option=orjson.OPT_SORT_KEYS): tag for tag in tags if tag is not None
    }
    return list(unique_tags.values())
