"""Compile the fields of a schema version for fast checks of tags."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.engines.fields.errors import TagErrors, ValueProblem
from app.engines.fields.evidence import EvidenceProblem, check_evidence
from app.engines.fields.model import Field, JsonValue, Normalizer, Tag
from app.engines.fields.plain import shorten_name, to_integer
from app.engines.fields.source_text import SourceText
from app.engines.fields.values import get_normalizer

MAX_TAGS = 5000
MAX_ROW = 9999
MAX_REPORTED_ERRORS = 100

_TAG_PROPERTIES = frozenset({"field", "value", "row", "confidence", "source", "evidence"})
SOURCES = frozenset({"human", "model", "import"})


_Place = tuple[str, int | None]
"""The name of a field or column, and the row."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """The field or table column that a tag refers to."""

    normalize: Normalizer
    multiple: bool
    in_table: bool
    kind: str


class _TagError(Exception):
    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


class CompiledFields:
    """The fields of one schema version in normal form; immutable and thread-safe."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self._fields = list(fields)
        self._tables = {field["key"] for field in fields if field["type"] == "table"}
        self._slots = dict(_build_slots(fields))

    @property
    def names(self) -> list[str]:
        """Return the key of every field, and `table.column` for every column."""
        columns = (f"{f['key']}.{c['key']}" for f in self._fields for c in f["columns"])
        return [*(field["key"] for field in self._fields), *columns]

    def check_tags(
        self,
        tags: object,
        *,
        text_length: int,
        page_count: int,
        source: SourceText | None = None,
    ) -> list[Tag]:
        """Return the tags in normal form and in the given order.

        Each tag has field, value, row, confidence, source and evidence. The tag of a table cell
        names `table.column` and has a `row`, counted from 0; other tags have no row. A field that
        is not multiple has at most one tag, or one per row in a table.

        `text_length` is in code points; pages count from 1. `source` is the document's text;
        without it, evidence is not compared with the document. Raises TagErrors with up to 100
        problems, at most one per tag.
        """
        if not isinstance(tags, list):
            raise TagErrors([("tags", "must be a list")])
        if len(tags) > MAX_TAGS:
            raise TagErrors([("tags", f"has more than {MAX_TAGS:,} entries")])
        checked_tags: list[Tag] = []
        errors: list[tuple[str, str]] = []
        seen: set[_Place] = set()
        for position, tag in enumerate(tags):
            try:
                place, slot = self._find_place(tag, seen)
                seen.add(place)
                checked_tags.append(
                    _check_properties(tag, place, slot, text_length, page_count, source)
                )
            except _TagError as problem:
                errors.append((f"tags.{position}{problem.path}", problem.message))
                if len(errors) == MAX_REPORTED_ERRORS:
                    break
        if errors:
            raise TagErrors(errors)
        return checked_tags

    def keep_valid_tags(
        self, tags: Iterable[object], *, text_length: int, page_count: int, source: SourceText
    ) -> list[Tag]:
        """Return the valid tags in normal form, at most MAX_TAGS; see `check_tags`.

        An invalid tag does not occupy its place, so a later tag of the same field may be kept.
        """
        valid: list[Tag] = []
        seen: set[_Place] = set()
        for tag in tags:
            if len(valid) == MAX_TAGS:
                break
            try:
                place, slot = self._find_place(tag, seen)
                valid.append(_check_properties(tag, place, slot, text_length, page_count, source))
            except _TagError:
                continue
            seen.add(place)
        return valid

    def missing_required(self, tags: Iterable[Tag]) -> list[str]:
        """Return the keys of required fields that normalized tags leave empty, in schema order.

        A required table needs at least one row; a required column (`table.column`) needs a value in
        every existing row. Empty text does not count as a value.
        """
        filled: set[str] = set()
        rows: dict[str, set[int]] = {}
        cells: dict[str, set[int]] = {}
        for tag in tags:
            name, row = tag["field"], tag["row"]
            if row is not None:
                rows.setdefault(name.partition(".")[0], set()).add(row)
            if tag["value"] == "":
                continue
            filled.add(name)
            if row is not None:
                cells.setdefault(name, set()).add(row)
        return list(self._list_missing(filled, rows, cells))

    def _list_missing(
        self, filled: set[str], rows: dict[str, set[int]], cells: dict[str, set[int]]
    ) -> Iterator[str]:
        for field in self._fields:
            key = field["key"]
            row_numbers = rows.get(key, set())
            if field["required"] and key not in filled and not row_numbers:
                yield key
            for column in field["columns"] if row_numbers else ():
                name = f"{key}.{column['key']}"
                if column["required"] and not row_numbers <= cells.get(name, set()):
                    yield name

    def _find_place(self, tag: object, seen: set[_Place]) -> tuple[_Place, _Slot]:
        if not isinstance(tag, dict):
            raise _TagError("", "must be an object")
        if not tag.keys() <= _TAG_PROPERTIES:
            unknown = next(name for name in tag if name not in _TAG_PROPERTIES)
            raise _TagError(f".{shorten_name(unknown)}", "is unknown")
        name = tag.get("field")
        slot = self._slots.get(name) if isinstance(name, str) else None
        if slot is None or not isinstance(name, str):
            raise _TagError(".field", self._explain_unknown_field(name))
        row = _check_row(tag.get("row"), slot)
        place = (name, row)
        if place in seen and not slot.multiple:
            raise _TagError(".field", "already has a tag and is not multiple")
        return place, slot

    def _explain_unknown_field(self, name: object) -> str:
        if not isinstance(name, str):
            return "must be the key of a field"
        if name in self._tables:
            return "is a table; name one of its columns, as table.column"
        return "is not a field of the schema version"


