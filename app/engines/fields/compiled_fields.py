"""Compile the fields of a schema version, so that checking tags is fast."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import thread_time
from typing import Any

from app.engines.fields.errors import TagErrors, TagProblem, ValueProblem
from app.engines.fields.evidence import check_evidence
from app.engines.fields.model import Field, JsonValue, Normalizer, Tag, iterate_named_fields
from app.engines.fields.plain_text import shorten_name, to_integer
from app.engines.fields.source_text import SourceText
from app.engines.fields.values import get_normalizer

MAX_TAGS = 5000
MAX_ROW = 9999
MAX_REPORTED_ERRORS = 100
MAX_CHECK_SECONDS = 5.0
"""The maximum processor time for checking a list of tags. The time to match a pattern is
proportional to its size and to the length of the text. With long texts, a tag can take seconds."""

_TOO_SLOW_MESSAGE = (
    "take too long to check against their fields' patterns; "
    "send fewer tags, or simplify the patterns"
)
_TAG_PROPERTIES = frozenset({"field", "value", "row", "confidence", "source", "evidence"})
SOURCES = frozenset({"human", "model", "import"})
"""The values of a tag's `source`."""

_REQUIRED_LOCATIONS = {
    "span": ("start", "must contain the start and end of the span"),
    "region": ("box", "must contain the page and box of the region"),
}
"""For each field type whose values need a location: the evidence property that contains the
location, and the error message if no evidence has this property."""

_TagKey = tuple[str, int | None]
"""The full name of a field or column, and the row number, which is None outside tables."""


@dataclass(frozen=True, slots=True)
class _CompiledField:
    """A field or table column with the function that normalizes its values."""

    normalize: Normalizer
    multiple: bool
    in_table: bool
    type: str


class CompiledFields:
    """The compiled fields of one schema version. Objects are immutable and thread-safe."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self._fields = list(fields)
        self._table_keys = {field["key"] for field in fields if field["type"] == "table"}
        self._fields_by_name = {
            name: _CompiledField(
                get_normalizer(field), bool(field["multiple"]), "." in name, field["type"]
            )
            for name, field in iterate_named_fields(fields)
        }

    @property
    def names(self) -> list[str]:
        """Return the names of all fields (their keys), then of all columns (`table.column`)."""
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
        """Check tags, and return them in normal form and in the same order.

        Each tag has field, value, row, confidence, source and evidence. The tag of a table cell
        names `table.column` and has a `row`, counted from 0; other tags have no row. A field that
        is not multiple has at most one tag, or one tag per row in a table.

        `text_length` is in code points; pages count from 1. The argument `source` is the document's
        text; if it is None, evidence is not compared with the document. Raises TagErrors with at
        most MAX_REPORTED_ERRORS problems, one for each invalid tag, or with a single problem if
        `tags` is not a list, has more than MAX_TAGS entries, or takes too long to check.
        """
        if not isinstance(tags, list):
            raise TagErrors([("tags", "must be a list")])
        if len(tags) > MAX_TAGS:
            raise TagErrors([("tags", f"has more than {MAX_TAGS:,} entries")])
        checked_tags: list[Tag] = []
        errors: list[tuple[str, str]] = []
        used_keys: set[_TagKey] = set()
        for position, tag in enumerate(_iterate_with_time_limit(tags)):
            try:
                tag_key, field, properties = self._find_field(tag, used_keys)
                used_keys.add(tag_key)
                checked_tags.append(
                    _check_properties(properties, tag_key, field, text_length, page_count, source)
                )
            except TagProblem as problem:
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

        An invalid tag is ignored, so a later tag with the same field and row may be kept.
        """
        valid_tags: list[Tag] = []
        used_keys: set[_TagKey] = set()
        for tag in tags:
            if len(valid_tags) == MAX_TAGS:
                break
            try:
                tag_key, field, properties = self._find_field(tag, used_keys)
                valid_tags.append(
                    _check_properties(properties, tag_key, field, text_length, page_count, source)
                )
            except TagProblem:
                continue
            used_keys.add(tag_key)
        return valid_tags

    def list_missing_required_fields(self, tags: Iterable[Tag]) -> list[str]:
        """List the names of the required fields and columns without a value, in schema order.

        `tags` are in normal form. A required table needs at least one row. A required column
        (`table.column`) needs a value in every existing row. Empty text is not a value.
        """
        filled_names: set[str] = set()
        rows: dict[str, set[int]] = {}
        filled_rows: dict[str, set[int]] = {}
        for tag in tags:
            name, row = tag["field"], tag["row"]
            if row is not None:
                rows.setdefault(name.partition(".")[0], set()).add(row)
            if tag["value"] == "":
                continue
            filled_names.add(name)
            if row is not None:
                filled_rows.setdefault(name, set()).add(row)
        return list(self._list_missing(filled_names, rows, filled_rows))

    def _list_missing(
        self, filled_names: set[str], rows: dict[str, set[int]], filled_rows: dict[str, set[int]]
    ) -> Iterator[str]:
        for field in self._fields:
            key = field["key"]
            row_numbers = rows.get(key, set())
            if field["required"] and key not in filled_names and not row_numbers:
                yield key
            for column in field["columns"] if row_numbers else ():
                name = f"{key}.{column['key']}"
                if column["required"] and not row_numbers <= filled_rows.get(name, set()):
                    yield name

    def _find_field(
        self, tag: object, used_keys: set[_TagKey]
    ) -> tuple[_TagKey, _CompiledField, dict[str, Any]]:
        """Return the key and the field of a tag, and the tag itself as an object.

        Raises TagProblem if the tag is not an object, a property is unknown, the field does not
        exist, the row is invalid, or a field that is not multiple already has a tag in `used_keys`.
        """
        if not isinstance(tag, dict):
            raise TagProblem("", "must be an object")
        if not tag.keys() <= _TAG_PROPERTIES:
            unknown_name = next(name for name in tag if name not in _TAG_PROPERTIES)
            raise TagProblem(f".{shorten_name(unknown_name)}", "is unknown")
        name = tag.get("field")
        field = self._fields_by_name.get(name) if isinstance(name, str) else None
        if field is None or not isinstance(name, str):
            raise TagProblem(".field", self._explain_unknown_field(name))
        row = _check_row(tag.get("row"), field)
        tag_key = (name, row)
        if tag_key in used_keys and not field.multiple:
            raise TagProblem(".field", "already has a tag and does not allow multiple values")
        return tag_key, field, tag

    def _explain_unknown_field(self, name: object) -> str:
        if not isinstance(name, str):
            return "must be the key of a field"
        if name in self._table_keys:
            return "is a table; use the name of one of its columns, such as table.column"
        return "is not a field of the schema version"


