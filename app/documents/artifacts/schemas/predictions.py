"""Response schemas for the prediction that an artifact shows."""

from app.kit.api.fields import Nested, OneOf, Response, Str, Uuid


class ArtifactPredictionError(Response):
    """The reason why the prediction failed."""

    code = Str()
    message = Str()


class ArtifactPrediction(Response):
    """The latest prediction of the artifact's tags, with its status."""

    id = Uuid()
    status = Str(validate=OneOf(("queued", "completed", "failed")))
    model_version = Str(
        allow_none=True,
        description="The version of the model. Null until the prediction is completed.",
    )
    error = Nested(ArtifactPredictionError, allow_none=True)