def _build_slots(fields: Sequence[Field]) -> Iterator[tuple[str, _Slot]]:
    for field in fields:
        if field["type"] != "table":
            yield field["key"], _build_slot(field, in_table=False)
        for column in field["columns"]:
            yield f"{field['key']}.{column['key']}", _build_slot(column, in_table=True)


def _build_slot(field: Field, *, in_table: bool) -> _Slot:
    return _Slot(get_normalizer(field), bool(field["multiple"]), in_table, field["type"])


def _check_properties(
    tag: Any,
    place: _Place,
    slot: _Slot,
    text_length: int,
    page_count: int,
    source: SourceText | None,
) -> Tag:
    name, row = place
    try:
        evidence = check_evidence(tag.get("evidence"), text_length, page_count, source)
    except EvidenceProblem as problem:
        raise _TagError(f".evidence{problem.path}", problem.message) from None
    return {
        "field": name,
        "value": _check_value(tag, slot, evidence),
        "row": row,
        "confidence": _check_confidence(tag.get("confidence")),
        "source": _check_source(tag.get("source")),
        "evidence": evidence,
    }


def _check_row(raw: object, slot: _Slot) -> int | None:
    row = to_integer(raw)
    if not slot.in_table:
        if row is not None:
            raise _TagError(".row", "is only allowed with a column of a table")
        return None
    if row is None:
        raise _TagError(".row", "is required with a column of a table")
    if type(row) is not int or not 0 <= row <= MAX_ROW:
        raise _TagError(".row", f"must be a whole number from 0 to {MAX_ROW:,}")
    return row


def _check_value(tag: Tag, slot: _Slot, evidence: list[dict[str, Any]]) -> JsonValue:
    value = tag.get("value")
    find_anchor = _ANCHORS.get(slot.kind)
    if find_anchor is not None:
        anchor = find_anchor(evidence)
        if value is None:
            value = anchor["text"]
    if value is None and slot.kind != "region":
        raise _TagError(".value", "is required")
    try:
        return slot.normalize(value)
    except ValueProblem as problem:
        raise _TagError(".value", problem.message) from None


def _find_span_item(evidence: list[dict[str, Any]]) -> dict[str, Any]:
    for item in evidence:
        if item["start"] is not None:
            return item
    raise _TagError(".evidence", "a span needs its start and end")


def _find_region_item(evidence: list[dict[str, Any]]) -> dict[str, Any]:
    for item in evidence:
        if item["box"] is not None:
            return item
    raise _TagError(".evidence", "a region needs its page and box")


_ANCHORS: dict[str, Callable[[list[dict[str, Any]]], dict[str, Any]]] = {
    "span": _find_span_item,
    "region": _find_region_item,
}


def _check_confidence(raw: object) -> float | None:
    if raw is None:
        return None
    # The comparison is also False for NaN.
    if type(raw) not in (float, int) or not 0 <= raw <= 1:  # type: ignore[operator]
        raise _TagError(".confidence", "must be a number from 0 to 1")
    return float(raw)  # type: ignore[arg-type]


def _check_source(raw: object) -> str:
    if raw is None:
        return "human"
    if not isinstance(raw, str) or raw not in SOURCES:
        raise _TagError(".source", "must be human, model or import")
    return raw
