"""Request and response schemas of schema imports."""

from marshmallow import ValidationError

from app.engines.schema_sources import FORMATS
from app.kit.api.fields import (
    Any_,
    Bool,
    Data,
    Int,
    List,
    Name,
    Nested,
    OneOf,
    Response,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)
from app.schemas.artifact_schemas.schemas import SchemaDetail

_CONTENT_DESCRIPTION = "The file's content: a JSON object, or a string. XML must be a string."


class _ContentField(Any_):
    def _deserialize(
        self, value: object, attr: str | None, data: Data, **options: object
    ) -> object:
        if not isinstance(value, str | dict):
            raise ValidationError("Must be a string or an object.")
        return super()._deserialize(value, attr, data, **options)


class ImportSchema(Schema):
    """The file to import. `name` and `document_type` override the values in the file."""

    format = Str(required=True, validate=OneOf(list(FORMATS)))
    content = _ContentField(
        required=True,
        metadata={"oneOf": [{"type": "string"}, {"type": "object"}]},
        description=_CONTENT_DESCRIPTION,
    )
    name = Name(allow_none=True, load_default=None)
    document_type = Name(max_length=100, allow_none=True, load_default=None)
    dry_run = Bool(load_default=False)


class SchemaImportWarning(Response):
    """A part of the imported content that was changed or omitted.

    An empty `path` stands for the whole content.
    """

    path = Str()
    message = Str()


class ImportedSchema(SchemaDetail):
    """The imported draft. After a dry run, the id, the timestamps and the revision are null."""

    id = Uuid(allow_none=True)
    created_at = UtcDateTime(allow_none=True)
    updated_at = UtcDateTime(allow_none=True)
    revision = Int(allow_none=True)
    dry_run = Bool()
    warnings = List(Nested(SchemaImportWarning))
