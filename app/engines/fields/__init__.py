"""What a schema's fields mean: which definitions stand, what their values are, which tags fit.

Pure: values in, values out. Libraries that only some field types need are loaded on first use.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from app.engines.fields.changes import Change, compare
from app.engines.fields.compiled import MAX_ROW, MAX_TAGS, CompiledFields
from app.engines.fields.definition import check_fields
from app.engines.fields.errors import FieldError, TagErrors, ValueProblem
from app.engines.fields.evidence import MAX_EVIDENCE
from app.engines.fields.model import TYPES, Field, JsonValue, Tag
from app.engines.fields.source_text import SourceText
from app.engines.fields.values import normaliser

__all__ = [
    "MAX_EVIDENCE",
    "MAX_ROW",
    "MAX_TAGS",
    "TYPES",
    "Change",
    "CompiledFields",
    "Field",
    "FieldError",
    "JsonValue",
    "SourceText",
    "Tag",
    "TagErrors",
    "ValueProblem",
    "check_fields",
    "check_tags",
    "compare",
    "compile_fields",
    "missing_required",
    "normalise",
    "tags_schema",
]


def compile_fields(fields: Sequence[Field]) -> CompiledFields:
    """Fields in normal form (`check_fields`) made ready for many label sets; keep the result."""
    return CompiledFields(fields)


def normalise(field: Field, value: object) -> JsonValue:
    """One value of `field` in its canonical form (docs/integrators/fields.md has the table).

    Of a table: the list of its rows. Normalising twice changes nothing. Raises ValueProblem.
    """
    return normaliser(field)(value)


def check_tags(
    fields: Sequence[Field], tags: object, *, text_length: int, page_count: int
) -> list[Tag]:
    """`CompiledFields.check_tags` for a single use. Raises TagErrors."""
    return compile_fields(fields).check_tags(tags, text_length=text_length, page_count=page_count)


def missing_required(fields: Sequence[Field], tags: Iterable[Tag]) -> list[str]:
    """`CompiledFields.missing_required` for a single use."""
    return compile_fields(fields).missing_required(tags)


def tags_schema(fields: Sequence[Field], *, identifier: str, title: str) -> dict[str, Any]:
    """JSON Schema 2020-12 of the list of tags that fields in normal form accept.

    What it accepts, `check_tags` accepts, with the reservations that its description lists; and
    what `check_tags` returns, it accepts.
    """
    # On first use: it takes the libraries of every type.
    from app.engines.fields.json_schema import labels  # noqa: PLC0415

    return labels.tags_schema(fields, identifier=identifier, title=title)
