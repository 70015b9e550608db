"""SQL queries for predictions, and for the settings that predictions need."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import exists, select
from sqlalchemy.dialects.postgresql import insert

from app.identity.organizations.models import Organization
from app.kit import db, tenancy
from app.kit.ids import generate_ids
from app.schemas.artifact_schemas.models import ArtifactSchema
from app.workflow.predictions.models import Prediction, PredictionStatus
from app.workflow.predictions.queries.latest import build_latest
from app.workflow.tag_sets.service.ports import PredictedTags

_FIND_LATEST = tenancy.build_text(
    f"""
    SELECT latest.* FROM artifacts document
    CROSS JOIN LATERAL ({build_latest(", ".join(PredictedTags._fields), "document")}) latest
    WHERE document.organization_id = :organization_id AND document.id = :artifact_id
    """  # noqa: S608 - made of constants
)


class Provider(NamedTuple):
    """The settings of an organization's AI provider; `key` is the encrypted API key."""

    kind: str
    base_url: str | None
    model: str | None
    key: str | None


class NewPrediction(NamedTuple):
    """A prediction to insert with the status `queued`."""

    artifact_id: UUID
    schema_id: UUID
    schema_version_id: UUID


def find_latest(artifact_id: UUID) -> PredictedTags | None:
    """Return the latest completed prediction for an artifact and its current schema, or None."""
    return db.find_row(PredictedTags, _FIND_LATEST, {"artifact_id": artifact_id})


def find_schema_version_id(prediction_id: UUID) -> UUID | None:
    """Return the id of a prediction's schema version, or None if the prediction does not exist."""
    statement = select(Prediction.schema_version_id).where(Prediction.id == prediction_id)
    return db.session().scalars(statement).one_or_none()


def find_queued(artifact_id: UUID) -> Prediction | None:
    """Return the queued prediction of an artifact, or None if there is none."""
    statement = select(Prediction).where(
        Prediction.artifact_id == artifact_id, Prediction.status == PredictionStatus.QUEUED
    )
    return db.session().scalars(statement).one_or_none()


def find(prediction_id: UUID, *, lock: bool = False) -> Prediction | None:
    """Return a prediction, or None if it does not exist. Lock the row if `lock` is set."""
    statement = select(Prediction).where(Prediction.id == prediction_id)
    if lock:
        statement = statement.with_for_update()
    options = {"populate_existing": True}
    return db.session().execute(statement, execution_options=options).scalar_one_or_none()


def insert_queued(
    predictions: Sequence[NewPrediction],
    *,
    requested_by: UUID | None,
    ingestion_job_id: UUID | None,
) -> dict[UUID, UUID]:
    """Insert queued predictions and return {artifact_id: prediction_id}.

    Artifacts that already have a queued prediction are omitted.
    """
    now = db.utc_now()
    rows = [
        {
            **prediction._asdict(),
            "id": new_id,
            "organization_id": tenancy.current_organization_id(),
            "requested_by": requested_by,
            "ingestion_job_id": ingestion_job_id,
            "created_at": now,
            "updated_at": now,
        }
        for prediction, new_id in zip(predictions, generate_ids(len(predictions)), strict=True)
    ]
    if not rows:
        return {}
    statement = insert(Prediction).on_conflict_do_nothing()
    returning = statement.returning(Prediction.artifact_id, Prediction.id)
    return {row.artifact_id: row.id for row in db.session().execute(returning, rows)}


def get_provider() -> Provider:
    """Return the settings of the current organization's AI provider."""
    statement = select(Organization.settings, Organization.ai_provider_key).where(
        Organization.id == tenancy.current_organization_id()
    )
    settings, key = db.session().execute(statement).one()
    provider = settings.get("ai_provider", {})
    kind = provider.get("kind", "builtin")
    return Provider(kind, provider.get("base_url"), provider.get("model"), key)


def is_ai_assisted(schema_id: UUID) -> bool:
    """Return whether a schema has AI assistance turned on."""
    statement = select(exists().where(ArtifactSchema.id == schema_id)
                       .where(ArtifactSchema.ai_assist_enabled))  # fmt: skip
    return bool(db.session().scalar(statement))
