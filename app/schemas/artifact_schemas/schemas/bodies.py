"""Request bodies and filters of labeling schemas.

The form of each member is declared here (422). `app.engines.fields` decides whether the fields are
consistent (400, with a code of its own).
"""

from collections.abc import Collection

from marshmallow import missing, validate

from app.engines.fields.definition import MAX_COLUMNS, MAX_FIELDS, MAX_OPTIONS
from app.engines.fields.model import CONSTRAINTS, TYPES
from app.identity.teams import skills
from app.kit.api.fields import (
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

STATUSES = tuple(SchemaStatus)
_SHARE = validate.Range(min=0, max=1)


class FieldOptionBody(Schema):
    """A choice of a select field."""

    value = Str(required=True)
    label = Str(allow_none=True)


def _type(types: Collection[str]) -> Str:
    """Return the member `type`, documented as one of `types`; any other causes 400, not 422."""
    described = {"description": f"One of {', '.join(types)}.", "enum": list(types)}
    return Str(required=True, metadata=described)


class _FieldMembers(Schema):
    key = Str(required=True, metadata={"description": "snake_case, at most 64 characters"})
    label = Str(allow_none=True)
    type = _type(TYPES)
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

    type = _type([name for name in TYPES if name != "table"])
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


def _skills(*, load_default: object = missing) -> List:
    described = {"description": "Labelers need all of these skills, through their teams."}
    return List(
        Name(max_length=skills.MAX_SKILL),
        max_items=skills.MAX_SKILLS,
        metadata=described,
        load_default=load_default,
    )


class CreateSchema(Schema):
    """A new draft."""

    name = Name(required=True)
    document_type = Name(max_length=100, load_default="document")
    description = Str(load_default="")
    guidelines = Str(max_length=100_000, load_default="", metadata={"description": "Markdown."})
    review_policy = Nested(ReviewPolicyBody, load_default=dict)
    required_skills = _skills(load_default=list)
    fields = List(Nested(SchemaFieldBody), max_items=MAX_FIELDS, load_default=list)


class UpdateSchema(Schema):
    """Changes to the draft. Omitted members stay unchanged."""

    name = Name()
    document_type = Name(max_length=100)
    description = Str()
    guidelines = Str(max_length=100_000)
    review_policy = Nested(ReviewPolicyBody)
    required_skills = _skills()
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

    status = Str(validate=OneOf(STATUSES))
    document_type = Str(max_length=100)
