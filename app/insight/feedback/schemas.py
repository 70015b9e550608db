"""Request and response schemas of feedback."""

import re

from marshmallow import fields
from marshmallow.validate import Range

from app.engines.fields import MAX_ROW
from app.insight.feedback.models import FeedbackOutcome
from app.insight.feedback.service.automatic import MAX_MODEL_LENGTH
from app.kit.api.fields import (
    Any_,
    Bool,
    Date,
    Float,
    Int,
    List,
    Nested,
    OneOf,
    Response,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)

MAX_ITEMS = 1000
_DECIMAL = re.compile(r"[0-9]{1,9}(\.[0-9]{1,17})?")
_FIELD_LENGTH = 129

_VALUE = "The value as in a tag; for a span or a region, its list of evidence."
_RATE = "Between 0 and 1; null if nothing was counted."


class _Share(fields.Float):
    """A number in a query string: digits with an optional fraction."""

    def _deserialize(self, value: object, *_: object, **__: object) -> float:
        # `float` also accepts 1_0, spaces, nan, and the digits of every script.
        if not isinstance(value, str) or _DECIMAL.fullmatch(value) is None:
            raise self.make_error("invalid")
        return float(value)


class NewFeedback(Schema):
    """A report on how one prediction compares with the correct value.

    Without `predicted`, the model missed the value; without `correct`, no value is correct.
    """

    artifact_id = Uuid(required=True)
    field = Str(
        required=True,
        min_length=1,
        max_length=_FIELD_LENGTH,
        description="The key of a field, or `table.column`.",
    )
    row = Int(
        allow_none=True,
        maximum=MAX_ROW,
        description="The row of a table, counted from 0; required for a table column.",
    )
    model = Str(
        required=True,
        min_length=1,
        max_length=MAX_MODEL_LENGTH,
        description="The model and its version.",
    )
    predicted = Any_(allow_none=True, description=_VALUE)
    correct = Any_(allow_none=True, description=_VALUE)
    confidence = Float(
        allow_none=True, validate=Range(0, 1), description="The confidence of the model, 0 to 1."
    )
    tag_set_id = Uuid(allow_none=True, description="The tag set that has the correct value.")


class NewFeedbackList(Schema):
    """A list of up to 1,000 reports."""

    items = List(Nested(NewFeedback), required=True, max_items=MAX_ITEMS)


class Feedback(Response):
    """Feedback on one prediction."""

    id = Uuid()
    artifact_id = Uuid()
    schema_id = Uuid()
    field = Str()
    row = Int(allow_none=True)
    model = Str()
    predicted = Any_(allow_none=True)
    correct = Any_(allow_none=True)
    outcome = Str(validate=OneOf([outcome.value for outcome in FeedbackOutcome]))
    confidence = Float(allow_none=True)
    tag_set_id = Uuid(allow_none=True)
    created_at = UtcDateTime()


class FeedbackItemOutcome(Response):
    """The outcome of one report. If it failed, `code`, `message` and `field` explain why."""

    index = Int(description="The position of the report in the request, counted from 0.")
    ok = Bool()
    id = Uuid(allow_none=True)
    outcome = Str(allow_none=True)
    code = Str(allow_none=True)
    message = Str(allow_none=True)
    field = Str(allow_none=True)


class FeedbackBulkResult(Response):
    """The outcomes of a request, one for each report, in the order of the reports."""

    succeeded = Int()
    failed = Int()
    outcomes = List(Nested(FeedbackItemOutcome))


class FeedbackQuery(Schema):
    """Filters of the feedback to summarize."""

    schema_id = Uuid()
    model = Str(max_length=MAX_MODEL_LENGTH)
    field = Str(max_length=_FIELD_LENGTH)
    labeler_id = Uuid(
        data_key="labeler",
        description=(
            "Only tag sets of this labeler. Reviewers in a team may name only its members, and"
            " callers below reviewer only themselves."
        ),
    )
    first = Date(data_key="from", description="The first day, in UTC.")
    end = Date(data_key="to", description="The day after the last day, in UTC.")


class SummaryQuery(FeedbackQuery):
    """Filters of the feedback to summarize, and the interval of the trend."""

    interval = Str(
        load_default="month",
        validate=OneOf(["month", "day"]),
        description="The step of the trend. `day` needs `from` and a period of at most 366 days.",
    )


class FieldsQuery(FeedbackQuery):
    """Filters of the feedback to summarize, and the precision that thresholds must reach."""

    target_precision = _Share(
        load_default=0.95,
        validate=Range(0, 1),
        metadata={"description": "The minimum for the lower bound of the precision, 0 to 1."},
    )


