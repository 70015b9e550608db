"""SQL of skips: artifacts that a user released with a reason."""

from uuid import UUID

from sqlalchemy import delete, text
from sqlalchemy.dialects.postgresql import insert

from app.documents.artifacts.models import ArtifactSkip
from app.kit import db, tenancy

# Other labelers must not wait for an assignee who skipped the artifact.
_UNASSIGN = text(
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
    """Record that a user skipped a locked artifact, and unassign them; a later skip replaces it."""
    organization_id = tenancy.current_organization_id()
    values = {"reason": reason, "created_at": db.utc_now(), "rejected": False}
    db.session().execute(
        insert(ArtifactSkip)
        .values(organization_id=organization_id, artifact_id=artifact_id, user_id=user_id, **values)
        .on_conflict_do_update(constraint="pk_artifact_skips", set_=values)
    )
    parameters = {"organization_id": organization_id, "id": artifact_id, "user_id": str(user_id)}
    db.session().execute(_UNASSIGN, parameters)


def unskip(artifact_id: UUID, user_id: UUID) -> bool:
    """Delete a user's skip of an artifact; return whether there was one."""
    statement = (
        delete(ArtifactSkip)
        .where(ArtifactSkip.artifact_id == artifact_id, ArtifactSkip.user_id == user_id)
        .returning(ArtifactSkip.artifact_id)
        .execution_options(synchronize_session=False)
    )
    return db.session().execute(statement).first() is not None
