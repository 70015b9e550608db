"""Request and response schemas for drift."""

from app.insight.drift.models import DetectionStatus, DriftMetric, DriftSubject, ReportStatus
from app.kit.api.fields import (
    Bool,
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

_FIX_BASELINE_DESCRIPTION = (
    "`true`: fix this baseline, so that daily detections and later requests without a baseline use"
    " it. `false`: delete the fixed baseline."
)
_DETECTION_ID_DESCRIPTION = (
    "Only reports that this detection created or confirmed. Responds with 409 until the detection"
    " is completed."
)


class DriftFilters(Schema):
    """Filters for the list of drift reports."""

    schema_id = Uuid()
    status = Str(validate=OneOf(tuple(ReportStatus)))
    subject = Str(validate=OneOf(tuple(DriftSubject)))
    field = Str(max_length=64)
    metric = Str(validate=OneOf(tuple(DriftMetric)))
    detection_id = Uuid(description=_DETECTION_ID_DESCRIPTION)


class DriftPeriod(Schema):
    """A period that starts at `from` and ends before `to`."""

    start = UtcDateTime(data_key="from", required=True)
    end = UtcDateTime(data_key="to", required=True)


class DetectDrift(Schema):
    """The schema and the periods to compare."""

    schema_id = Uuid(required=True)
    baseline = Nested(
        DriftPeriod,
        description=(
            "By default, the schema's fixed baseline. If there is none, the 28 days before the"
            " current period, or before the earliest shift that has an open report."
        ),
    )
    current = Nested(DriftPeriod, description="By default, the last 7 days.")
    fix_baseline = Bool(description=_FIX_BASELINE_DESCRIPTION)


class ComparedPeriod(Response):
    """A compared period, which starts at `from` and ends before `to`."""

    start = UtcDateTime(data_key="from")
    end = UtcDateTime(data_key="to")


class DriftDetection(Response):
    """A drift detection. To get its results, list the drift reports with `detection_id`."""

    id = Uuid()
    schema_id = Uuid()
    status = Str(validate=OneOf(tuple(DetectionStatus)))
    baseline = Nested(ComparedPeriod)
    current = Nested(ComparedPeriod)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()


class DriftSample(ComparedPeriod):
    """The size and the summary value of a sample of values from one period."""

    n = Int(description="The size of the sample.")
    value = Float(
        description="The rate, the relative frequency of `category`, or the median of the values or"
        " of their lengths. Dates are counted in days before the review decision, times of day in"
        " hours, and lengths in characters."
    )


class DriftReport(Response):
    """A shift of a metric between a baseline sample and a current sample."""

    id = Uuid()
    schema_id = Uuid()
    detection_id = Uuid(description="The detection that created the report.")
    subject = Str(validate=OneOf(tuple(DriftSubject)))
    field = Str(allow_none=True, description="Null if the report is about the schema as a whole.")
    metric = Str(validate=OneOf(tuple(DriftMetric)))
    labeler_id = Uuid(
        allow_none=True,
        description=(
            "The labeler that the report is about. The baseline is the work of the labeler's peers"
            " or, after an acknowledged shift, the labeler's own earlier work."
        ),
    )
    category = Str(
        allow_none=True,
        description=(
            "The field value whose frequency has changed most; null if the metric is a rate or its"
            " values are numeric."
        ),
    )
    test = Str(validate=OneOf(("chi_square", "fisher_exact", "kolmogorov_smirnov")))
    baseline = Nested(DriftSample)
    current = Nested(DriftSample)
    p_value = Float()
    q_value = Float(description="The p-value, adjusted for all comparisons of the detection.")
    effect = Float(description="The population stability index, corrected for the sample sizes.")
    js_distance = Float(description="The Jensen-Shannon distance, between 0 and 1.")
    warnings = List(Str())
    status = Str(validate=OneOf(tuple(ReportStatus)))
    confirmed_at = UtcDateTime(description="The time at which a detection last found the shift.")
    acknowledged_by = Uuid(allow_none=True)
    acknowledged_at = UtcDateTime(allow_none=True)
    closed_at = UtcDateTime(allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()
