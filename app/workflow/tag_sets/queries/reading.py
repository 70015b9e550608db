"""SQL queries that read tag sets."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Integer,
    Select,
    SQLColumnExpression,
    Text,
    Uuid,
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
from sqlalchemy.orm import InstrumentedAttribute, aliased

from app.identity.organizations.models import Membership
from app.identity.users.models import User, build_person
from app.kit import db, tenancy
from app.kit.permissions import Role
from app.kit.prepared import Prepared
from app.schemas.artifact_schemas.models import ArtifactSchema, SchemaVersion
from app.workflow.tag_sets.models import TagSet
from app.workflow.tag_sets.transitions import TagSetStatus

MAX_PAGE_BYTES = 8 * 1024 * 1024
"""The maximum size in bytes of all tags on a page of a list. Each tag set gets an equal share."""


class TagSetRow(NamedTuple):
    """A tag set in the API's format."""

    id: UUID
    artifact_id: UUID
    schema_id: UUID
    schema_version_id: UUID
    labeler_id: UUID | None
    reviewer_id: UUID | None
    labeler: dict[str, Any] | None
    reviewer: dict[str, Any] | None
    source: str
    tag_count: int
    status: str
    submitted_at: datetime | None
    decided_at: datetime | None
    reason: str | None
    rejections: int
    seconds_spent: int
    comment_count: int
    merged_from: list[str] | None
    superseded_by: UUID | None
    prediction: dict[str, Any] | None
    created_at: datetime
    updated_at: datetime
    revision: int
    tags: list[dict[str, Any]]
    provenance: list[dict[str, Any]] | None


_labeler = aliased(User)
_reviewer = aliased(User)
_PREDICTION = case(
    (
        TagSet.prediction_id.is_not(None),
        func.jsonb_build_object(
            "id",
            TagSet.prediction_id,
            "model_version",
            TagSet.prediction_model_version,
            type_=JSONB(),
        ),
    )
)


def select_tag_sets(
    names: Sequence[str] = TagSetRow._fields, **expressions: SQLColumnExpression[Any]
) -> Select[Any]:
    """Return a SELECT of the columns `names` of tag sets, with their labelers and reviewers.

    `expressions` maps names to columns. It must contain the names that `TagSetRow` does not have,
    and may replace columns of `TagSetRow`.
    """
    columns = db.build_columns(
        names,
        TagSet,
        labeler=build_person(_labeler),
        reviewer=build_person(_reviewer),
        rejections=TagSet.rejections + TagSet.earlier_rejections,
        prediction=_PREDICTION,
        **expressions,
    )
    return (
        select(*columns)
        .select_from(TagSet)
        .outerjoin(_labeler, _labeler.id == TagSet.labeler_id)
        .outerjoin(_reviewer, _reviewer.id == TagSet.reviewer_id)
    )


def select_listed_tag_sets(page_size: int | ColumnElement[int]) -> Select[Any]:
    """Return a SELECT for a list of tag sets with `page_size` tag sets per page.

    Tags and provenance are null if they are larger than `MAX_PAGE_BYTES` divided by `page_size`.
    """
    max_bytes = MAX_PAGE_BYTES // page_size
    provenance_bytes = func.coalesce(func.octet_length(cast(TagSet.provenance, Text)), 0)
    is_small = TagSet.tags_bytes + provenance_bytes <= max_bytes
    return select_tag_sets(
        tags=case((is_small, TagSet.tags)), provenance=case((is_small, TagSet.provenance))
    )


_GET_TAG_SET = Prepared.from_select(
    "show_tag_set",
    select_tag_sets().where(
        TagSet.organization_id == bindparam("organization_id"),
        TagSet.id == bindparam("tag_set_id"),
    ),
    organization_id="uuid",
    tag_set_id="uuid",
)
_GET_TAG_SET.build_row = TagSetRow._make


def find(tag_set_id: UUID) -> TagSetRow | None:
    """Return a tag set in the API's format, or None if it does not exist."""
    organization_id = str(tenancy.current_organization_id())
    row: TagSetRow | None = _GET_TAG_SET.first(organization_id, str(tag_set_id))
    return row


def get(tag_set_id: UUID) -> TagSetRow:
    """Return an existing tag set in the API's format."""
    row = find(tag_set_id)
    assert row is not None, "the tag set is locked, or this transaction has created it"
    return row


IS_OVERLAPPING = SchemaVersion.review_policy["labels_per_artifact"].astext.cast(Integer) > 1
"""The condition that a schema version requires more than one tag set for each artifact."""
_OVERLAPPING_VERSIONS = select(SchemaVersion.id).where(IS_OVERLAPPING)
OVERLAPPING_SCHEMAS = select(ArtifactSchema.id).where(
    ArtifactSchema.current_version_id.in_(_OVERLAPPING_VERSIONS)
)
"""A SELECT of the ids of the schemas whose current version requires more than one tag set."""


