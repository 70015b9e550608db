"""SQL of user actions on artifacts that no other record holds."""

from typing import Any
from uuid import UUID

from sqlalchemy import func, insert, select

from app.documents.artifacts.models import ArtifactAct
from app.identity.users.models import User
from app.kit import db, tenancy
from app.kit.ids import uuid7


def insert_action(
    artifact_id: UUID, kind: str, *, by: UUID, tag_set_id: UUID | None, note: str | None
) -> None:
    """Record that a user did something with an artifact."""
    db.session().execute(
        insert(ArtifactAct).values(
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


def select_actions(artifact_id: UUID, by: UUID | None) -> Any:
    """Return a SELECT of the recorded actions on an artifact, or with `by` of this user's alone.

    Columns: id, at, kind, user_id, user (an email address), tag_set_id, note.
    """
    statement = (
        select(
            ArtifactAct.id,
            ArtifactAct.created_at.label("at"),
            ArtifactAct.kind,
            ArtifactAct.user_id,
            User.email.label("user"),
            ArtifactAct.tag_set_id,
            ArtifactAct.note,
        )
        .join(User, User.id == ArtifactAct.user_id)
        .where(ArtifactAct.artifact_id == artifact_id)
    )
    return statement if by is None else statement.where(ArtifactAct.user_id == by)
