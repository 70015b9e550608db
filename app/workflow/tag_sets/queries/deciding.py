"""SQL of what changes a label set's state: create, submit, accept, reject, delete."""

from typing import Any
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    Integer,
    Label,
    Row,
    Uuid,
    and_,
    case,
    delete,
    exists,
    func,
    literal_column,
    null,
    select,
    text,
    update,
)
from sqlalchemy.orm import aliased

from app.documents.artifacts.models import Artifact
from app.identity.teams.models import TeamMember
from app.kit import db, tenancy
from app.schemas.artifact_schemas.models import SchemaVersion
from app.workflow.tag_sets.models import LABELS_WANTED, MAKERS, TagSet
from app.workflow.tag_sets.queries import recording

_DIRECT = {"synchronize_session": False}


def makers() -> Label[Any]:
    """`MAKERS` as a column."""
    written = literal_column(MAKERS.format(of="tag_sets."), ARRAY(Uuid))
    return written.label("makers")


_before = aliased(TagSet)
# A draft is begun after such a rejection: nobody makes one while its document is locked.
_RETRIED = exists().where(
    _before.organization_id == TagSet.organization_id,
    _before.artifact_id == TagSet.artifact_id,
    _before.schema_id == TagSet.schema_id,
    _before.labeler_id == TagSet.labeler_id,
    _before.status == "rejected",
    _before.id != TagSet.id,
)

_LOCKED = (
    select(
        TagSet.id,
        TagSet.artifact_id,
        TagSet.schema_id,
        TagSet.schema_version_id,
        TagSet.labeler_id,
        makers(),
        literal_column(LABELS_WANTED.format(of="tag_sets."), Integer).label("labels_wanted"),
        TagSet.tags,
        TagSet.status,
        TagSet.rejections,
        TagSet.earlier_rejections,
        TagSet.revision,
        TagSet.source,
        TagSet.submitted_at,
        TagSet.flags,
        TagSet.merged_from,
        TagSet.reopened,
        _RETRIED.label("retried"),
        SchemaVersion.number.label("version"),
        case((TagSet.claim_expires_at > func.now(), TagSet.claim_user_id)).label("claimed_by"),
        TagSet.claim_expires_at,
        TagSet.assignee_id,
        TagSet.assignee_team_id,
        TagSet.escalated,
        Artifact.text_length,
        Artifact.page_count,
        Artifact.updated_at.label("artifact_updated_at"),
        Artifact.priority,
        Artifact.due_at,
        Artifact.schema_id.label("schema_of_artifact"),
    )
    .join(
        Artifact,
        and_(Artifact.organization_id == TagSet.organization_id, Artifact.id == TagSet.artifact_id),
    )
    .join(
        SchemaVersion,
        and_(
            SchemaVersion.organization_id == TagSet.organization_id,
            SchemaVersion.id == TagSet.schema_version_id,
        ),
    )
    # The document first: whoever changes a document and its label sets locks in this order.
    .with_for_update(of=(Artifact, TagSet), key_share=True)
)


def lock(tag_set_id: UUID) -> Row[Any] | None:
    """Lock a label set and its document; what a change of state must know of both."""
    return db.session().execute(_LOCKED.where(TagSet.id == tag_set_id)).one_or_none()


_WITH_SOURCES = text(
    """
    SELECT tag_sets.id FROM tag_sets WHERE tag_sets.organization_id = :org AND tag_sets.id = :id
    UNION ALL
    SELECT CAST(one AS uuid) FROM tag_sets merge, jsonb_array_elements_text(merge.merged_from) one
    WHERE merge.organization_id = :org AND merge.id = :id AND merge.merged_from IS NOT NULL
    """
)


def lock_with_sources(tag_set_id: UUID) -> list[Row[Any]]:
    """`lock` of a label set, and of what it was made of if it is a merge, in the order of their
    ids."""
    values = {"org": tenancy.current_organization_id(), "id": tag_set_id}
    wanted = list(db.session().execute(_WITH_SOURCES, values).scalars())
    return list(db.session().execute(_LOCKED.where(TagSet.id.in_(wanted)).order_by(TagSet.id)))


def lock_document(artifact_id: UUID) -> list[Row[Any]]:
    """`lock` of all label sets of a document but drafts, in the order of their ids."""
    others = _LOCKED.where(TagSet.artifact_id == artifact_id, TagSet.status != "draft")
    return list(db.session().execute(others.order_by(TagSet.id)))


