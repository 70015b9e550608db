"""Request and response schemas of drift."""

from app.insight.drift.models import DetectionStatus, Metric, ReportStatus, Subject
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

_FIX = (
    "`true`: use this baseline in all later detections, including daily detections. `false`: delete"
    " the fixed baseline."
)
_DETECTION = "Only reports that this detection created or confirmed; 409 until it is completed."


class DriftFilters(Schema):
    """Filters of the list of drift reports."""

    schema_id = Uuid()
    status = Str(validate=OneOf(tuple(ReportStatus)))
    subject = Str(validate=OneOf(tuple(Subject)))
    field = Str(max_length=64)
    metric = Str(validate=OneOf(tuple(Metric)))
    detection_id = Uuid(description=_DETECTION)
    created_after = UtcDateTime()
    created_before = UtcDateTime()


class DriftPeriod(Schema):
    """A period; its end is exclusive."""

    start = UtcDateTime(data_key="from", required=True)
    end = UtcDateTime(data_key="to", required=True)


class DetectDrift(Schema):
    """The schema and the periods to compare."""

    schema_id = Uuid(required=True)
    baseline = Nested(
        DriftPeriod,
        description=(
            "By default the fixed baseline of the schema. Without a fixed baseline, the 28 days"
            " before the current period and before the shift of any open report."
        ),
    )
    current = Nested(DriftPeriod, description="By default the last 7 days.")
    fix_baseline = Bool(description=_FIX)


class ComparedPeriod(Response):
    """A period; its end is exclusive."""

    start = UtcDateTime(data_key="from")
    end = UtcDateTime(data_key="to")


class DriftDetection(Response):
    """A detection. List the reports with `detection_id` to get its results."""

    id = Uuid()
    schema_id = Uuid()
    status = Str(validate=OneOf(tuple(DetectionStatus)))
    baseline = Nested(ComparedPeriod)
    current = Nested(ComparedPeriod)
    created_at = UtcDateTime()


class DriftSample(ComparedPeriod):
    """A sample of a period."""

    n = Int(description="The size of the sample.")
    value = Float(
        description="The rate, the share of `category`, or the median. The median of dates is in"
        " days before the decision, and the median of times in hours."
    )


class DriftReport(Response):
    """A shift of a metric."""

    id = Uuid()
    schema_id = Uuid()
    detection_id = Uuid(description="The detection that created the report.")
    subject = Str(validate=OneOf(tuple(Subject)))
    field = Str(allow_none=True, description="Null for the schema as a whole.")
    metric = Str(validate=OneOf(tuple(Metric)))
    labeler_id = Uuid(
        allow_none=True,
        description="The labeler who differs from their peers. The peers' sample is the baseline.",
    )
    category = Str(allow_none=True, description="The value whose share has changed most.")
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
