"""SQL that reprocesses failed documents."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, null, select, update

from app.documents.artifacts.models import Artifact, no_labels
from app.documents.artifacts.queries.reading import is_among
from app.documents.artifacts.statuses import ArtifactStatus
from app.kit import db

BATCH = 1000


def find_failed(
    failure_code: str | None, created_after: datetime | None, created_before: datetime | None
) -> list[UUID]:
    """Return the ids of the matching failed documents that are not archived, oldest first."""
    statement = select(Artifact.id).where(
        Artifact.status == ArtifactStatus.FAILED, Artifact.archived.is_(False)
    )
    if failure_code is not None:
        statement = statement.where(Artifact.failure["code"].astext == failure_code)
    if created_after is not None:
        statement = statement.where(Artifact.created_at >= created_after)
    if created_before is not None:
        statement = statement.where(Artifact.created_at < created_before)
    return list(db.session().scalars(statement.order_by(Artifact.created_at, Artifact.id)))


def reopen(artifact_ids: Sequence[UUID]) -> list[UUID]:
    """Set failed documents without tag sets to processing, unless archived; return their ids."""
    locked = (
        select(Artifact.id)
        .where(
            is_among(artifact_ids),
            Artifact.status == ArtifactStatus.FAILED,
            Artifact.archived.is_(False),
            Artifact.label_counts == no_labels(),
        )
        .order_by(Artifact.id)
        .with_for_update(key_share=True)
    )
    failed = list(db.session().scalars(locked))
    db.session().execute(
        update(Artifact)
        .where(is_among(failed))
        .values(
            status=ArtifactStatus.PROCESSING,
            routing_since=null(),
            failure=null(),
            updated_at=func.now(),
        )
        .execution_options(synchronize_session=False)
    )
    return failed