def insert_new(
    values: dict[str, Any], *, author_id: UUID, kind: str = "create", note: str | None = None
) -> UUID:
    """A new label set with its first revision; its id."""
    tag_set = TagSet(**values)
    db.session().add(tag_set)
    db.session().flush()
    recording.note(tag_set.id, kind=kind, author_id=author_id, note=note)
    return tag_set.id


def change(
    tag_set_id: UUID,
    values: dict[str, Any],
    *,
    kind: str,
    author_id: UUID | None,
    note: str | None = None,
) -> None:
    """Change a locked label set, and note the change as a revision."""
    db.session().execute(
        update(TagSet)
        .where(TagSet.id == tag_set_id)
        .values(**values, revision=TagSet.revision + 1)
        .execution_options(**_DIRECT)
    )
    recording.note(tag_set_id, kind=kind, author_id=author_id, note=note)


def remove(tag_set_id: UUID) -> None:
    """Delete a label set, its revisions with it."""
    db.session().execute(delete(TagSet).where(TagSet.id == tag_set_id).execution_options(**_DIRECT))


def open_set(
    artifact_id: UUID, user_id: UUID, states: tuple[str, ...], *, but: UUID | None = None
) -> UUID | None:
    """A label set, other than `but`, that a user has of a document in one of `states`."""
    statement = select(TagSet.id).where(
        TagSet.artifact_id == artifact_id,
        TagSet.labeler_id == user_id,
        TagSet.status.in_(states),
    )
    if but is not None:
        statement = statement.where(TagSet.id != but)
    return db.session().execute(statement.limit(1)).scalar_one_or_none()


def in_states(artifact_id: UUID, states: tuple[str, ...]) -> list[UUID]:
    """The label sets of a document in any of `states`, the oldest first."""
    statement = select(TagSet.id).where(
        TagSet.artifact_id == artifact_id, TagSet.status.in_(states)
    )
    return list(db.session().execute(statement.order_by(TagSet.id)).scalars())


def count_rejections(artifact_id: UUID, schema_id: UUID, *, labeler_id: UUID | None) -> int:
    """Return how often a document's tag sets of a schema were rejected, or only a labeler's."""
    rejected = TagSet.rejections + TagSet.earlier_rejections
    statement = select(func.coalesce(func.max(rejected), 0)).where(
        TagSet.artifact_id == artifact_id, TagSet.schema_id == schema_id
    )
    if labeler_id is not None:
        statement = statement.where(TagSet.labeler_id == labeler_id)
    return int(db.session().execute(statement).scalar_one())


def teams_of(user_id: UUID) -> set[UUID]:
    """The teams that somebody is in."""
    statement = select(TeamMember.team_id).where(TeamMember.user_id == user_id)
    return set(db.session().execute(statement).scalars())


def take_claim(artifact_id: UUID, user_id: UUID, *, minutes: int) -> None:
    """Give the document's claim to a user, unless somebody else holds a live one."""
    free = case(
        (Artifact.claim_user_id.is_(None), True),
        (Artifact.claim_user_id == user_id, True),
        else_=Artifact.claim_expires_at <= func.now(),
    )
    _set_claim(artifact_id, free, user_id, func.now() + func.make_interval(0, 0, 0, 0, 0, minutes))


def release_claim(artifact_id: UUID, user_id: UUID | None) -> None:
    """Give back the claim that a user holds on a document, if it is theirs."""
    _set_claim(artifact_id, Artifact.claim_user_id == user_id, null(), null())


def _set_claim(artifact_id: UUID, condition: Any, user_id: Any, expires_at: Any) -> None:
    db.session().execute(
        update(Artifact)
        .where(Artifact.id == artifact_id, condition)
        .values(claim_user_id=user_id, claim_expires_at=expires_at, updated_at=Artifact.updated_at)
        .execution_options(**_DIRECT)
    )


def release_reviews(user_id: UUID) -> None:
    """Give back every review that a user has claimed."""
    db.session().execute(
        update(TagSet)
        .where(TagSet.status == "submitted", TagSet.claim_user_id == user_id)
        .values(claim_user_id=null(), claim_expires_at=null(), updated_at=TagSet.updated_at)
        .execution_options(**_DIRECT)
    )
