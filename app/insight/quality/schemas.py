"""Query and response schemas of quality metrics."""

from marshmallow import ValidationError, validates_schema

from app.insight.quality.service.rates import METRICS
from app.kit.api.fields import (
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
    Uuid,
)

BUCKETS = ("day", "week", "month")
GROUPS = ("schema", "field", "team", "labeler")


class QualityPeriodQuery(Schema):
    """A period in days of the organization's time zone; by default the last 30 days."""

    first = Date(data_key="from", description="The first day, inclusive.")
    end = Date(data_key="to", description="The end, exclusive; a period has at most 1,830 days.")
    schema_id = Uuid()

    @validates_schema
    def _check_period(self, data: dict[str, object], **_: object) -> None:
        if "first" in data and data["first"] == data.get("end"):
            raise ValidationError("The period is empty; the end is exclusive.", "to")


class LabelerFilters(QualityPeriodQuery):
    """Filters of labelers' figures."""

    team_id = Uuid(description="Members of this team.")
    user_id = Uuid(description="This labeler.")


class TrendsQuery(QualityPeriodQuery):
    """A metric, its buckets and groups."""

    metric = Str(validate=OneOf(tuple(METRICS)), load_default="agreement")
    bucket = Str(
        validate=OneOf(BUCKETS),
        load_default="day",
        description="At most 400 buckets; weeks begin on Monday.",
    )
    group_by = Str(
        validate=OneOf(GROUPS),
        description="One series for each group; without it, one series. `field` needs `schema_id`.",
    )
    field = Str(max_length=200, description="Full name of a field; needs `schema_id`.")
    team_id = Uuid()
    labeler_id = Uuid()


class QualityRate(Response):
    """A share (0 to 1) with its 95 % Wilson interval and sample size `n`; null without cases."""

    value = Float(allow_none=True)
    ci_low = Float(allow_none=True)
    ci_high = Float(allow_none=True)
    n = Int()


class QualityReference(Response):
    """Id and name of a schema."""

    id = Uuid()
    name = Str()


class QualityUser(Response):
    """Id, name and email address of a user."""

    id = Uuid()
    name = Str()
    email = Str()


class Throughput(Response):
    """Numbers of submissions, and of decisions on them."""

    submitted = Int()
    accepted = Int(description="Accepted by reviewers without corrections.")
    corrected = Int(description="Accepted by reviewers with corrections.")
    rejected = Int()
    auto_accepted = Int(description="Accepted without a reviewer.")


class Speed(Response):
    """Labeling time of the tag sets that have a recorded time; null without any."""

    timed = Int()
    mean_seconds = Float(allow_none=True)
    tag_sets_per_hour = Float(allow_none=True)


class QualityPeriod(Response):
    """The period that a response covers."""

    time_zone = Str()
    first = Date(data_key="from")
    end = Date(data_key="to")


class SchemaQuality(Response):
    """Metrics of one schema.

    `agreement` has the compared documents as its sample size, `acceptance_rate` and
    `correction_rate` the decisions, `gold_accuracy` the tag sets of gold documents. Below reviewer,
    `gold_accuracy` is null unless the period is whole weeks or months that have ended, with at
    least 10 tag sets.
    """

    schema = Nested(QualityReference)
    agreement = Nested(QualityRate)
    acceptance_rate = Nested(QualityRate)
    correction_rate = Nested(QualityRate)
    gold_accuracy = Nested(QualityRate)
    throughput = Nested(Throughput)
    speed = Nested(Speed)


class LatestQuality(QualityPeriod):
    """Metrics of each schema that was worked on in the period, by name."""

    schemas = List(Nested(SchemaQuality))
    truncated = Bool(description="There are more than 500 schemas.")


class FieldQuality(Response):
    """Metrics of one field.

    `correction_rate` is the share of accepted tag sets in which a reviewer changed the field.
    """

    schema = Nested(QualityReference)
    field = Str()
    type = Str()
    removed = Bool(description="The current version does not have this field.")
    correction_rate = Nested(QualityRate)
    agreement = Nested(QualityRate)
    model_accuracy = Nested(QualityRate)


class FieldWarning(Response):
    """The reason why figures of a field were omitted."""

    schema_id = Uuid()
    field = Str()
    message = Str()


class FieldQualities(QualityPeriod):
    """Metrics of each field that was labeled in the period."""

    fields = List(Nested(FieldQuality))
    warnings = List(Nested(FieldWarning))
    truncated = Bool(description="There are more than 500 fields; name a schema.")


class LabelerQuality(Response):
    """Metrics of one labeler; `id` is the user's."""

    id = Uuid()
    user = Nested(QualityUser)
    acceptance_rate = Nested(QualityRate)
    correction_rate = Nested(QualityRate)
    gold_accuracy = Nested(QualityRate)
    agreement = Nested(QualityRate)
    throughput = Nested(Throughput)
    speed = Nested(Speed)


class ReviewerQuality(Response):
    """Decisions of one reviewer; `id` is the user's.

    `leniency` is the acceptance rate minus that of all other reviewers together.
    """

    id = Uuid()
    user = Nested(QualityUser)
    decisions = Int()
    accepted = Int()
    corrected = Int()
    rejected = Int()
    overturned = Nested(QualityRate)
    acceptance_rate = Nested(QualityRate)
    peer_acceptance_rate = Nested(QualityRate)
    leniency = Float(allow_none=True)


class TrendPoint(QualityRate):
    """The metric in one bucket; the first and the last are cut to the period."""

    first = Date(data_key="from")
    end = Date(data_key="to")


class TrendSeries(Response):
    """The metric of one group over time; `key` is null without groups."""

    key = Str(allow_none=True)
    name = Str(allow_none=True)
    points = List(Nested(TrendPoint))


class QualityTrends(QualityPeriod):
    """A metric over time, for the 20 groups with the most cases."""

    metric = Str()
    bucket = Str()
    group_by = Str(allow_none=True)
    series = List(Nested(TrendSeries))
    warnings = List(Nested(FieldWarning))
    truncated = Bool()
