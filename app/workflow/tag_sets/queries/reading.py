"""SQL of reading label sets: one, and pages of them."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Integer,
    Row,
    Select,
    Text,
    and_,
    bindparam,
    case,
    cast,
    exists,
    func,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import aliased

from app.identity.organizations.models import Membership
from app.identity.users.models import User
from app.kit import db, tenancy
from app.kit.permissions import Role
from app.kit.prepared import Prepared
from app.schemas.artifact_schemas.models import ArtifactSchema, SchemaVersion
from app.workflow.tag_sets.models import TagSet

PAGE_BYTES = 8 * 1024 * 1024
"""How much of tags a page of a list may hold; each label set has an equal share of it."""

_DRAFT = "draft"
_labeler = aliased(User)
_reviewer = aliased(User)


def person(user: Any, label: str) -> ColumnElement[Any]:
    """A user as colleagues see them; null where the outer join found none."""
    built = func.jsonb_build_object(
        "id", user.id, "email", user.email, "name", user.name, type_=JSONB()
    )
    return case((user.id.is_not(None), built)).label(label)


_SHOWN: tuple[Any, ...] = (
    TagSet.id,
    TagSet.artifact_id,
    TagSet.schema_id,
    TagSet.schema_version_id,
    TagSet.labeler_id,
    TagSet.reviewer_id,
    person(_labeler, "labeler"),
    person(_reviewer, "reviewer"),
    TagSet.source,
    TagSet.tag_count,
    TagSet.status,
    TagSet.submitted_at,
    TagSet.decided_at,
    TagSet.reason,
    (TagSet.rejections + TagSet.earlier_rejections).label("rejections"),
    TagSet.seconds_spent,
    TagSet.comment_count,
    TagSet.merged_from,
    TagSet.superseded_by,
    TagSet.created_at,
    TagSet.updated_at,
    TagSet.revision,
)
"""The columns of a label set as it is shown, less its tags."""


def listed_columns(page_size: int | ColumnElement[int]) -> tuple[Any, ...]:
    """Return the columns of a label set in a list of `page_size`; large tags are null."""
    share = PAGE_BYTES // page_size
    traced = func.coalesce(func.octet_length(cast(TagSet.provenance, Text)), 0)
    fits = TagSet.tags_bytes + traced <= share
    return (
        *_SHOWN,
        case((fits, TagSet.tags)).label("tags"),
        case((fits, TagSet.provenance)).label("provenance"),
    )


def with_people(statement: Select[Any]) -> Select[Any]:
    """Return a statement of label sets joined with their labelers and reviewers."""
    return statement.outerjoin(_labeler, _labeler.id == TagSet.labeler_id).outerjoin(
        _reviewer, _reviewer.id == TagSet.reviewer_id
    )


_ONE = with_people(select(*_SHOWN, TagSet.tags, TagSet.provenance).select_from(TagSet))


def get(tag_set_id: UUID) -> Row[Any] | None:
    """One label set as it is shown."""
    return db.session().execute(_ONE.where(TagSet.id == tag_set_id)).one_or_none()


_PREPARED = Prepared.of(
    "show_tag_set",
    _ONE.where(
        TagSet.organization_id == bindparam("organization_id"),
        TagSet.id == bindparam("tag_set_id"),
    ),
    organization_id="uuid",
    tag_set_id="uuid",
)


def shown(tag_set_id: UUID) -> Any:
    """The same as a named tuple, by a prepared statement: each draw of a review shows one."""
    return _PREPARED.first(str(tenancy.current_organization_id()), str(tag_set_id))


class Reader(NamedTuple):
    """Who reads tag sets without seeing all of them; `blind`: as a labeler."""

    user_id: UUID
    blind: bool


def is_visible_to(reader: Reader) -> ColumnElement[bool]:
    """Return the condition of the tag sets that a reader may see: of drafts only their own."""
    if reader.blind:
        return visible_to_labeler(reader.user_id)
    return or_(TagSet.labeler_id == reader.user_id, TagSet.status != _DRAFT)


def visible_to_labeler(user_id: Any) -> ColumnElement[bool]:
    """Return the condition of what a labeler may see.

    That is no draft of others, and of overlapping sets only their own before they have submitted
    one of the same schema, as a document may be given another.

    Sets overlap by the version that they are of, and where the schema's current one asks for more:
    those that are added now are to be as blind as if all had been. `user_id` is an id, or a column
    of them.
    """
    overlapping = select(SchemaVersion.id).where(
        SchemaVersion.review_policy["labels_per_artifact"].astext.cast(Integer) > 1
    )
    overlapping_now = select(ArtifactSchema.id).where(
        ArtifactSchema.current_version_id.in_(overlapping)
    )
    own = aliased(TagSet)
    submitted = exists().where(
        own.organization_id == TagSet.organization_id,
        own.artifact_id == TagSet.artifact_id,
        own.schema_id == TagSet.schema_id,
        own.labeler_id == user_id,
        own.submitted_at.is_not(None),
    )
    not_blind = and_(
        TagSet.schema_version_id.not_in(overlapping), TagSet.schema_id.not_in(overlapping_now)
    )
    return or_(
        TagSet.labeler_id == user_id, and_(TagSet.status != _DRAFT, or_(not_blind, submitted))
    )


def is_visible(tag_set_id: UUID, reader: Reader) -> bool:
    """Return whether a reader may see a tag set."""
    statement = select(TagSet.id).where(TagSet.id == tag_set_id, is_visible_to(reader))
    return db.session().execute(statement).first() is not None


def who_may_see(tag_set_id: UUID, user_ids: Sequence[UUID], *, labelers: bool) -> set[UUID]:
    """The members among some users who may see a label set, with or without `labelers`."""
    reviews = Membership.role.in_([role.name for role in Role if role >= Role.reviewer])
    views = and_(Membership.role == Role.viewer.name, TagSet.status != _DRAFT)
    own = TagSet.labeler_id == Membership.user_id
    others = or_(reviews, views, own) if labelers else or_(reviews, views)
    labels = and_(Membership.role == Role.labeler.name, visible_to_labeler(Membership.user_id))
    statement = (
        select(Membership.user_id)
        .join(TagSet, TagSet.organization_id == Membership.organization_id)
        .where(
            TagSet.id == tag_set_id,
            Membership.user_id.in_(user_ids),
            or_(others, labels) if labelers else others,
        )
    )
    return set(db.session().scalars(statement))


def listed(tag_set_ids: list[UUID], page_size: int) -> dict[UUID, Row[Any]]:
    """Label sets as a list of `page_size` shows them, by id."""
    statement = with_people(select(*listed_columns(page_size)).select_from(TagSet))
    rows = db.session().execute(statement.where(TagSet.id.in_(tag_set_ids)))
    return {row.id: row for row in rows}
