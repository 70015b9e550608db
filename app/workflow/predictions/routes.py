"""Route of predictions."""

from uuid import UUID

from app.kit.api.blueprint import Blueprint
from app.kit.principal import Caller
from app.workflow.predictions import models, schemas, service

blueprint = Blueprint("predictions", tag="artifacts", records="artifacts")


@blueprint.post(
    "/artifacts/{artifact_id}/predict",
    permission="predictions:create",
    returns=schemas.Prediction,
    status=202,
)
def predict_artifact(caller: Caller, artifact_id: UUID) -> models.Prediction:
    """Predict an artifact's tags.

    Queues a prediction by the model that the organization's accepted tag sets have trained, by
    rules before the first training, or by the organization's own model server. The artifact's
    member `prediction` shows the state; a draft can start from the tags once it is completed. While
    a prediction is queued, that one is returned. An artifact that is being processed, has failed or
    is archived is refused with 409 conflict and details.state; one without a schema, or with a
    schema without AI assistance, with details.missing.
    """
    return service.request(artifact_id, requested_by=caller.user_id)
