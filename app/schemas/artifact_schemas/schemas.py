"""Request and response schemas of labeling schemas.

The form of each request member is declared here (422). `app.engines.fields` decides whether the
fields are consistent (400, with a code of its own).
"""

from collections.abc import Collection
from typing import Any

from marshmallow import validate

from app.engines.fields.definition import MAX_COLUMNS, MAX_FIELDS, MAX_OPTIONS
from app.engines.fields.model import CONSTRAINTS, TYPES
from app.identity.teams import skills
from app.kit.api.fields import (
    Any_,
    Bool,
    Float,
    Int,
    JsonObject,
    List,
    Name,
    Nested,
    OneOf,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)
from app.schemas.artifact_schemas.statuses import SchemaStatus

_STATUSES = tuple(SchemaStatus)
_SHARE = validate.Range(min=0, max=1)
_SKILLS: dict[str, Any] = {
    "max_items": skills.MAX_SKILLS,
    "metadata": {"description": "Labelers need all of these skills, through their teams."},
}


class FieldOptionBody(Schema):
    """A choice of a select field."""

    value = Str(required=True)
    label = Str(allow_none=True)


def _build_type_field(types: Collection[str]) -> Str:
    """Return the member `type`, documented as one of `types`; any other causes 400, not 422."""
    metadata = {"description": f"One of {', '.join(types)}.", "enum": list(types)}
    return Str(required=True, metadata=metadata)


class _FieldMembers(Schema):
    key = Str(required=True, metadata={"description": "snake_case, at most 64 characters"})
    label = Str(allow_none=True)
    type = _build_type_field(TYPES)
    required = Bool(allow_none=True)
    multiple = Bool(allow_none=True)
    description = Str(allow_none=True)
    options = List(Nested(FieldOptionBody), max_items=MAX_OPTIONS, allow_none=True)
    constraints = JsonObject(
        allow_none=True,
        metadata={"description": f"Those of {', '.join(sorted(CONSTRAINTS))} that fit the type."},
    )
    ai_assist = Bool(allow_none=True)


class TableColumnBody(_FieldMembers):
    """A column of a table: a field of any type except table."""

    type = _build_type_field([name for name in TYPES if name != "table"])
    columns = List(JsonObject(), max_items=MAX_COLUMNS, allow_none=True)


class SchemaFieldBody(_FieldMembers):
    """A field to extract."""

    columns = List(Nested(TableColumnBody), max_items=MAX_COLUMNS, allow_none=True)


class ReviewPolicyBody(Schema):
    """How tag sets are reviewed. Omitted members stay unchanged."""

    labels_per_artifact = Int(minimum=1, maximum=20)
    sample_rate = Float(validate=_SHARE)
    auto_accept_agreement = Float(validate=_SHARE, allow_none=True)
    auto_accept_confidence = Float(validate=_SHARE, allow_none=True)
    max_rejections = Int(maximum=100, allow_none=True)


class CreateSchema(Schema):
    """A new draft."""

    name = Name(required=True)
    document_type = Name(max_length=100, load_default="document")
    description = Str(load_default="")
    guidelines = Str(max_length=100_000, load_default="", metadata={"description": "Markdown."})
    review_policy = Nested(ReviewPolicyBody, load_default=dict)
    required_skills = List(Name(max_length=skills.MAX_SKILL), load_default=list, **_SKILLS)
    fields = List(Nested(SchemaFieldBody), max_items=MAX_FIELDS, load_default=list)


class UpdateSchema(Schema):
    """Changes to the draft. Omitted members stay unchanged."""

    name = Name()
    document_type = Name(max_length=100)
    description = Str()
    guidelines = Str(max_length=100_000)
    review_policy = Nested(ReviewPolicyBody)
    required_skills = List(Name(max_length=skills.MAX_SKILL), **_SKILLS)
    fields = List(Nested(SchemaFieldBody), max_items=MAX_FIELDS)
    revision = Int()


class PublishSchema(Schema):
    """Options of publishing. `base_version` is the number of the version the draft is based on."""

    base_version = Int(allow_none=True, load_default=None)
    note = Str(max_length=2000, allow_none=True, load_default=None)
    allow_breaking = Bool(load_default=False)
    dry_run = Bool(load_default=False)
    revision = Int()


class DuplicateSchema(Schema):
    """The name of the copy; by default the name of the original followed by `(copy)`."""

    name = Name()


class DiffQuery(Schema):
    """The version to compare with."""

    against = Uuid(
        metadata={"description": "Another version of the schema; by default the previous one."}
    )


class VersionFilters(Schema):
    """Filters of the list of versions."""

    created_after = UtcDateTime()
    created_before = UtcDateTime()


class SchemaFilters(VersionFilters):
    """Filters of the list of schemas."""

    status = Str(validate=OneOf(_STATUSES))
    document_type = Str(max_length=100)


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


class VersionReference(Schema):
    """A version, by its id and its number."""

    id = Uuid(required=True)
    number = Int(required=True)


class CurrentVersion(VersionReference):
    """The version that new tag sets use."""

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
    status = Str(required=True, validate=OneOf(_STATUSES))
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
