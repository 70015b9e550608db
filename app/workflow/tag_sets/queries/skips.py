"""SQL queries for skips, and for the recorded actions of users on artifacts."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import Select, bindparam, delete, func, select, text
from sqlalchemy.dialects.postgresql import JSONB, insert

from app.documents.artifacts.models.people import ArtifactAction, ArtifactSkip
from app.identity.users.models import User
from app.kit import db, tenancy
from app.kit.ids import uuid7
from app.workflow.tag_sets.queries import statuses
from app.workflow.tag_sets.queries.statuses import FILTERED_ASSIGNEES

# Other labelers must not have to wait for an assignee who has skipped the artifact.
_IS_OTHER_USER = "assignee ->> 'user_id' IS DISTINCT FROM "
_UNASSIGN = text(
    f"""
    UPDATE artifacts
    SET assignees = {FILTERED_ASSIGNEES.format(condition=_IS_OTHER_USER + ":user_id")}
    WHERE organization_id = :organization_id AND id = :id AND assignees <> '[]'
    """  # noqa: S608 - made of constants
)
# The labelers are unassigned, because artifacts that are assigned to them would be offered to them
# before all others.
_SKIP_REJECTED = text(
    f"""
    WITH rejected AS (
        SELECT CAST(key AS uuid) AS id, CAST(value AS uuid) AS user_id
        FROM jsonb_each_text(:labelers)
    ), unassigned AS (
        UPDATE artifacts SET assignees =
            {FILTERED_ASSIGNEES.format(condition=_IS_OTHER_USER + "CAST(rejected.user_id AS text)")}
        FROM rejected
        WHERE organization_id = :organization_id AND artifacts.id = rejected.id
          AND assignees <> '[]'
    )
    INSERT INTO artifact_skips
        (organization_id, artifact_id, user_id, reason, created_at, rejected)
    SELECT :organization_id, id, user_id, :reason, clock_timestamp(), true FROM rejected
    ON CONFLICT (organization_id, artifact_id, user_id) DO NOTHING
    """  # noqa: S608 - made of constants
).bindparams(bindparam("labelers", type_=JSONB))


def create_skip(artifact_id: UUID, user_id: UUID, reason: str) -> None:
    """Record that a user skipped an artifact, and unassign the user.

    A later skip replaces an earlier skip. The caller must have locked the artifact.
    """
    organization_id = tenancy.current_organization_id()
    values = {"reason": reason, "created_at": db.utc_now(), "rejected": False}
    db.session().execute(
        insert(ArtifactSkip)
        .values(organization_id=organization_id, artifact_id=artifact_id, user_id=user_id, **values)
        .on_conflict_do_update(constraint="pk_artifact_skips", set_=values)
    )
    parameters = {"organization_id": organization_id, "id": artifact_id, "user_id": str(user_id)}
    db.session().execute(_UNASSIGN, parameters)


def delete_skip(artifact_id: UUID, user_id: UUID) -> bool:
    """Delete a user's skip of an artifact, and return False if there was no skip.

    If there was a skip, the status and the reservations of the artifact are updated, because the
    user's draft may reserve it again. The caller must have locked the artifact.
    """
    statement = (
        delete(ArtifactSkip)
        .where(ArtifactSkip.artifact_id == artifact_id, ArtifactSkip.user_id == user_id)
        .returning(ArtifactSkip.artifact_id)
    )
    is_deleted = db.execute_bulk(statement).first() is not None
    if is_deleted:
        statuses.update_statuses([artifact_id])
    return is_deleted


def record_skips_after_rejection(labeler_ids: Mapping[UUID, UUID], reason: str) -> None:
    """Record skips for labelers whose tag sets were rejected with `send_to: pool`; unassign them.

    `labeler_ids` maps the ids of locked artifacts to user ids. Existing skips are kept.
    """
    if labeler_ids:
        user_ids = {str(artifact_id): str(user_id) for artifact_id, user_id in labeler_ids.items()}
        db.session().execute(
            _SKIP_REJECTED,
            {
                "labelers": user_ids,
                "reason": reason,
                "organization_id": tenancy.current_organization_id(),
            },
        )


def record_action(
    artifact_id: UUID,
    kind: str,
    *,
    by: UUID,
    tag_set_id: UUID | None = None,
    note: str | None = None,
) -> None:
    """Record an action of a user on an artifact: `skip`, `release` or `discard`."""
    db.session().execute(
        insert(ArtifactAction).values(
            organization_id=tenancy.current_organization_id(),
            id=uuid7(),
            artifact_id=artifact_id,
            kind=kind,
            user_id=by,
            tag_set_id=tag_set_id,
            note=note,
            created_at=func.clock_timestamp(),
        )
    )


def select_actions(artifact_id: UUID, *, by: UUID | None) -> Select[*tuple[Any, ...]]:
    """Return a SELECT for the recorded actions on an artifact.

    If `by` is set, only the actions of this user are included. The columns are id, at, kind,
    user_id, user (an email address), tag_set_id and note.
    """
    statement = (
        select(
            ArtifactAction.id,
            ArtifactAction.created_at.label("at"),
            ArtifactAction.kind,
            ArtifactAction.user_id,
            User.email.label("user"),
            ArtifactAction.tag_set_id,
            ArtifactAction.note,
        )
        .join(User, User.id == ArtifactAction.user_id)
        .where(ArtifactAction.artifact_id == artifact_id)
    )
    return statement if by is None else statement.where(ArtifactAction.user_id == by)
