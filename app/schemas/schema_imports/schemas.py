"""The body and the answer of importing a schema."""

from typing import Any

from marshmallow import ValidationError

from app.engines.schema_sources import FORMATS
from app.kit.api.fields import (
    Any_,
    Bool,
    Int,
    List,
    Name,
    Nested,
    OneOf,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)
from app.schemas.artifact_schemas.schemas import SchemaDetail

_CONTENT = "The JSON, or the file's text; a labeling configuration is text."


class _Content(Any_):
    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(value, str | dict):
            raise ValidationError("Must be text or an object.")
        return super()._deserialize(value, *args, **kwargs)


class ImportSchema(Schema):
    """What to read; `name` and `document_type` go before those that it has itself."""

    format = Str(required=True, validate=OneOf(list(FORMATS)))
    content = _Content(
        required=True,
        metadata={"description": _CONTENT, "oneOf": [{"type": "string"}, {"type": "object"}]},
    )
    name = Name(allow_none=True, load_default=None)
    document_type = Name(max_length=100, allow_none=True, load_default=None)
    dry_run = Bool(load_default=False)


class SchemaImportWarning(Schema):
    """What was changed or left out, and where it stood in the source; "" means all of it."""

    path = Str(required=True)
    message = Str(required=True)


class ImportedSchema(SchemaDetail):
    """The new draft; of a dry run, what it would be, without an id, times and revision."""

    id = Uuid(required=True, allow_none=True)
    created_at = UtcDateTime(required=True, allow_none=True)
    updated_at = UtcDateTime(required=True, allow_none=True)
    revision = Int(required=True, allow_none=True)
    dry_run = Bool(required=True)
    warnings = List(Nested(SchemaImportWarning), required=True)