def _iterate_with_time_limit(tags: list[object]) -> Iterator[object]:
    """Yield each tag, and raise TagErrors if checking them takes more than MAX_CHECK_SECONDS.

    The limit is in processor seconds of the current thread.
    """
    ends_at = thread_time() + MAX_CHECK_SECONDS
    for tag in tags:
        if thread_time() > ends_at:
            raise TagErrors([("tags", _TOO_SLOW_MESSAGE)])
        yield tag


def _check_properties(
    tag: dict[str, Any],
    tag_key: _TagKey,
    field: _CompiledField,
    text_length: int,
    page_count: int,
    source: SourceText | None,
) -> Tag:
    name, row = tag_key
    try:
        evidence = check_evidence(tag.get("evidence"), text_length, page_count, source)
    except TagProblem as problem:
        raise TagProblem(f".evidence{problem.path}", problem.message) from None
    return {
        "field": name,
        "value": _check_value(tag, field, evidence),
        "row": row,
        "confidence": _check_confidence(tag.get("confidence")),
        "source": _check_source(tag.get("source")),
        "evidence": evidence,
    }


def _check_row(raw: object, field: _CompiledField) -> int | None:
    row = to_integer(raw)
    if not field.in_table:
        if row is not None:
            raise TagProblem(".row", "is only allowed for a table column")
        return None
    if row is None:
        raise TagProblem(".row", "is required for a table column")
    if type(row) is not int or not 0 <= row <= MAX_ROW:
        raise TagProblem(".row", f"must be a whole number from 0 to {MAX_ROW:,}")
    return row


def _check_value(tag: Tag, field: _CompiledField, evidence: list[dict[str, Any]]) -> JsonValue:
    value = tag.get("value")
    if field.type in _REQUIRED_LOCATIONS:
        location = _find_location(field.type, evidence)
        if value is None:
            value = location["text"]
    if value is None and field.type != "region":
        raise TagProblem(".value", "is required")
    try:
        return field.normalize(value)
    except ValueProblem as problem:
        raise TagProblem(".value", problem.message) from None


def _find_location(field_type: str, evidence: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the first evidence item that locates a span or region, or raise TagProblem."""
    name, message = _REQUIRED_LOCATIONS[field_type]
    for item in evidence:
        if item[name] is not None:
            return item
    raise TagProblem(".evidence", message)


def _check_confidence(raw: object) -> float | None:
    if raw is None:
        return None
    # The comparison is also False for NaN.
    if type(raw) not in (float, int) or not 0 <= raw <= 1:  # type: ignore[operator]
        raise TagProblem(".confidence", "must be a number from 0 to 1")
    return float(raw)  # type: ignore[arg-type]


def _check_source(raw: object) -> str:
    if raw is None:
        return "human"
    if not isinstance(raw, str) or raw not in SOURCES:
        raise TagProblem(".source", "must be human, model or import")
    return raw
