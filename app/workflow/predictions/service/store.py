"""Storage of trained models: signing and verification of their bytes, activation and removal."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from uuid import UUID

from app.engines.extraction.model import InvalidModel
from app.kit import container, db, errors, tenancy
from app.kit.logging import get_logger
from app.workflow.predictions.models import ModelState
from app.workflow.predictions.queries import models
from app.workflow.predictions.queries.models import StoredModel

if TYPE_CHECKING:
    from app.engines.extraction.trained_model import TrainedModel

list_models = models.list_models

_MAC_PURPOSE = "extraction-model"
_MAX_LOADED_MODELS = 4
_MAX_CHECKED_MODELS = 1_000
MAX_INACTIVE_MODELS = 5
"""The maximum number of inactive models that are kept per schema version, for a rollback."""

log = get_logger(__name__)


def build_mac(schema_version_id: UUID, version: str, content: bytes) -> str:
    """Build the hexadecimal MAC of a model's content, version, organization and schema version."""
    return (
        container.keyring()
        .sign(_MAC_PURPOSE, _build_signed_payload(schema_version_id, version, content))
        .hex()
    )


def _build_signed_payload(schema_version_id: UUID, version: str, content: bytes) -> bytes:
    organization = tenancy.current_organization_id()
    return f"{organization}\0{schema_version_id}\0{version}\0".encode() + content


def find_verified_content(model_id: UUID) -> bytes | None:
    """Return a model's content, or None if it is missing or its MAC is invalid."""
    stored_model = models.find_model(model_id)
    if stored_model is None or stored_model.content is None or stored_model.mac is None:
        return None
    return (
        stored_model.content
        if _verify_mac(stored_model, stored_model.content, stored_model.mac)
        else None
    )


def _verify_mac(stored_model: StoredModel, content: bytes, mac: str) -> bool:
    payload = _build_signed_payload(stored_model.schema_version_id, stored_model.version, content)
    try:
        signature = bytes.fromhex(mac)
    except ValueError:
        signature = b""
    is_authentic = container.keyring().verify(_MAC_PURPOSE, payload, signature)
    if not is_authentic:
        log.error("extraction_model.not_authentic", model=str(stored_model.id))
    return is_authentic


class ModelUnreadable(Exception):  # noqa: N818 - named after the outcome
    """Raised if a model's content is missing, not authentic, or from an incompatible release."""

    def __init__(self, model_id: UUID) -> None:
        super().__init__(model_id)
        self.model_id = model_id


def find_active_model(schema_version_id: UUID) -> "TrainedModel | None":
    """Return the active model of a schema version, or None if there is no active model.

    Raises ModelUnreadable if the model cannot be read.
    """
    model_id = models.find_active_id(schema_version_id)
    if model_id is None:
        return None
    return _load_model(tenancy.current_organization_id(), model_id)


def check_active_model(schema_version_id: UUID) -> None:
    """Raise ModelUnreadable if a schema version has an active model that cannot be read."""
    model_id = models.find_active_id(schema_version_id)
    if model_id is not None:
        _check_model_once(tenancy.current_organization_id(), model_id)


# Reading an unreadable model raises an error, so only readable models are cached.
@lru_cache(_MAX_LOADED_MODELS)
def _load_model(organization_id: UUID, model_id: UUID) -> "TrainedModel":  # noqa: ARG001 - part of the key
    from app.engines.extraction.loading import read_model  # noqa: PLC0415 - loads numpy

    try:
        return read_model(_get_verified_content(model_id))
    except InvalidModel as error:
        raise ModelUnreadable(model_id) from error


@lru_cache(_MAX_CHECKED_MODELS)
def _check_model_once(organization_id: UUID, model_id: UUID) -> None:  # noqa: ARG001 - part of the key
    _check_model(model_id)


def _check_model(model_id: UUID) -> None:
    # Imported on first use, because it loads the extraction engine.
    from app.engines.extraction.contents import check_content  # noqa: PLC0415

    try:
        check_content(_get_verified_content(model_id))
    except InvalidModel as error:
        raise ModelUnreadable(model_id) from error


def _get_verified_content(model_id: UUID) -> bytes:
    content = find_verified_content(model_id)
    if content is None:
        raise ModelUnreadable(model_id)
    return content


def retire_unreadable_model(model_id: UUID) -> bool:
    """Retire an active model that cannot be read; return False if it is no longer active."""
    error = {"code": "unreadable", "message": "The model cannot be read by this release."}
    is_retired = models.retire_active_model(model_id, error)
    if is_retired:
        log.warning("extraction_model.unreadable", model=str(model_id))
    return is_retired


def save(values: dict[str, Any], *, activate: bool) -> UUID:
    """Save a model with these column values and return its id.

    If `activate` is set, the model replaces the active model. Otherwise, its state is
    `values["state"]`, or `candidate` if there is no such value. If the schema version then has more
    than MAX_INACTIVE_MODELS inactive models, the oldest of them are deleted.
    """
    version_id = values["schema_version_id"]
    if activate:
        _retire_active_model(version_id)
    state = ModelState.ACTIVE if activate else values.pop("state", ModelState.CANDIDATE)
    values = {**values, "state": state.value}
    if activate:
        values["activated_at"] = db.utc_now()
    model_id = models.insert_model(values)
    inactive_ids = [
        row_id
        for row_id, row_state in models.list_model_states(version_id)
        if row_state != ModelState.ACTIVE
    ]
    models.delete_models(inactive_ids[MAX_INACTIVE_MODELS:])
    return model_id


def _retire_active_model(schema_version_id: UUID) -> None:
    active_id = models.find_active_id(schema_version_id)
    if active_id is not None:
        models.set_state(active_id, ModelState.RETIRED)
        db.session().flush()


def activate(model_id: UUID) -> None:
    """Activate a model and retire the active model of the same schema version.

    Raises 404 if the model does not exist, or 409 if it has no valid content.
    """
    stored_model = errors.require_found(models.find_model(model_id))
    try:
        _check_model(model_id)
    except ModelUnreadable:
        raise errors.conflict(
            "This model has no valid content. Train a new model.", missing="content"
        ) from None
    _retire_active_model(stored_model.schema_version_id)
    models.set_state(model_id, ModelState.ACTIVE)


def delete_models_trained_on(artifact_ids: Sequence[UUID]) -> set[UUID]:
    """Delete the models trained on any of the documents, and return their schema version ids."""
    rows = models.list_models_trained_on(artifact_ids)
    models.delete_models([model_id for model_id, _ in rows])
    return {version_id for _, version_id in rows}
