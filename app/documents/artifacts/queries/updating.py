"""SQL that updates, archives, deletes and locks documents, one or many."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, Select, delete, func, null, select, update
from sqlalchemy.orm import InstrumentedAttribute

from app.documents.artifacts.models import Artifact
from app.documents.artifacts.queries.reading import (
    is_among,
    restrict_to_matching,
    select_matching,
)
from app.documents.artifacts.statuses import ArtifactStatus
from app.kit import db
from app.kit.periods import Column
from app.schemas.artifact_schemas.models import ArtifactSchema

_DIRECT = {"synchronize_session": False}


def lock_schema(schema_id: UUID) -> bool:
    """Lock a schema against deletion until the transaction ends; return False if there is none."""
    statement = select(ArtifactSchema.id).where(ArtifactSchema.id == schema_id)
    statement = statement.with_for_update(read=True, key_share=True)
    return db.session().execute(statement).first() is not None


def set_members(artifact_id: UUID, changes: dict[str, Any]) -> None:
    """Set members of a locked document and increase its revision; archiving ends its claim."""
    _set_members(Artifact.id == artifact_id, changes)


def _set_members(condition: ColumnElement[bool], changes: dict[str, Any]) -> None:
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


def set_processing(artifact_id: UUID) -> None:
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


class LockedArtifact(NamedTuple):
    """The members of a locked document that bulk actions need."""

    id: UUID
    sha256: str
    archived: bool
    claim_user_id: UUID | None
    page_count: int | None


_LOCKED_COLUMNS: tuple[Column, ...] = (
    Artifact.id,
    Artifact.sha256,
    Artifact.archived,
    Artifact.claim_user_id,
    Artifact.page_count,
)
_LOCKED = select(*_LOCKED_COLUMNS)


def _lock(statement: Select[Any], *, skip_locked: bool = False) -> list[LockedArtifact]:
    # Every statement that locks many documents locks them in the order of their ids.
    statement = statement.order_by(Artifact.id)
    statement = statement.with_for_update(key_share=True, skip_locked=skip_locked)
    return [LockedArtifact(*row) for row in db.session().execute(statement)]


def lock_matching(
    artifact_ids: Sequence[UUID], filters: dict[str, Any] | None = None
) -> list[LockedArtifact]:
    """Lock the documents of `reading.select_matching` and return them."""
    return _lock(restrict_to_matching(_LOCKED, artifact_ids, filters))


def find_existing_ids(artifact_ids: Sequence[UUID]) -> list[UUID]:
    """Return those ids whose documents exist."""
    return list(db.session().scalars(select_matching(artifact_ids)))


def archive(artifact_ids: Sequence[UUID]) -> None:
    """Archive locked documents, and end their claims."""
    _set_members(is_among(artifact_ids), {"archived": True})


def delete_many(artifact_ids: Sequence[UUID]) -> None:
    """Delete locked documents with their texts, pages and tag sets."""
    statement = delete(Artifact).where(is_among(artifact_ids))
    db.session().execute(statement.execution_options(**_DIRECT))


def lock_created_before(until: datetime, *, limit: int) -> list[LockedArtifact]:
    """Lock the oldest documents created before `until`, at most `limit` of them.

    Skips documents that are locked by other transactions.
    """
    oldest = (
        select(Artifact.id)
        .where(Artifact.created_at < until)
        .order_by(Artifact.created_at, Artifact.id)
        .limit(limit)
    )
    return _lock(_LOCKED.where(Artifact.id.in_(oldest)), skip_locked=True)
