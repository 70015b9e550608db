"""Bodies and filters of labeling schemas.

What a member may look like is declared here (422); which fields make sense is decided by
`app.engines.fields` (400, with a code of its own).
"""

from collections.abc import Collection
from typing import Any

from marshmallow import validate

from app.engines.fields.definition import MAX_COLUMNS, MAX_FIELDS, MAX_OPTIONS
from app.engines.fields.model import CONSTRAINTS, TYPES
from app.identity.teams import service as teams
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
    """One choice."""

    value = Str(required=True)
    label = Str(allow_none=True)


def _type(types: Collection[str]) -> Str:
    """Return a field's type, described as one of `types`; another one is 400, not 422."""
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
        metadata={"description": f"What the type knows of {', '.join(sorted(CONSTRAINTS))}."},
    )
    ai_assist = Bool(allow_none=True)


class TableColumnBody(_FieldMembers):
    """A column of a table: a field of any type but table."""

    type = _type([name for name in TYPES if name != "table"])
    columns = List(JsonObject(), max_items=MAX_COLUMNS, allow_none=True)


class SchemaFieldBody(_FieldMembers):
    """One thing to extract."""

    columns = List(Nested(TableColumnBody), max_items=MAX_COLUMNS, allow_none=True)


class ReviewPolicyBody(Schema):
    """How label sets are reviewed; members left out stay as they are."""

    labels_per_artifact = Int(minimum=1, maximum=20)
    sample_rate = Float(validate=_SHARE)
    auto_accept_agreement = Float(validate=_SHARE, allow_none=True)
    auto_accept_confidence = Float(validate=_SHARE, allow_none=True)
    max_rejections = Int(maximum=100, allow_none=True)


def _skills(**kwargs: Any) -> List:
    what = {"description": "Who labels needs them all, by the teams they are in."}
    return List(
        Name(max_length=teams.MAX_SKILL), max_items=teams.MAX_SKILLS, metadata=what, **kwargs
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
    """Changes of the draft; members left out stay as they are."""

    name = Name()
    document_type = Name(max_length=100)
    description = Str()
    guidelines = Str(max_length=100_000)
    review_policy = Nested(ReviewPolicyBody)
    required_skills = _skills()
    fields = List(Nested(SchemaFieldBody), max_items=MAX_FIELDS)
    revision = Int()


class PublishSchema(Schema):
    """How to publish. `base_version` is the number of the version the draft was built on."""

    base_version = Int(allow_none=True, load_default=None)
    note = Str(max_length=2000, allow_none=True, load_default=None)
    allow_breaking = Bool(load_default=False)
    dry_run = Bool(load_default=False)
    revision = Int()


class DuplicateSchema(Schema):
    """What the copy is called; without it, the name with `(copy)` behind."""

    name = Name()


class DiffQuery(Schema):
    """What to compare with."""

    against = Uuid(
        metadata={"description": "Another version of the schema; without it, the one before."}
    )


class VersionFilters(Schema):
    """Filters of a schema's versions."""

    created_after = UtcDateTime()
    created_before = UtcDateTime()


class SchemaFilters(VersionFilters):
    """Filters of the list."""

    status = Str(validate=OneOf(STATUSES))
    document_type = Str(max_length=100)
