"""SQL queries that update, archive, reprocess, delete and lock documents, one or many."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import ColumnElement, Select, delete, func, null, select, text, tuple_, update
from sqlalchemy.orm import InstrumentedAttribute

from app.documents.artifacts.models.documents import Artifact, build_zero_label_counts
from app.documents.artifacts.queries.reading import restrict_to_matching, select_matching
from app.documents.artifacts.statuses import ArtifactStatus
from app.kit import bulk, db, tenancy
from app.kit.id_conditions import build_id_condition
from app.kit.pagination import build_period_conditions

_REPROCESSABLE: tuple[ColumnElement[bool], ...] = (
    Artifact.status == ArtifactStatus.FAILED,
    Artifact.archived.is_(False),
    Artifact.label_counts == build_zero_label_counts(),
)
"""The conditions for failed documents that can be reprocessed."""
# Locks rows in the order of their ids, as all statements do. The condition on `archived` lets
# PostgreSQL use an index that starts with this column.
_DETACH = """
    WITH batch AS MATERIALIZED (
        SELECT id FROM artifacts
        WHERE organization_id = :organization_id AND archived IN (false, true)
          AND schema_id = :schema_id
        LIMIT :batch
    ), locked AS (
        SELECT id FROM artifacts
        WHERE organization_id = :organization_id AND schema_id = :schema_id
          AND id IN (SELECT id FROM batch)
        ORDER BY id FOR NO KEY UPDATE {wait}
    )
    UPDATE artifacts SET schema_id = NULL, revision = revision + 1, updated_at = now()
    FROM locked WHERE organization_id = :organization_id AND artifacts.id = locked.id
