"""SQL queries for trained models."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import delete, func, select, update

from app.kit import db
from app.workflow.predictions.models import ExtractionModel, ModelState


class StoredModel(NamedTuple):
    """A trained model with its content and MAC. Both are None if training failed."""

    id: UUID
    schema_version_id: UUID
    version: str
    content: bytes | None
    mac: str | None


class ModelRow(NamedTuple):
    """A trained model in a list for operators; `size_bytes` is None if training failed."""

    id: UUID
    schema_version_id: UUID
    version: str
    state: str
    document_count: int
    f1: float | None
    error: dict[str, Any] | None
    size_bytes: int | None
    created_at: object
    activated_at: object


def find_active_id(schema_version_id: UUID) -> UUID | None:
    """Return the id of a schema version's active model, or None if there is none."""
    statement = select(ExtractionModel.id).where(
        ExtractionModel.schema_version_id == schema_version_id,
        ExtractionModel.state == ModelState.ACTIVE,
    )
    return db.session().scalar(statement)


def find_model(model_id: UUID) -> StoredModel | None:
    """Return a model with its content, or None if the model does not exist."""
    columns = db.build_columns(StoredModel._fields, ExtractionModel)
    return db.find_row(StoredModel, select(*columns).where(ExtractionModel.id == model_id))


def find_model_id(schema_version_id: UUID, version: str) -> UUID | None:
    """Return the id of a schema version's model with this `version` and without error, or None."""
    statement = select(ExtractionModel.id).where(
        ExtractionModel.schema_version_id == schema_version_id,
        ExtractionModel.version == version,
        ExtractionModel.error.is_(None),
    )
    return db.session().scalars(statement.limit(1)).first()


def get_latest_document_count(schema_version_id: UUID) -> int:
    """Return the document count of a schema version's latest training run; 0 if there is none."""
    statement = (
        select(ExtractionModel.document_count)
        .where(ExtractionModel.schema_version_id == schema_version_id)
        .order_by(ExtractionModel.created_at.desc(), ExtractionModel.id.desc())
        .limit(1)
    )
    return db.session().scalars(statement).first() or 0


def insert_model(values: dict[str, Any]) -> UUID:
    """Insert a model and return its id."""
    model = ExtractionModel(**values)
    db.session().add(model)
    db.session().flush()
    return model.id


def set_state(model_id: UUID, state: ModelState) -> None:
    """Set the state of a model. Activating a model also removes its error."""
    values: dict[str, Any] = {"state": state.value}
    if state is ModelState.ACTIVE:
        values |= {"activated_at": db.utc_now(), "error": None}
    statement = update(ExtractionModel).where(ExtractionModel.id == model_id).values(**values)
    db.execute_bulk(statement)


def retire_active_model(model_id: UUID, error: dict[str, str]) -> bool:
    """Retire a model with `error` as the reason; return False if the model is not active."""
    statement = (
        update(ExtractionModel)
        .where(ExtractionModel.id == model_id, ExtractionModel.state == ModelState.ACTIVE)
        .values(state=ModelState.RETIRED.value, error=error)
        .returning(ExtractionModel.id)
    )
    return db.execute_bulk(statement).scalar() is not None


def list_models(schema_id: UUID) -> list[ModelRow]:
    """Return the models of all versions of a schema, newest first."""
    size_bytes = func.octet_length(ExtractionModel.content)
    columns = db.build_columns(ModelRow._fields, ExtractionModel, size_bytes=size_bytes)
    statement = select(*columns).where(ExtractionModel.schema_id == schema_id)
    statement = statement.order_by(ExtractionModel.created_at.desc(), ExtractionModel.id.desc())
    return [ModelRow._make(row) for row in db.session().execute(statement)]


def list_model_states(schema_version_id: UUID) -> list[tuple[UUID, str]]:
    """Return (id, state) for each model of a schema version, newest first."""
    statement = (
        select(ExtractionModel.id, ExtractionModel.state)
        .where(ExtractionModel.schema_version_id == schema_version_id)
        .order_by(ExtractionModel.created_at.desc(), ExtractionModel.id.desc())
    )
    return [(row.id, row.state) for row in db.session().execute(statement)]


def list_models_trained_on(artifact_ids: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
    """Return (id, schema_version_id) for each model that was trained on one of the documents."""
    statement = select(ExtractionModel.id, ExtractionModel.schema_version_id).where(
        ExtractionModel.artifact_ids.overlap(list(artifact_ids))
    )
    return [(row.id, row.schema_version_id) for row in db.session().execute(statement)]


def delete_models(model_ids: Sequence[UUID]) -> None:
    """Delete the models with these ids."""
    statement = delete(ExtractionModel).where(ExtractionModel.id.in_(model_ids))
    db.execute_bulk(statement)
