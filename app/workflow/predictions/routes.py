"""Route that requests a prediction."""

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

    Queues a prediction by the model that was trained on the organization's accepted tag sets, by
    rules before the first training, or by the organization's own model server. The artifact's
    property `prediction` shows the status. After the prediction is completed, a draft can start
    from its tags. While a prediction is queued, further requests return the same prediction. The
    request fails with 409 `conflict` and `details.state` if the artifact is being processed, has
    failed or is archived, or if its schema is not active; and with `details.missing` if the
    artifact has no schema, or if its schema has AI assistance turned off.
    """
    return service.request(artifact_id, requested_by=caller.user_id)
