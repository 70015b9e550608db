"""Response schemas of predictions."""

from app.kit.api.fields import Int, List, Nested, OneOf, Response, Str, UtcDateTime, Uuid
from app.workflow.predictions.models import PredictionStatus
from app.workflow.tag_sets.schemas.records import Tag

_MODEL_VERSION = (
    "The version of the model, or of the built-in rules (`rules-N`) that apply until a model is"
    " trained."
)


class PredictionError(Response):
    """The reason why a prediction failed."""

    code = Str()
    message = Str()


class Prediction(Response):
    """A requested prediction. The artifact's property `prediction` shows its status."""

    id = Uuid()
    artifact_id = Uuid()
    schema_id = Uuid()
    schema_version_id = Uuid()
    status = Str(validate=OneOf(tuple(PredictionStatus)))
    model = Str(allow_none=True, description="`builtin`, or the name of the organization's model.")
    model_version = Str(allow_none=True, description=_MODEL_VERSION)
    error = Nested(PredictionError, allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()


class PredictedTags(Response):
    """The tags that a model or the built-in rules proposed for an artifact."""

    id = Uuid()
    artifact_id = Uuid()
    schema_id = Uuid()
    schema_version_id = Uuid()
    source = Str(validate=OneOf(("model",)))
    model = Str(allow_none=True, description="`builtin`, or the name of the organization's model.")
    model_version = Str(allow_none=True, description=_MODEL_VERSION)
    tags = List(Nested(Tag))
    tag_count = Int()
    created_at = UtcDateTime()
    completed_at = UtcDateTime(allow_none=True)
