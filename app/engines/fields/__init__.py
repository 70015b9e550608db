"""Validate field definitions, normalize values, and check tags against the fields of a schema.

No function changes the fields, values or tags that it receives. Libraries that only some field
types need are loaded on first use.
"""

from app.engines.fields.changes import compare
from app.engines.fields.compiled_fields import MAX_ROW, MAX_TAGS, CompiledFields
from app.engines.fields.definition import check_fields
from app.engines.fields.errors import FieldError, TagErrors, ValueProblem
from app.engines.fields.evidence import MAX_EVIDENCE_ITEMS
from app.engines.fields.model import TYPES, Field, JsonValue, Tag
from app.engines.fields.source_text import SourceText
from app.engines.fields.values import get_normalizer

__all__ = [
    "MAX_EVIDENCE_ITEMS",
    "MAX_ROW",
    "MAX_TAGS",
    "TYPES",
    "CompiledFields",
    "Field",
    "FieldError",
    "JsonValue",
    "SourceText",
    "Tag",
    "TagErrors",
    "ValueProblem",
    "check_fields",
    "compare",
    "normalize",
]


def normalize(field: Field, value: object) -> JsonValue:
    """Normalize a value of `field` to its canonical form (see docs/integrators/fields.md).

    The value of a table is the list of its rows. Normalizing a value again does not change it.
    Raises ValueProblem if the value is invalid.
    """
    return get_normalizer(field)(value)