"""

# Neither the revision nor the time of the last update changes: the document itself is unchanged.
_SET_PREDICTIONS = text(
    """
    UPDATE artifacts SET prediction = new.value
    FROM jsonb_each(CAST(:predictions AS jsonb)) AS new (artifact_id, value)
    WHERE organization_id = :organization_id AND id = CAST(new.artifact_id AS uuid)
    """
)


def set_properties(artifact_ids: Sequence[UUID], changes: dict[str, Any]) -> None:
    """Set properties of locked documents and increase their revisions.

    Archiving documents ends their claims.
    """
    values: dict[Any, Any] = {_get_column(name): value for name, value in changes.items()}
    if changes.get("archived"):
        values |= {Artifact.claim_user_id: null(), Artifact.claim_expires_at: null()}
    values |= {Artifact.revision: Artifact.revision + 1, Artifact.updated_at: func.now()}
    statement = update(Artifact).where(build_id_condition(Artifact.id, artifact_ids))
    db.execute_bulk(statement.values(values))


def _get_column(name: str) -> InstrumentedAttribute[Any]:
    """Return the column that stores a property of the request body."""
    column: InstrumentedAttribute[Any] = getattr(Artifact, "meta" if name == "metadata" else name)
    return column


def set_processing(artifact_ids: Sequence[UUID]) -> None:
    """Set the status of locked documents to `processing`; clear failures and end claims."""
    statement = update(Artifact).where(build_id_condition(Artifact.id, artifact_ids))
    statement = statement.values(
        status=ArtifactStatus.PROCESSING,
        routing_since=null(),
        failure=null(),
        claim_user_id=null(),
        claim_expires_at=null(),
        updated_at=func.now(),
    )
    db.execute_bulk(statement)


class FailedSelection(NamedTuple):
    """Filters for failed documents. The period refers to the creation of the documents."""

    failure_code: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None


class FailedDocument(NamedTuple):
    """A failed document that can be reprocessed."""

    created_at: datetime
    id: UUID
    name: str


def count_failed_documents(selection: FailedSelection) -> int:
    """Return how many documents `list_failed_documents` returns without a limit."""
    statement = select(func.count()).select_from(Artifact)
    statement = statement.where(*_build_failed_conditions(selection))
    return db.session().execute(statement).scalar_one()


def list_failed_documents(
    selection: FailedSelection, after: tuple[datetime, UUID] | None, limit: int
) -> list[FailedDocument]:
    """Return at most `limit` failed documents that can be reprocessed, oldest first.

    Starts after the document with the creation time and id `after`, or with the oldest document if
    `after` is None. Leaves out archived documents and documents with tag sets.
    """
    statement = select(Artifact.created_at, Artifact.id, Artifact.name)
    statement = statement.where(*_build_failed_conditions(selection))
    if after is not None:
        statement = statement.where(tuple_(Artifact.created_at, Artifact.id) > after)
    statement = statement.order_by(Artifact.created_at, Artifact.id).limit(limit)
    return [FailedDocument._make(row) for row in db.session().execute(statement)]


def _build_failed_conditions(selection: FailedSelection) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [
        *_REPROCESSABLE,
        *build_period_conditions(
            Artifact.created_at, selection.created_after, selection.created_before
        ),
    ]
    if selection.failure_code is not None:
        conditions.append(Artifact.failure["code"].astext == selection.failure_code)
    return conditions


def find_failed_ids(artifact_ids: Sequence[UUID]) -> set[UUID]:
    """Return the ids of the failed documents among `artifact_ids`."""
    statement = select(Artifact.id).where(
        build_id_condition(Artifact.id, artifact_ids), Artifact.status == ArtifactStatus.FAILED
    )
    return set(db.session().scalars(statement))


def reopen_failed(artifact_ids: Sequence[UUID]) -> list[UUID]:
    """Reopen failed documents: set them to processing, and return their ids.

    Ignores archived documents, documents with tag sets, and documents with other statuses.
    """
    statement = (
        select(Artifact.id)
        .where(build_id_condition(Artifact.id, artifact_ids), *_REPROCESSABLE)
        .order_by(Artifact.id)
        .with_for_update(key_share=True)
    )
    failed_ids = list(db.session().scalars(statement))
    set_processing(failed_ids)
    return failed_ids


def detach_schema(schema_id: UUID, *, wait: bool) -> bool:
    """Remove a schema from at most `bulk.BATCH_SIZE` artifacts; return True if no artifact had it.

    Without `wait`, raises OperationalError if another transaction has locked one of the artifacts.
    """
    statement = text(_DETACH.format(wait="" if wait else "NOWAIT"))
    values = {
        "organization_id": tenancy.current_organization_id(),
        "schema_id": schema_id,
        "batch": bulk.BATCH_SIZE,
    }
    result = db.session().execute(statement, values)
    # Fewer artifacts than a batch do not mean that none is left: while the statement waits for
    # locks, other transactions may change artifacts of the batch.
    return not result.rowcount  # type: ignore[attr-defined]


def set_predictions(predictions: Mapping[UUID, dict[str, Any]]) -> None:
    """Set the predictions of locked artifacts.

    `predictions` maps artifact ids to predictions in the API's format.
    """
    if not predictions:
        return
    values = {str(artifact_id): prediction for artifact_id, prediction in predictions.items()}
    parameters = {
        "organization_id": tenancy.current_organization_id(),
        "predictions": orjson.dumps(values).decode(),
    }
    db.session().execute(_SET_PREDICTIONS, parameters)


class LockedArtifact(NamedTuple):
    """The columns of a locked document that bulk actions need."""

    id: UUID
    sha256: str
    archived: bool
    claim_user_id: UUID | None
    page_count: int | None


_LOCKED_ARTIFACTS = select(*(getattr(Artifact, name) for name in LockedArtifact._fields))


def _lock(statement: Select[Any], *, skip_locked: bool = False) -> list[LockedArtifact]:
    # Every statement that locks many documents locks them in the order of their ids.
    statement = statement.order_by(Artifact.id)
    statement = statement.with_for_update(key_share=True, skip_locked=skip_locked)
    return [LockedArtifact(*row) for row in db.session().execute(statement)]


def lock_matching_documents(
    artifact_ids: Sequence[UUID], filters: dict[str, Any] | None = None
) -> list[LockedArtifact]:
    """Lock and return the documents with `artifact_ids` that match `filters`; ignore `q`."""
    return _lock(restrict_to_matching(_LOCKED_ARTIFACTS, artifact_ids, filters))


def find_existing_ids(artifact_ids: Sequence[UUID]) -> list[UUID]:
    """Return the ids of the existing documents among `artifact_ids`."""
    return list(db.session().scalars(select_matching(artifact_ids)))


def delete_many(artifact_ids: Sequence[UUID]) -> None:
    """Delete locked documents with their texts, pages and tag sets."""
    statement = delete(Artifact).where(build_id_condition(Artifact.id, artifact_ids))
    db.execute_bulk(statement)


def lock_documents_created_before(created_before: datetime, *, limit: int) -> list[LockedArtifact]:
    """Lock the documents that `select_documents_created_before` selects, and return them.

    Documents that other transactions have locked are skipped.
    """
    oldest = select_documents_created_before(created_before, limit=limit)
    return _lock(_LOCKED_ARTIFACTS.where(Artifact.id.in_(oldest)), skip_locked=True)


def select_documents_created_before(created_before: datetime, *, limit: int) -> Select[UUID]:
    """Return a SELECT of the ids of at most `limit` documents created before a time.

    Documents that are not archived come before archived documents, and older documents before newer
    documents.
    """
    # This is the order of an index. In another order, every batch would read all older documents.
    order = (Artifact.archived, Artifact.created_at, Artifact.id)
    return (
        select(Artifact.id)
        .where(Artifact.created_at < created_before)
        .order_by(*order)
        .limit(limit)
    )
