"""Route that requests a prediction."""

from uuid import UUID

from app.kit.api.blueprint import Blueprint
from app.kit.principal import Caller
from app.workflow.predictions import schemas
from app.workflow.predictions.service import requesting

blueprint = Blueprint("predictions", tag="artifacts", record_type="artifacts")


@blueprint.post(
    "/artifacts/{artifact_id}/predict",
    permission="predictions:create",
    returns=schemas.Prediction,
    status=202,
)
def predict_artifact(caller: Caller, artifact_id: UUID) -> object:
    """Predict an artifact's tags.

    Queues a prediction. The tags are predicted by the organization's own model server, by a model
    that was trained on the organization's accepted tag sets, or, before the first model is trained,
    by rules. The artifact's property `prediction` shows the status. After the prediction is
    completed, a draft can start from its tags. While a prediction is queued, other requests return
    the same prediction. Responds with 409 `conflict` and `details.state` if the artifact is being
    processed, has failed or is archived, or if its schema is not active; with 409 `conflict` and
    `details.missing` if the artifact has no schema, or if AI assistance is turned off for the
    schema; and with 402 `plan_limit_reached` if the plan allows no more pages.
    """
    return requesting.request(artifact_id, requested_by=caller.user_id)
