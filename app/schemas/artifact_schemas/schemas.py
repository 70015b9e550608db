"""Request and response schemas of labeling schemas.

The request schemas validate each property alone (error 422). They do not check that the fields to
extract are consistent; a later check does (error 400 with a specific error code).
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
    Response,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)
from app.schemas.artifact_schemas.transitions import SchemaStatus

_STATUSES = tuple(SchemaStatus)
_FRACTION_RANGE = validate.Range(min=0, max=1)
_SKILLS_OPTIONS: dict[str, Any] = {
    "max_items": skills.MAX_SKILLS,
    "metadata": {"description": "Each skill must belong to at least one of the labeler's teams."},
}


class FieldOptionBody(Schema):
    """An option of a choice field."""

    value = Str(required=True)
    label = Str(allow_none=True)


def _build_type_field(types: Collection[str]) -> Str:
    """Build the property `type`. Only the API description lists `types`; any string is valid here.

    `app.engines.fields` rejects unknown types.
    """
    metadata = {"description": f"One of {', '.join(types)}.", "enum": list(types)}
    return Str(required=True, metadata=metadata)


class _FieldProperties(Schema):
    key = Str(required=True, description="The field's key in snake_case, at most 64 characters.")
    label = Str(allow_none=True)
    type = _build_type_field(TYPES)
    required = Bool(allow_none=True, description="Whether a submitted tag set must have a value.")
    multiple = Bool(allow_none=True, description="Whether the field can have several values.")
    description = Str(allow_none=True)
    options = List(Nested(FieldOptionBody), max_items=MAX_OPTIONS, allow_none=True)
    constraints = JsonObject(
        allow_none=True,
        description=f"Constraints, depending on the type: {', '.join(sorted(CONSTRAINTS))}.",
    )
    ai_assist = Bool(allow_none=True, description="Whether predictions include the field.")


class TableColumnBody(_FieldProperties):
    """A column of a table: a field of any type except table."""

    type = _build_type_field([name for name in TYPES if name != "table"])
    columns = List(JsonObject(), max_items=MAX_COLUMNS, allow_none=True)


class SchemaFieldBody(_FieldProperties):
    """A field to extract. Only a table has `columns`."""

    columns = List(Nested(TableColumnBody), max_items=MAX_COLUMNS, allow_none=True)


class ReviewPolicyBody(Schema):
    """The rules of `ReviewPolicy`. Omitted properties keep their current or default values."""

    labels_per_artifact = Int(minimum=1, maximum=20)
    sample_rate = Float(validate=_FRACTION_RANGE)
    auto_accept_agreement = Float(validate=_FRACTION_RANGE, allow_none=True)
    auto_accept_confidence = Float(validate=_FRACTION_RANGE, allow_none=True)
    max_rejections = Int(maximum=100, allow_none=True)


class CreateSchema(Schema):
    """The properties of a new draft."""

    name = Name(required=True)
    document_type = Name(max_length=100, load_default="document")
    description = Str(load_default="")
    guidelines = Str(max_length=100_000, load_default="", description="Markdown.")
    review_policy = Nested(ReviewPolicyBody, load_default=dict)
    required_skills = List(
        Name(max_length=skills.MAX_SKILL_LENGTH), load_default=list, **_SKILLS_OPTIONS
    )
    fields = List(Nested(SchemaFieldBody), max_items=MAX_FIELDS, load_default=list)


class UpdateSchema(Schema):
    """Changes to the draft. Omitted properties stay unchanged."""

    name = Name()
    document_type = Name(max_length=100)
    description = Str()
    guidelines = Str(max_length=100_000)
    review_policy = Nested(ReviewPolicyBody)
    required_skills = List(Name(max_length=skills.MAX_SKILL_LENGTH), **_SKILLS_OPTIONS)
    fields = List(Nested(SchemaFieldBody), max_items=MAX_FIELDS)
    revision = Int()


class PublishSchema(Schema):
    """Options for publishing. `base_version` is the version number on which the draft is based."""

    base_version = Int(allow_none=True, load_default=None)
    note = Str(max_length=2000, allow_none=True, load_default=None)
    allow_breaking = Bool(load_default=False)
    dry_run = Bool(load_default=False)
    revision = Int()


class DuplicateSchema(Schema):
    """The name of the copy. By default, the name of the original, followed by `(copy)`."""

    name = Name()


class DiffQuery(Schema):
    """The version to compare with."""

    against = Uuid(
        description="The id of another version of the schema. By default, the previous version."
    )


class SchemaFilters(Schema):
    """Filters for the list of schemas."""

    created_after = UtcDateTime()
    created_before = UtcDateTime()
    status = Str(validate=OneOf(_STATUSES))
    document_type = Str(max_length=100)


class FieldOption(Response):
    """An option of a choice field."""

    value = Str()
    label = Str()


class TableColumn(Response):
    """A column of a table field."""

    key = Str()
    label = Str()
    type = Str(validate=OneOf(TYPES))
    required = Bool(description="Whether a submitted tag set must have a value.")
    multiple = Bool(description="Whether the field can have several values.")
    description = Str()
    options = List(Nested(FieldOption))
    constraints = JsonObject()
    ai_assist = Bool(description="Whether predictions include the field.")


class SchemaField(TableColumn):
    """A field to extract. Only a table has `columns`."""

    columns = List(Nested(TableColumn))


_AUTO_ACCEPT = "Minimum {} to auto-accept; null means never."


class ReviewPolicy(Response):
    """The rules for reviewing tag sets."""

    labels_per_artifact = Int(description="The number of tag sets that an artifact needs.")
    sample_rate = Float(description="The fraction (0 to 1) of tag sets sampled for review.")
    auto_accept_agreement = Float(allow_none=True, description=_AUTO_ACCEPT.format("agreement"))
    auto_accept_confidence = Float(allow_none=True, description=_AUTO_ACCEPT.format("confidence"))
    max_rejections = Int(allow_none=True, description="Null means that there is no limit.")


class VersionReference(Response):
    """The id and the number of a schema version."""

    id = Uuid()
    number = Int()


class CurrentVersion(VersionReference):
    """The schema version that new tag sets use."""

    published_at = UtcDateTime()


class SchemaDetail(Response):
    """A labeling schema; `fields` and `review_policy` belong to the draft."""

    id = Uuid()
    name = Str()
    document_type = Str()
    description = Str()
    guidelines = Str()
    review_policy = Nested(ReviewPolicy)
    required_skills = List(Str())
    fields = List(Nested(SchemaField))
    status = Str(validate=OneOf(_STATUSES))
    ai_assist_enabled = Bool()
    current_version = Nested(CurrentVersion, allow_none=True)
    created_by = Uuid(allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()
    revision = Int()


class SchemaSummary(SchemaDetail):
    """A schema in a list; `fields` and `guidelines` are null if they are too large for the page."""

    guidelines = Str(allow_none=True)
    fields = List(Nested(SchemaField), allow_none=True)


class FieldChange(Response):
    """A change to a field or a table's column; `key` is, for example, `total` or `items.price`."""

    kind = Str(validate=OneOf(["added", "removed", "changed"]))
    key = Str()
    breaking = Bool()
    what = Str(description="The changed property. For an addition or removal: `field` or `column`.")
    before = Any_(allow_none=True, data_key="from", attribute="from")
    after = Any_(allow_none=True, data_key="to", attribute="to")


