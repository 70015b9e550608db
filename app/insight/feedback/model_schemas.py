"""Query and response schemas for the list of models."""

from app.insight.feedback.schemas import ModelFigures, TrendFigures
from app.insight.feedback.service.automatic import MAX_MODEL_LENGTH
from app.kit.api.fields import Bool, Date, Float, Int, List, Nested, Response, Schema, Str, Uuid


class ModelsQuery(Schema):
    """Query parameters of the list of models."""

    schema_id = Uuid()
    compare_with = Str(
        max_length=MAX_MODEL_LENGTH,
        description="The model to compare with; by default, the model of the same schema whose"
        " first feedback came just before.",
    )


class ModelComparison(Response):
    """The comparison with another model on the same documents, by a paired bootstrap of F1."""

    model = Str(description="The other model.")
    documents = Int(description="The number of compared documents; at most the newest 1,000.")
    f1 = Float(allow_none=True, description="The F1 score of the listed model.")
    other_f1 = Float(allow_none=True, description="The F1 score of the other model.")
    difference = Float(allow_none=True, description="`f1` minus `other_f1`.")
    ci_low = Float(allow_none=True, description="The lower 95% bound of `difference`.")
    ci_high = Float(allow_none=True, description="The upper 95% bound of `difference`.")
    p_value = Float(allow_none=True)
    verdict = Str(description="The result in words.")


class FeedbackModel(ModelFigures):
    """The accuracy of a model of one schema, over time and compared with another model."""

    schema_id = Uuid()
    first_date = Date(description="The day of the first feedback on the model, in UTC.")
    last_date = Date(description="The day of the last feedback on the model, in UTC.")
    trend = List(Nested(TrendFigures), description="The metrics of the model in each month.")
    comparison = Nested(
        ModelComparison,
        allow_none=True,
        description="Null if there is no other model, or if `comparison_omitted` is true.",
    )
    comparison_omitted = Bool(
        description="Whether the comparison was left out because a page has at most 10 comparisons."
        " Request a smaller page to compare this model."
    )
