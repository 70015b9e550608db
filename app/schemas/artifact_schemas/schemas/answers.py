"""Response schemas of labeling schemas and their versions."""

from app.engines.fields.model import TYPES
from app.kit.api.fields import (
    Any_,
    Bool,
    Float,
    Int,
    JsonObject,
    List,
    Nested,
    OneOf,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)
from app.schemas.artifact_schemas.schemas.bodies import STATUSES


class FieldOption(Schema):
    """A choice of a select field."""

    value = Str(required=True)
    label = Str(required=True)


class TableColumn(Schema):
    """A column of a table."""

    key = Str(required=True)
    label = Str(required=True)
    type = Str(required=True, validate=OneOf(TYPES))
    required = Bool(required=True)
    multiple = Bool(required=True)
    description = Str(required=True)
    options = List(Nested(FieldOption), required=True)
    constraints = JsonObject(required=True)
    ai_assist = Bool(required=True)


class SchemaField(TableColumn):
    """A field to extract."""

    columns = List(Nested(TableColumn), required=True)


class ReviewPolicy(Schema):
    """How tag sets are reviewed."""

    labels_per_artifact = Int(required=True)
    sample_rate = Float(required=True)
    auto_accept_agreement = Float(required=True, allow_none=True)
    auto_accept_confidence = Float(required=True, allow_none=True)
    max_rejections = Int(required=True, allow_none=True)


class CurrentVersion(Schema):
    """The version that new tag sets use."""

    id = Uuid(required=True)
    number = Int(required=True)
    published_at = UtcDateTime(required=True)


class SchemaDetail(Schema):
    """A labeling schema; `fields` and `review_policy` are the draft's."""

    id = Uuid(required=True)
    name = Str(required=True)
    document_type = Str(required=True)
    description = Str(required=True)
    guidelines = Str(required=True)
    review_policy = Nested(ReviewPolicy, required=True)
    required_skills = List(Str(), required=True)
    fields = List(Nested(SchemaField), required=True)
    status = Str(required=True, validate=OneOf(STATUSES))
    ai_assist_enabled = Bool(required=True)
    current_version = Nested(CurrentVersion, required=True, allow_none=True)
    created_by = Uuid(required=True, allow_none=True)
    created_at = UtcDateTime(required=True)
    updated_at = UtcDateTime(required=True)
    revision = Int(required=True)


class SchemaSummary(SchemaDetail):
    """A schema in a list; `fields` is null if it is too large for the page."""

    fields = List(Nested(SchemaField), required=True, allow_none=True)


class FieldChange(Schema):
    """A change from the previous version; `key` is the key of the field, or `table.column`."""

    kind = Str(required=True, validate=OneOf(["added", "removed", "changed"]))
    key = Str(required=True)
    breaking = Bool(required=True)
    what = Str(required=True)
    before = Any_(required=True, allow_none=True, data_key="from", attribute="from")
    after = Any_(required=True, allow_none=True, data_key="to", attribute="to")


class SchemaVersion(Schema):
    """A published version; it never changes."""

    id = Uuid(required=True)
    schema_id = Uuid(required=True)
    number = Int(required=True)
    fields = List(Nested(SchemaField), required=True)
    review_policy = Nested(ReviewPolicy, required=True)
    published_by = Uuid(required=True, allow_none=True)
    published_at = UtcDateTime(required=True)
    changes = List(Nested(FieldChange), required=True)
    breaking = Bool(required=True)
    note = Str(required=True, allow_none=True)
    created_at = UtcDateTime(required=True)
    updated_at = UtcDateTime(required=True)


class SchemaVersionSummary(SchemaVersion):
    """A version in a list; `fields` or `changes` is null if it is too large for the page."""

    fields = List(Nested(SchemaField), required=True, allow_none=True)
    changes = List(Nested(FieldChange), required=True, allow_none=True)


class PublishedVersion(SchemaVersion):
    """The new version. After a dry run, the version that would be created, without id and times."""

    id = Uuid(required=True, allow_none=True)
    published_at = UtcDateTime(required=True, allow_none=True)
    created_at = UtcDateTime(required=True, allow_none=True)
    updated_at = UtcDateTime(required=True, allow_none=True)
    dry_run = Bool(required=True)


class VersionReference(Schema):
    """A version, by its id and its number."""

    id = Uuid(required=True)
    number = Int(required=True)


class VersionDiff(Schema):
    """The changes between the versions `from` and `to`; `from` is null if `to` is the first."""

    base = Nested(
        VersionReference, required=True, allow_none=True, data_key="from", attribute="from"
    )
    version = Nested(VersionReference, required=True, data_key="to", attribute="to")
    changes = List(Nested(FieldChange), required=True)
    breaking = Bool(required=True)


class TagsJsonSchema(Schema):
    """The JSON Schema 2020-12 of the member `tags` of a tag set, ready for use by a validator."""

    dialect = Str(required=True, data_key="$schema", attribute="$schema")
    identifier = Str(required=True, data_key="$id", attribute="$id")
    title = Str(required=True)
    description = Str(required=True)
    type = Str(required=True)
    maxItems = Int(required=True)  # noqa: N815 - as JSON Schema has it
    items = JsonObject(required=True)
    allOf = List(Any_(), required=True)  # noqa: N815 - as JSON Schema has it
    definitions = JsonObject(required=True, data_key="$defs", attribute="$defs")