class Reader(NamedTuple):
    """A user who may not see all tag sets.

    `is_labeler` is true for labelers, who may have to label an artifact blind: without seeing the
    tag sets of other users.
    """

    user_id: UUID
    is_labeler: bool


def build_visibility_condition(reader: Reader) -> ColumnElement[bool]:
    """Build the condition that a reader may see a tag set. Drafts of other users are hidden."""
    if reader.is_labeler:
        return build_labeler_visibility_condition(reader.user_id)
    return or_(TagSet.labeler_id == reader.user_id, TagSet.status != TagSetStatus.DRAFT)


def build_labeler_visibility_condition(
    user_id: UUID | InstrumentedAttribute[UUID],
) -> ColumnElement[bool]:
    """Build the condition that a labeler may see a tag set.

    Drafts of other users are hidden. If several people label an artifact, all other tag sets of
    other users are hidden too, until the labeler has submitted a tag set with the same schema for
    the artifact. (The schema of an artifact can change.)

    The second rule applies to schema versions that require several tag sets, and to all versions of
    a schema whose current version requires several tag sets, so that new tag sets are independent
    of older tag sets. `user_id` is an id or a column of ids.
    """
    own_tag_set = aliased(TagSet)
    has_submitted = exists().where(
        own_tag_set.organization_id == TagSet.organization_id,
        own_tag_set.artifact_id == TagSet.artifact_id,
        own_tag_set.schema_id == TagSet.schema_id,
        own_tag_set.labeler_id == user_id,
        own_tag_set.submitted_at.is_not(None),
    )
    not_blind = and_(
        TagSet.schema_version_id.not_in(_OVERLAPPING_VERSIONS),
        TagSet.schema_id.not_in(OVERLAPPING_SCHEMAS),
    )
    return or_(
        TagSet.labeler_id == user_id,
        and_(TagSet.status != TagSetStatus.DRAFT, or_(not_blind, has_submitted)),
    )


def is_visible(tag_set_id: UUID, reader: Reader) -> bool:
    """Return whether a reader may see a tag set."""
    statement = select(TagSet.id).where(TagSet.id == tag_set_id, build_visibility_condition(reader))
    return db.session().execute(statement).first() is not None


def find_visible_ids(tag_set_ids: Sequence[UUID], reader: Reader) -> set[UUID]:
    """Return the ids of those tag sets among `tag_set_ids` that a reader may see."""
    statement = select(TagSet.id).where(
        TagSet.id.in_(tag_set_ids), build_visibility_condition(reader)
    )
    return set(db.session().execute(statement).scalars())


def find_viewer_ids(
    tag_set_id: UUID, user_ids: Sequence[UUID], *, include_labelers: bool
) -> set[UUID]:
    """Return the ids in `user_ids` that belong to members who may see a tag set.

    Users with the role labeler are omitted unless `include_labelers` is set.
    """
    is_reviewer = Membership.role.in_([role.name for role in Role if role >= Role.reviewer])
    is_viewer = and_(Membership.role == Role.viewer.name, TagSet.status != TagSetStatus.DRAFT)
    is_own = TagSet.labeler_id == Membership.user_id
    is_never_blind = (
        or_(is_reviewer, is_viewer, is_own) if include_labelers else or_(is_reviewer, is_viewer)
    )
    is_labeler = and_(
        Membership.role == Role.labeler.name, build_labeler_visibility_condition(Membership.user_id)
    )
    statement = (
        select(Membership.user_id)
        .join(TagSet, TagSet.organization_id == Membership.organization_id)
        .where(
            TagSet.id == tag_set_id,
            Membership.user_id.in_(user_ids),
            or_(is_never_blind, is_labeler) if include_labelers else is_never_blind,
        )
    )
    return set(db.session().scalars(statement))


_GET_TAG_SETS = Prepared.from_select(
    "show_tag_sets",
    select_listed_tag_sets(bindparam("page_size", type_=Integer)).where(
        TagSet.organization_id == bindparam("organization_id"),
        TagSet.id == func.any(bindparam("tag_set_ids", type_=ARRAY(Uuid))),
    ),
    organization_id="uuid",
    tag_set_ids="uuid[]",
    page_size="int",
)
_GET_TAG_SETS.build_row = TagSetRow._make


def get_many(tag_set_ids: list[UUID], page_size: int) -> dict[UUID, TagSetRow]:
    """Return {id: tag set} for the tag sets that exist.

    Tags and provenance are None if they are larger than `MAX_PAGE_BYTES` divided by `page_size`.
    """
    if not tag_set_ids:
        return {}
    organization_id = str(tenancy.current_organization_id())
    ids = f"{{{','.join(map(str, tag_set_ids))}}}"
    return {row.id: row for row in _GET_TAG_SETS.all(organization_id, ids, page_size)}
