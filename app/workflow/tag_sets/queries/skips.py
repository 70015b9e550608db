"""SQL of skips: who gave a document back with a reason."""

from uuid import UUID

from sqlalchemy import delete, text
from sqlalchemy.dialects.postgresql import insert

from app.documents.artifacts.models import ArtifactSkip
from app.kit import db, tenancy

# Nobody else is to wait for who does not want it.
_UNNAME = text(
    """
    UPDATE artifacts SET assignees = coalesce((
        SELECT jsonb_agg(one ORDER BY place)
        FROM jsonb_array_elements(assignees) WITH ORDINALITY AS list (one, place)
        WHERE one ->> 'user_id' IS DISTINCT FROM :user_id
    ), '[]')
    WHERE organization_id = :organization_id AND id = :id AND assignees <> '[]'
    """
)


def skip(artifact_id: UUID, user_id: UUID, reason: str) -> None:
    """Note that a user gave the document, which is locked, back with a reason, and take their name
    off it: their last word stands."""
    organization_id = tenancy.current_organization_id()
    values = {"reason": reason, "created_at": db.utc_now(), "rejected": False}
    db.session().execute(
        insert(ArtifactSkip)
        .values(organization_id=organization_id, artifact_id=artifact_id, user_id=user_id, **values)
        .on_conflict_do_update(constraint="pk_artifact_skips", set_=values)
    )
    named = {"organization_id": organization_id, "id": artifact_id, "user_id": str(user_id)}
    db.session().execute(_UNNAME, named)


def unskip(artifact_id: UUID, user_id: UUID) -> bool:
    """Forget that a user skipped the document; whether they had."""
    statement = (
        delete(ArtifactSkip)
        .where(ArtifactSkip.artifact_id == artifact_id, ArtifactSkip.user_id == user_id)
        .returning(ArtifactSkip.artifact_id)
        .execution_options(synchronize_session=False)
    )
    return db.session().execute(statement).first() is not None