class SchemaVersion(Response):
    """A published schema version, which never changes."""

    id = Uuid()
    schema_id = Uuid()
    number = Int()
    fields = List(Nested(SchemaField))
    review_policy = Nested(ReviewPolicy)
    published_by = Uuid(allow_none=True)
    published_at = UtcDateTime()
    changes = List(Nested(FieldChange), description="The changes since the previous version.")
    breaking = Bool(description="Whether one of the changes is breaking.")
    note = Str(allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()


class SchemaVersionSummary(SchemaVersion):
    """A schema version in a list; `fields` and `changes` are null if they are too large."""

    fields = List(Nested(SchemaField), allow_none=True)
    changes = List(Nested(FieldChange), allow_none=True)


class PublishedVersion(SchemaVersion):
    """The new version. After a dry run, it is not published; its id and timestamps are null."""

    id = Uuid(allow_none=True)
    published_at = UtcDateTime(allow_none=True)
    created_at = UtcDateTime(allow_none=True)
    updated_at = UtcDateTime(allow_none=True)
    dry_run = Bool()


class VersionDiff(Response):
    """The changes between the versions `from` and `to`; `from` is null for the first version."""

    base = Nested(VersionReference, allow_none=True, data_key="from", attribute="from")
    version = Nested(VersionReference, data_key="to", attribute="to")
    changes = List(Nested(FieldChange))
    breaking = Bool(description="Whether one of the changes is breaking.")


class TagsJsonSchema(Response):
    """A JSON Schema (draft 2020-12) for the property `tags` of a tag set."""

    dialect = Str(data_key="$schema", attribute="$schema")
    identifier = Str(data_key="$id", attribute="$id")
    title = Str()
    description = Str()
    type = Str()
    maxItems = Int()  # noqa: N815 - the name in JSON Schema
    items = JsonObject()
    allOf = List(Any_())  # noqa: N815 - the name in JSON Schema
    definitions = JsonObject(data_key="$defs", attribute="$defs")
