"""SQL that updates, archives, deletes and locks documents, one or many."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, Select, delete, func, null, select, update
from sqlalchemy.orm import InstrumentedAttribute

from app.documents.artifacts.models import Artifact
from app.documents.artifacts.queries.reading import among, by_ids, still
from app.documents.artifacts.statuses import ArtifactStatus
from app.kit import db
from app.schemas.artifact_schemas.models import ArtifactSchema

_DIRECT = {"synchronize_session": False}


def hold_schema(schema_id: UUID) -> bool:
    """Lock a schema against deletion until the transaction ends; return False if there is none."""
    statement = select(ArtifactSchema.id).where(ArtifactSchema.id == schema_id)
    statement = statement.with_for_update(read=True, key_share=True)
    return db.session().execute(statement).first() is not None


def change(artifact_id: UUID, changes: dict[str, Any]) -> None:
    """Set members of a locked document and increase its revision; archiving ends its claim."""
    _change(Artifact.id == artifact_id, changes)


def _change(condition: Any, changes: dict[str, Any]) -> None:
    values: dict[Any, Any] = {_get_column(name): value for name, value in changes.items()}
    if changes.get("archived"):
        values |= {Artifact.claim_user_id: null(), Artifact.claim_expires_at: null()}
    values |= {Artifact.revision: Artifact.revision + 1, Artifact.updated_at: func.now()}
    statement = update(Artifact).where(condition).values(values)
    db.session().execute(statement.execution_options(**_DIRECT))


def _get_column(name: str) -> InstrumentedAttribute[Any]:
    """Return the column of a member of the request body."""
    column: InstrumentedAttribute[Any] = getattr(Artifact, "meta" if name == "metadata" else name)
    return column


def read_anew(artifact_id: UUID) -> None:
    """Set a locked document to processing, and end its claim."""
    db.session().execute(
        update(Artifact)
        .where(Artifact.id == artifact_id)
        .values(
            status=ArtifactStatus.PROCESSING,
            routing_since=null(),
            failure=null(),
            claim_user_id=null(),
            claim_expires_at=null(),
            updated_at=func.now(),
        )
        .execution_options(**_DIRECT)
    )


_LOCKED: Any = select(
    Artifact.id,
    Artifact.sha256,
    Artifact.archived,
    Artifact.claim_user_id,
    Artifact.page_count,
)


def _locked(statement: Select[Any], *, skip_locked: bool = False) -> Sequence[Row[Any]]:
    # Every statement that locks many documents locks them in the order of their ids.
    statement = statement.order_by(Artifact.id)
    statement = statement.with_for_update(key_share=True, skip_locked=skip_locked)
    return db.session().execute(statement).all()


def lock_ids(
    artifact_ids: Sequence[UUID], filters: dict[str, Any] | None = None
) -> Sequence[Row[Any]]:
    """Lock the documents of `reading.by_ids`; return their columns in `_LOCKED`."""
    return _locked(still(_LOCKED, artifact_ids, filters))


def there(artifact_ids: Sequence[UUID]) -> list[UUID]:
    """Return those ids whose documents exist."""
    return list(db.session().scalars(by_ids(artifact_ids)))


def archive(artifact_ids: Sequence[UUID]) -> None:
    """Archive locked documents, and end their claims."""
    _change(among(artifact_ids), {"archived": True})


def delete_many(artifact_ids: Sequence[UUID]) -> None:
    """Delete locked documents with their texts, pages and tag sets."""
    statement: Any = delete(Artifact).where(among(artifact_ids))
    db.session().execute(statement.execution_options(**_DIRECT))


def lock_created_before(moment: datetime, *, most: int) -> Sequence[Row[Any]]:
    """Lock the oldest documents created before `moment`, at most `most` of them.

    Skips documents that are locked by other transactions.
    """
    oldest = (
        select(Artifact.id)
        .where(Artifact.created_at < moment)
        .order_by(Artifact.created_at, Artifact.id)
        .limit(most)
    )
    return _locked(_LOCKED.where(Artifact.id.in_(oldest)), skip_locked=True)
