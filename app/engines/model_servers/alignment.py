"""Find the values of a model's answer in the document, and build tags with evidence.

Values that the document does not contain are dropped, because the model may have invented them.
Choices and booleans are kept without evidence, because the document may imply them without
containing them.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import orjson

from app.engines.extraction.model import Document
from app.engines.fields import Field, Tag, ValueProblem
from app.engines.fields.model import Normalizer
from app.engines.fields.values import get_normalizer
from app.engines.model_servers.clues import CLUE_FUNCTIONS
from app.engines.model_servers.document_search import (
    DocumentSearch,
    ProcessorTimeBudget,
    SearchedValue,
)
from app.engines.model_servers.protocol import is_requested

MAX_VALUES = 1_000
"""The maximum number of values read from one answer."""

_MAX_VALUE_CHARS = 1_000
_TYPES_WITHOUT_EVIDENCE = frozenset({"choice", "boolean"})


class _AnswerValue(NamedTuple):
    """A value in an answer. `name` is the key of its field, or `table.column` for a cell.

    `row` is the row number from 0, or None outside tables. `raw` is the value in the answer.
    """

    field: Field
    name: str
    row: int | None
    raw: object


def align_values(values: dict[str, Any], document: Document, fields: Sequence[Field]) -> list[Tag]:
    """Align the values of an answer with the document, and return tags.

    Invalid values are dropped, and so are values that the document does not contain, except choices
    and booleans. Values after the first MAX_VALUES are dropped. Values that are not reached within
    the time budget are also dropped, because a malicious server can make every search slow.
    """
    return _ValueAligner(document).build_tags(
        islice(_list_answer_values(values, fields), MAX_VALUES)
    )


class _ValueAligner:
    """Searches one document for the values of one answer."""

    def __init__(self, document: Document) -> None:
        self._budget = ProcessorTimeBudget()
        self._search = DocumentSearch(document, self._budget)
        self._normalizers: dict[str, Normalizer] = {}

    def build_tags(self, answer_values: Iterator[_AnswerValue]) -> list[Tag]:
        """Build the tags in the order of the values, without duplicates."""
        tags_by_number: dict[int, Tag | None] = {}
        pending_values: dict[int, _AnswerValue] = {}
        searched_values: dict[int, SearchedValue] = {}
        for number, answer_value in enumerate(answer_values):
            if self._budget.is_spent():
                break
            tags_by_number[number], searched_value = self._build_tag(answer_value)
            if searched_value is not None:
                pending_values[number], searched_values[number] = answer_value, searched_value
        for number, text_range in self._search.find_values(searched_values).items():
            evidence = [self._search.build_evidence(text_range)]
            tags_by_number[number] = _create_tag(
                pending_values[number], searched_values[number].value, evidence
            )
        return _deduplicate([tags_by_number[number] for number in sorted(tags_by_number)])

    def _build_tag(self, answer_value: _AnswerValue) -> tuple[Tag | None, SearchedValue | None]:
        """Build the tag for a value, or return the value to search for in other spellings.

        Returns (tag, None) if the document contains the value as the model spelled it, or if the
        type needs no evidence; (None, searched value) if the document may contain the value in
        another spelling; and (None, None) if the value is unusable.
        """
        raw, field_type = answer_value.raw, answer_value.field["type"]
        if raw is None or raw == "" or isinstance(raw, dict | list):
            return None, None
        if isinstance(raw, str) and len(raw) > _MAX_VALUE_CHARS:
            return None, None
        value = raw
        if field_type != "span":
            normalize = self._get_normalizer(answer_value)
            try:
                value = normalize(raw)
            except ValueProblem:
                return None, None
        if field_type in _TYPES_WITHOUT_EVIDENCE:
            return _create_tag(answer_value, value, []), None
        text_range = self._search.find_text(str(raw))
        if text_range is None:
            has_clues = field_type in CLUE_FUNCTIONS
            return None, SearchedValue(
                field_type, value, self._get_normalizer(answer_value)
            ) if has_clues else None
        if field_type == "span":
            # The validation of tags sets the exact text of the document.
            value = None
        return _create_tag(answer_value, value, [self._search.build_evidence(text_range)]), None

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


def _create_tag(answer_value: _AnswerValue, value: object, evidence: list[dict[str, Any]]) -> Tag:
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