class Figures(Response):
    """Numbers of compared values by outcome, and rates."""

    predictions = Int(description="The number of predicted values.")
    correct = Int()
    corrected = Int(description="The number of predicted values that another value replaced.")
    missed = Int(description="The number of correct values that were not predicted.")
    spurious = Int(description="The number of predicted values where no value is correct.")
    precision = Float(allow_none=True, description=f"The share of correct predictions. {_RATE}")
    recall = Float(allow_none=True, description=f"The share of correct values predicted. {_RATE}")
    f1 = Float(allow_none=True)
    accuracy = Float(allow_none=True, description=f"The correct share of compared values. {_RATE}")
    ci_low = Float(
        allow_none=True, description="The lower bound of the accuracy (Wilson, level 0.95)."
    )
    ci_high = Float(allow_none=True, description="The upper bound of the accuracy.")


class ModelFigures(Figures):
    """The figures of a model."""

    model = Str()


class TrendFigures(Figures):
    """The figures of a day or month."""

    date = Date(description="The day, or the first day of the month.")


class FeedbackCriteria(Response):
    """The filters of the summarized feedback."""

    schema_id = Uuid(allow_none=True)
    model = Str(allow_none=True)
    field = Str(allow_none=True)
    labeler_id = Uuid(allow_none=True, data_key="labeler")
    first = Date(allow_none=True, data_key="from")
    end = Date(allow_none=True, data_key="to")


class FeedbackSummary(FeedbackCriteria):
    """The accuracy of models: in total, by model and over time."""

    interval = Str()
    total = Nested(Figures)
    models = List(
        Nested(ModelFigures),
        description="The 200 models with the most predictions, in descending order.",
    )
    model_count = Int(description="The number of all models.")
    trend = List(Nested(TrendFigures))


class CalibrationBin(Response):
    """The predictions with a confidence from `low` to `high`."""

    low = Float()
    high = Float()
    predictions = Int()
    correct = Int()
    confidence = Float(description="The mean confidence.")
    accuracy = Float(description="The share of correct predictions.")
    ci_low = Float(allow_none=True)
    ci_high = Float(allow_none=True)


class Calibration(Response):
    """The calibration of confidences. Predictions that nobody checked do not count."""

    predictions = Int()
    expected_calibration_error = Float(allow_none=True)
    bins = List(Nested(CalibrationBin))


class RecommendedThreshold(Response):
    """The lowest confidence at which the lower bound of the precision reaches the target."""

    value = Float()
    precision = Float()
    ci_low = Float()
    ci_high = Float()
    predictions = Int(description="The number of predictions with at least this confidence.")
    coverage = Float(description="The share of predictions that have at least this confidence.")


class CalibratedFigures(Figures):
    """Figures with their calibration."""

    calibration = Nested(Calibration)
    recommended_threshold = Nested(RecommendedThreshold, allow_none=True)


class FieldFigures(CalibratedFigures):
    """The figures of a field."""

    schema_id = Uuid()
    field = Str()


class FeedbackByField(FeedbackCriteria):
    """The accuracy of models by field, with calibration."""

    target_precision = Float()
    total = Nested(CalibratedFigures)
    fields = List(
        Nested(FieldFigures), description="At most 1,000 fields, sorted by schema and field."
    )
    field_count = Int(description="The number of all fields.")


class ModelsQuery(Schema):
    """Filters of the list of models."""

    schema_id = Uuid()
    compare_with = Str(
        max_length=MAX_MODEL_LENGTH,
        description="The model to compare with; by default the previous model of the same schema.",
    )


class ModelComparison(Response):
    """The comparison with another model on the same documents, by a paired bootstrap of F1."""

    model = Str()
    documents = Int(description="The number of compared documents; at most the newest 1,000.")
    f1 = Float(allow_none=True)
    other_f1 = Float(allow_none=True)
    difference = Float(allow_none=True)
    ci_low = Float(allow_none=True)
    ci_high = Float(allow_none=True)
    p_value = Float(allow_none=True)
    verdict = Str()


class FeedbackModel(ModelFigures):
    """The accuracy of a model of one schema, over time and compared with another model."""

    schema_id = Uuid()
    first_date = Date()
    last_date = Date()
    trend = List(Nested(TrendFigures), description="The figures of each month.")
    comparison = Nested(ModelComparison, allow_none=True)
