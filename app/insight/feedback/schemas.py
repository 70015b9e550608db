"""Request and response schemas for feedback."""

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
_MAX_FIELD_LENGTH = 129

_VALUE_DESCRIPTION = "The value in the format of tags. For a span or region, the list of evidence."
_RATE = "Between 0 and 1; null if the denominator is 0."


class _Decimal(fields.Float):
    """A number in a query string: digits, optionally with a decimal point and more digits."""

    def _deserialize(self, value: object, *_: object, **__: object) -> float:
        # `float` also accepts 1_0, spaces, nan, and the digits of every script.
        if not isinstance(value, str) or _DECIMAL.fullmatch(value) is None:
            raise self.make_error("invalid")
        return float(value)


class NewFeedback(Schema):
    """A report on how one prediction compares with the correct value.

    Omit `predicted` if the model missed the value. Omit `correct` if no value is correct.
    """

    artifact_id = Uuid(required=True)
    field = Str(
        required=True,
        min_length=1,
        max_length=_MAX_FIELD_LENGTH,
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
        description="The name and version of the model.",
    )
    predicted = Any_(allow_none=True, description=_VALUE_DESCRIPTION)
    correct = Any_(allow_none=True, description=_VALUE_DESCRIPTION)
    confidence = Float(
        allow_none=True, validate=Range(0, 1), description="The confidence of the model, 0 to 1."
    )
    tag_set_id = Uuid(allow_none=True, description="The tag set that has the correct value.")


class NewFeedbackList(Schema):
    """The request body that creates feedback from up to 1,000 reports."""

    items = List(Nested(NewFeedback), required=True, max_items=MAX_ITEMS)


class Feedback(Response):
    """Feedback on one prediction, with the outcome of the comparison."""

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
    updated_at = UtcDateTime(
        attribute="created_at",
        dump_only=True,
        description="The same as `created_at`: feedback does not change.",
    )


class FeedbackItemOutcome(Response):
    """The result of one item. For a failed item, `code`, `message` and `field` give the reason."""

    index = Int(description="The position of the item in the request, counted from 0.")
    ok = Bool()
    id = Uuid(allow_none=True, description="The id of the created feedback.")
    outcome = Str(allow_none=True, description="The outcome of comparing the values.")
    code = Str(allow_none=True)
    message = Str(allow_none=True)
    field = Str(allow_none=True, description="The invalid property.")


class FeedbackBulkResult(Response):
    """The results of a bulk request. `outcomes` has the result of each report, in their order."""

    succeeded = Int(description="The number of reports that were recorded.")
    failed = Int(description="The number of reports that were not recorded.")
    outcomes = List(Nested(FeedbackItemOutcome))


class FeedbackQuery(Schema):
    """Filters for the feedback to summarize."""

    schema_id = Uuid()
    model = Str(max_length=MAX_MODEL_LENGTH)
    field = Str(max_length=_MAX_FIELD_LENGTH)
    labeler_id = Uuid(
        data_key="labeler",
        description="Only feedback on tag sets of this labeler. Reviewers in teams may filter only"
        " by members of their teams, and callers below the reviewer role only by themselves.",
    )
    first = Date(data_key="from", description="The first day, in UTC.")
    end = Date(data_key="to", description="The day after the last day, in UTC.")


class SummaryQuery(FeedbackQuery):
    """Filters for the feedback to summarize, and the interval of the trend."""

    interval = Str(
        load_default="month",
        validate=OneOf(["month", "day"]),
        description="The trend's interval. `day` requires `from` and a period of up to 366 days.",
    )


class FieldsQuery(FeedbackQuery):
    """Filters for the feedback to summarize, and the precision that thresholds must reach."""

    target_precision = _Decimal(
        load_default=0.95,
        validate=Range(0, 1),
        metadata={"description": "The precision that recommended thresholds must reach, 0 to 1."},
    )


class Figures(Response):
    """The number of compared values by outcome, and the rates computed from them."""

    predictions = Int(description="The number of predicted values.")
    correct = Int(description="The number of predicted values that are correct.")
    corrected = Int(description="The number of predicted values replaced with another value.")
    missed = Int(description="The number of correct values that were not predicted.")
    spurious = Int(description="The number of values predicted where there should be no value.")
    precision = Float(allow_none=True, description=f"`correct` / `predictions`. {_RATE}")
    recall = Float(
        allow_none=True, description=f"`correct` / (`correct` + `corrected` + `missed`). {_RATE}"
    )
    f1 = Float(allow_none=True, description="The harmonic mean of precision and recall.")
    accuracy = Float(allow_none=True, description=f"`correct` / the sum of all outcomes. {_RATE}")
    ci_low = Float(allow_none=True, description="The lower 95% Wilson bound of the accuracy.")
    ci_high = Float(allow_none=True, description="The upper 95% Wilson bound of the accuracy.")


class ModelFigures(Figures):
    """The metrics of one model."""

    model = Str()


class TrendFigures(Figures):
    """The metrics of one day or month."""

    date = Date(description="The day, or the first day of the month.")


class FeedbackCriteria(Response):
    """The filters that the summarized feedback matches."""

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
        description="The 200 models with the most predictions, most predictions first.",
    )
    model_count = Int(description="The total number of models.")
    trend = List(Nested(TrendFigures))


class CalibrationBin(Response):
    """The predictions with a confidence from `low` to `high`."""

    low = Float()
    high = Float()
    predictions = Int()
    correct = Int()
    confidence = Float(description="The mean confidence.")
    accuracy = Float(description="The fraction of predictions that are correct.")
    ci_low = Float(allow_none=True, description="The lower 95% Wilson bound of the accuracy.")
    ci_high = Float(allow_none=True, description="The upper 95% Wilson bound of the accuracy.")


class Calibration(Response):
    """A comparison of confidence and accuracy. Predictions that nobody has checked are left out."""

    predictions = Int()
    expected_calibration_error = Float(allow_none=True)
    bins = List(Nested(CalibrationBin))


class RecommendedThreshold(Response):
    """The lowest confidence at which the lower bound of the precision reaches the target."""

    value = Float(description="The recommended threshold.")
    precision = Float(description="The precision of predictions with at least this confidence.")
    ci_low = Float(description="The lower 95% Wilson bound of the precision.")
    ci_high = Float(description="The upper 95% Wilson bound of the precision.")
    predictions = Int(description="The number of predictions with at least this confidence.")
    coverage = Float(description="The fraction of predictions that have at least this confidence.")


class CalibratedFigures(Figures):
    """The metrics of predictions, with a calibration and a recommended confidence threshold."""

    calibration = Nested(Calibration)
    recommended_threshold = Nested(RecommendedThreshold, allow_none=True)


class FieldFigures(CalibratedFigures):
    """The metrics of one field."""

    schema_id = Uuid()
    field = Str()


class FeedbackByField(FeedbackCriteria):
    """The accuracy of models by field, with calibration."""

    target_precision = Float()
    total = Nested(CalibratedFigures)
    fields = List(
        Nested(FieldFigures), description="At most 1,000 fields, sorted by schema and field."
    )
    field_count = Int(description="The total number of fields.")
