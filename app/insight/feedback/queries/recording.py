"""SQL queries for recording feedback."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import and_, delete, insert, select, tuple_

from app.documents.artifacts.models.documents import Artifact
from app.insight.feedback.models import FeedbackDocument, PredictionFeedback
from app.kit import db, tenancy
from app.kit.id_conditions import build_id_condition
from app.schemas.artifact_schemas.models import DELETED, ArtifactSchema
from app.workflow.tag_sets.models import TagSet

_INSERT_BATCH_SIZE = 1000
_LOCK = tenancy.build_text(
    "SELECT pg_advisory_xact_lock(hashtextextended('feedback ' || :organization_id, 0))"
)


def lock_recording() -> None:
    """Lock the recording of feedback in the current organization until the transaction ends.

    The lock is an advisory lock. It does not lock the rows of artifacts, because bulk actions lock
    these rows in another order.
    """
    db.session().execute(_LOCK)


def delete_automatic_feedback(tag_set_ids: Sequence[UUID]) -> None:
    """Delete the automatic feedback on tag sets."""
    db.execute_bulk(
        delete(PredictionFeedback).where(
            build_id_condition(PredictionFeedback.tag_set_id, tag_set_ids),
            PredictionFeedback.position.is_not(None),
        )
    )


def delete_reported_feedback(pairs: Sequence[tuple[UUID, str]]) -> None:
    """Delete the reported feedback on each pair of artifact id and model in `pairs`."""
    if pairs:
        db.execute_bulk(
            delete(PredictionFeedback).where(
                tuple_(PredictionFeedback.artifact_id, PredictionFeedback.model).in_(pairs),
                PredictionFeedback.position.is_(None),
            )
        )


def insert_feedback(rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert feedback. All rows must have the same columns; columns that they omit are null."""
    for start in range(0, len(rows), _INSERT_BATCH_SIZE):
        db.session().execute(insert(PredictionFeedback), rows[start : start + _INSERT_BATCH_SIZE])


_ADD_DOCUMENTS = tenancy.build_text(
    """
    INSERT INTO feedback_documents (organization_id, artifact_id, schema_id, model, correct,
                                    corrected, missed, spurious, shared)
    SELECT organization_id, artifact_id, schema_id, model,
           count(*) FILTER (WHERE outcome = 'correct'),
           count(*) FILTER (WHERE outcome = 'corrected'),
           count(*) FILTER (WHERE outcome = 'missed'),
           count(*) FILTER (WHERE outcome = 'spurious'),
           count(*) OVER (PARTITION BY artifact_id, schema_id) > 1
    FROM prediction_feedback
    WHERE organization_id = :organization_id AND artifact_id = ANY (CAST(:ids AS uuid[]))
    GROUP BY organization_id, artifact_id, schema_id, model
    """
)


def refresh_documents(artifact_ids: Sequence[UUID]) -> None:
    """Recompute the `FeedbackDocument` rows of these documents from their feedback."""
    id_condition = build_id_condition(FeedbackDocument.artifact_id, artifact_ids)
    db.execute_bulk(delete(FeedbackDocument).where(id_condition))
    db.session().execute(_ADD_DOCUMENTS, {"ids": list(map(str, artifact_ids))})


class ReportedDocument(NamedTuple):
    """An artifact on which feedback is reported, with its schema's current version.

    `schema_id` and `version_id` are None if the artifact has no schema or a deleted schema.
    """

    id: UUID
    schema_id: UUID | None
    version_id: UUID | None
    text_length: int
    page_count: int | None
    updated_at: datetime


def lock_documents(artifact_ids: Sequence[UUID]) -> dict[UUID, ReportedDocument]:
    """Lock the documents that exist among these ids against deletion, and return them by id."""
    columns = db.build_columns(
        ReportedDocument._fields,
        Artifact,
        schema_id=ArtifactSchema.id,
        version_id=ArtifactSchema.current_version_id,
    )
    statement = (
        select(*columns)
        .outerjoin(
            ArtifactSchema,
            and_(
                ArtifactSchema.organization_id == Artifact.organization_id,
                ArtifactSchema.id == Artifact.schema_id,
                ArtifactSchema.status != DELETED,
            ),
        )
        .where(build_id_condition(Artifact.id, artifact_ids))
        .order_by(Artifact.id)
        .with_for_update(of=Artifact, read=True, key_share=True)
    )
    rows = map(ReportedDocument._make, db.session().execute(statement))
    return {row.id: row for row in rows}


class ReportedTagSet(NamedTuple):
    """A tag set to which reported feedback refers."""

    id: UUID
    artifact_id: UUID
    schema_id: UUID
    schema_version_id: UUID
    labeler_id: UUID | None


def find_tag_sets(tag_set_ids: Sequence[UUID]) -> dict[UUID, ReportedTagSet]:
    """Return the tag sets that exist among these ids, by id."""
    columns = db.build_columns(ReportedTagSet._fields, TagSet)
    statement = select(*columns).where(build_id_condition(TagSet.id, tag_set_ids))
    rows = map(ReportedTagSet._make, db.session().execute(statement))
    return {row.id: row for row in rows}


def find_pairs_with_automatic_feedback(
    pairs: Sequence[tuple[UUID, str]],
) -> set[tuple[UUID, str]]:
    """Return the pairs of artifact id and model in `pairs` that have automatic feedback."""
    statement = (
        select(PredictionFeedback.artifact_id, PredictionFeedback.model)
        .where(
            tuple_(PredictionFeedback.artifact_id, PredictionFeedback.model).in_(pairs),
            PredictionFeedback.position.is_not(None),
        )
        .distinct()
    )
    return {(row.artifact_id, row.model) for row in db.session().execute(statement)}


ReportKey = tuple[UUID, str, str, int | None, str | None]
"""The artifact id, model, field, row and `value_key` of reported feedback, which identify it. The
`value_key` is None unless the field allows several values."""


def find_reported_feedback_ids(pairs: Sequence[tuple[UUID, str]]) -> dict[ReportKey, UUID]:
    """Return the ids of the reported feedback on pairs of artifact id and model, by report key."""
    statement = select(
        PredictionFeedback.artifact_id,
        PredictionFeedback.model,
        PredictionFeedback.field,
        PredictionFeedback.row,
        PredictionFeedback.value_key,
        PredictionFeedback.id,
    ).where(
        tuple_(PredictionFeedback.artifact_id, PredictionFeedback.model).in_(pairs),
        PredictionFeedback.position.is_(None),
    )
    rows = db.session().execute(statement)
    return {(row[0], row[1], row[2], row[3], row[4]): row[5] for row in rows}
