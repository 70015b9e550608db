"""Find the values of a model's answer in the document, and build tags with evidence.

A value that the document does not contain is left out: it was made up. Choices and booleans are
conclusions, which no text must state, so they are kept without evidence.
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
from app.engines.model_servers.places import Budget, Places, Sought
from app.engines.model_servers.protocol import is_asked

MAX_VALUES = 1_000
"""The maximum number of values that are read from one answer."""

_MAX_VALUE_CHARS = 1_000
_CONCLUSIONS = frozenset({"choice", "boolean"})


class _Wanted(NamedTuple):
    field: Field
    name: str
    row: int | None
    raw: Any


def align_values(values: dict[str, Any], document: Document, fields: Sequence[Field]) -> list[Tag]:
    """Return tags of the values that fit their fields and that the document contains.

    Values after the first MAX_VALUES are left out, and those that are not reached within the
    budget: an answer can be made so that all of them are slow to find.
    """
    return _Alignment(document).build_tags(islice(_list_wanted(values, fields), MAX_VALUES))


class _Alignment:
    """The search for the values of one answer."""

    def __init__(self, document: Document) -> None:
        self._budget = Budget()
        self._places = Places(document, self._budget)
        self._normalizers: dict[str, Normalizer] = {}

    def build_tags(self, wanted: Iterator[_Wanted]) -> list[Tag]:
        """Return the tags in the order of the values, without duplicates."""
        built: dict[int, Tag | None] = {}
        missing: dict[int, _Wanted] = {}
        sought: dict[int, Sought] = {}
        for number, one in enumerate(wanted):
            if self._budget.is_spent():
                break
            built[number], other = self._build_tag(one)
            if other is not None:
                missing[number], sought[number] = one, other
        for number, place in self._places.find_values(sought).items():
            evidence = [self._places.build_evidence(place)]
            built[number] = _make_tag(missing[number], sought[number].value, evidence)
        return _deduplicate([built[number] for number in sorted(built)])

    def _build_tag(self, wanted: _Wanted) -> tuple[Tag | None, Sought | None]:
        """Return the tag of a value, or what must be sought in other spellings, or neither."""
        raw, kind = wanted.raw, wanted.field["type"]
        if raw is None or raw == "" or isinstance(raw, dict | list):
            return None, None
        if isinstance(raw, str) and len(raw) > _MAX_VALUE_CHARS:
            return None, None
        value = raw
        if kind != "span":
            normalize = self._get_normalizer(wanted)
            try:
                value = normalize(raw)
            except ValueProblem:
                return None, None
        if kind in _CONCLUSIONS:
            return _make_tag(wanted, value, []), None
        place = self._places.find_text(str(raw))
        if place is None:
            is_typed = kind in CLUES
            return None, Sought(kind, value, self._get_normalizer(wanted)) if is_typed else None
        if kind == "span":
            value = {"start": place.start, "end": place.end}
        return _make_tag(wanted, value, [self._places.build_evidence(place)]), None

    def _get_normalizer(self, wanted: _Wanted) -> Normalizer:
        if wanted.name not in self._normalizers:
            self._normalizers[wanted.name] = get_normalizer(wanted.field)
        return self._normalizers[wanted.name]


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


def _make_tag(wanted: _Wanted, value: Any, evidence: list[dict[str, Any]]) -> Tag:
    return {
        "field": wanted.name,
        "value": value,
        "row": wanted.row,
        "confidence": None,
        "source": "model",
        "evidence": evidence,
    }


def _deduplicate(tags: Sequence[Tag | None]) -> list[Tag]:
    kept = {orjson.dumps(tag, option=orjson.OPT_SORT_KEYS): tag for tag in tags if tag is not None}
    return list(kept.values())
