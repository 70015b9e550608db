"""Store trained models: their authentication, activation, and removal."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from uuid import UUID

from app.engines.extraction import InvalidModel, load_model
from app.kit import container, db, errors, tenancy
from app.kit.logging import get_logger
from app.workflow.predictions.models import ModelState
from app.workflow.predictions.queries import models
from app.workflow.predictions.queries.models import ModelRow, StoredModel

if TYPE_CHECKING:
    from app.engines.extraction.trained import TrainedModel

_PURPOSE = "extraction-model"
_LOADED_MODELS = 4
KEPT = 5
"""The number of inactive models of a schema version that are kept for a rollback."""

log = get_logger(__name__)


def build_mac(schema_version_id: UUID, version: str, content: bytes) -> str:
    """Return the MAC of a model's content, bound to its organization and schema version."""
    return container.keyring().sign(_PURPOSE, _bind(schema_version_id, version, content)).hex()


def _bind(schema_version_id: UUID, version: str, content: bytes) -> bytes:
    organization = tenancy.current_organization_id()
    return f"{organization}\0{schema_version_id}\0{version}\0".encode() + content


def find_verified_content(model_id: UUID) -> bytes | None:
    """Return a model's content, or None if it is missing or its MAC does not verify."""
    stored = models.find_content(model_id)
    if stored is None or stored.content is None or stored.mac is None:
        return None
    return stored.content if _is_authentic(stored, stored.content, stored.mac) else None


def _is_authentic(stored: StoredModel, content: bytes, mac: str) -> bool:
    payload = _bind(stored.schema_version_id, stored.version, content)
    try:
        signature = bytes.fromhex(mac)
    except ValueError:
        signature = b""
    is_authentic = container.keyring().verify(_PURPOSE, payload, signature)
    if not is_authentic:
        log.error("extraction_model.not_authentic", model=str(stored.id))
    return is_authentic


def find_active(schema_version_id: UUID) -> "TrainedModel | None":
    """Return the active model of a schema version, or None if there is none that can be read."""
    model_id = models.find_active_id(schema_version_id)
    if model_id is None:
        return None
    return _load(tenancy.current_organization_id(), model_id)


@lru_cache(_LOADED_MODELS)
def _load(organization_id: UUID, model_id: UUID) -> "TrainedModel | None":  # noqa: ARG001 - part of the key
    content = find_verified_content(model_id)
    if content is None:
        return None
    try:
        return load_model(content)
    except InvalidModel:
        log.warning("extraction_model.outdated", model=str(model_id))
        return None


def save(values: dict[str, Any], *, activate: bool) -> UUID:
    """Store a model, activate it if `activate` is set, and delete the oldest inactive models."""
    version_id = values["schema_version_id"]
    if activate:
        _retire_active(version_id)
    state = ModelState.ACTIVE if activate else values.pop("state", ModelState.CANDIDATE)
    values = {**values, "state": state.value}
    if activate:
        values["activated_at"] = db.utc_now()
    model_id = models.insert_model(values)
    inactive = [
        row_id
        for row_id, row_state in models.list_ids_of_version(version_id)
        if row_state != ModelState.ACTIVE
    ]
    models.delete_models(inactive[KEPT:])
    return model_id


def _retire_active(schema_version_id: UUID) -> None:
    active = models.find_active_id(schema_version_id)
    if active is not None:
        models.set_state(active, ModelState.RETIRED)
        db.session().flush()


def activate(model_id: UUID) -> None:
    """Activate another model of a schema version. Raises 404, and 409 if it has no content."""
    stored = models.find_content(model_id)
    if stored is None:
        raise errors.not_found()
    if find_verified_content(model_id) is None:
        raise errors.conflict("This model has no valid content.", missing="content")
    _retire_active(stored.schema_version_id)
    models.set_state(model_id, ModelState.ACTIVE)


def list_versions(schema_id: UUID) -> list[ModelRow]:
    """Return the models of a schema, the newest first."""
    return models.list_versions(schema_id)


def delete_trained_on(artifact_ids: Sequence[UUID]) -> set[UUID]:
    """Delete the models that were trained on any of the documents.

    Returns the schema versions whose models are to be trained again.
    """
    found = models.list_trained_on(artifact_ids)
    models.delete_models([model_id for model_id, _ in found])
    return {version_id for _, version_id in found}
