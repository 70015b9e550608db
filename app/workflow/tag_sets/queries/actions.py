"""SQL of what people did with documents that no other record tells."""

from typing import Any
from uuid import UUID

from sqlalchemy import func, insert, select

from app.documents.artifacts.models import ArtifactAct
from app.identity.users.models import User
from app.kit import db, tenancy
from app.kit.ids import uuid7


def note(
    artifact_id: UUID, kind: str, *, by: UUID, tag_set_id: UUID | None, note: str | None
) -> None:
    """Keep that a user did something with a document."""
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


def acts(artifact_id: UUID, by: UUID | None) -> Any:
    """A SELECT of what was noted of a document: id, at, kind, user_id, user (an e-mail address),
    tag_set_id and note; with `by` of this user's acts only."""
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
