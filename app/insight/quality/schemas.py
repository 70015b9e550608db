"""Query and response schemas for quality metrics."""

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
    """A period of whole days in the organization's time zone; by default the last 30 days."""

    first = Date(data_key="from", description="The first day, inclusive.")
    end = Date(
        data_key="to", description="The day after the last day. A period has at most 1,830 days."
    )
    schema_id = Uuid()


class LabelerFilters(QualityPeriodQuery):
    """Filters for the list of labelers."""

    team_id = Uuid(description="Only members of this team.")
    user_id = Uuid(description="Only this labeler.")


class TrendsQuery(QualityPeriodQuery):
    """The metric to return, with its buckets, groups and filters."""

    metric = Str(validate=OneOf(tuple(METRICS)), load_default="agreement")
    bucket = Str(
        validate=OneOf(BUCKETS),
        load_default="day",
        description=(
            "The length of a bucket; weeks begin on Monday. A period with more than 400 buckets is"
            " refused."
        ),
    )
    group_by = Str(
        validate=OneOf(GROUPS),
        description="One series per group; by default, one series. `field` requires `schema_id`.",
    )
    field = Str(
        max_length=200, description="The key of a field, or `table.column`; requires `schema_id`."
    )
    team_id = Uuid()
    labeler_id = Uuid()


class QualityRate(Response):
    """A fraction from 0 to 1 with its 95% Wilson interval and its sample size `n`.

    If `n` is 0, the other properties are null.
    """

    value = Float(allow_none=True)
    ci_low = Float(allow_none=True)
    ci_high = Float(allow_none=True)
    n = Int()


class QualityReference(Response):
    """The id and the name of a schema."""

    id = Uuid()
    name = Str()


class QualityUser(Response):
    """The id, name and email address of a user."""

    id = Uuid()
    name = Str()
    email = Str()


class Throughput(Response):
    """The number of submissions, and the number of review decisions by outcome."""

    submitted = Int()
    accepted = Int(description="The number of tag sets accepted by reviewers without corrections.")
    corrected = Int(description="The number of tag sets accepted by reviewers with corrections.")
    rejected = Int()
    auto_accepted = Int(description="The number of tag sets accepted without a reviewer.")


class Speed(Response):
    """The labeling speed, computed from the `timed` tag sets, which have a recorded time."""

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

    The sample size `n` is the number of compared documents in `agreement`, of decisions in
    `acceptance_rate`, of acceptances in `correction_rate`, and of tag sets on gold documents in
    `gold_accuracy`. For roles below reviewer, `gold_accuracy` includes only whole weeks that have
    ended and have at least 10 tag sets on gold documents of the schema, and has a value for only
    the 20 schemas with the most of these tag sets.
    """

    schema = Nested(QualityReference)
    agreement = Nested(QualityRate)
    acceptance_rate = Nested(QualityRate)
    correction_rate = Nested(QualityRate)
    gold_accuracy = Nested(QualityRate)
    throughput = Nested(Throughput)
    speed = Nested(Speed)


class LatestQuality(QualityPeriod):
    """Metrics of each schema that was worked on in the period, sorted by name."""

    schemas = List(Nested(SchemaQuality))
    truncated = Bool(description="Whether schemas after the first 500 were left out.")


class FieldQuality(Response):
    """Metrics of one field.

    `correction_rate` is the fraction of accepted tag sets in which a reviewer changed the field.
    `model_accuracy` is the fraction of correct prediction outcomes; its days are in UTC.
    """

    schema = Nested(QualityReference)
    field = Str()
    type = Str()
    removed = Bool(description="Whether the field is missing from the current schema version.")
    correction_rate = Nested(QualityRate)
    agreement = Nested(QualityRate)
    model_accuracy = Nested(QualityRate)


class FieldWarning(Response):
    """The reason why metrics of a field were omitted."""

    schema_id = Uuid()
    field = Str()
    message = Str()


class FieldQualities(QualityPeriod):
    """Metrics of each field that was labeled in the period."""

    fields = List(Nested(FieldQuality))
    warnings = List(Nested(FieldWarning))
    truncated = Bool(
        description="Whether fields after the first 500 are left out. If so, filter by `schema_id`."
    )


class LabelerQuality(Response):
    """Metrics of one labeler; `id` is the user id."""

    id = Uuid()
    user = Nested(QualityUser)
    acceptance_rate = Nested(QualityRate)
    correction_rate = Nested(QualityRate)
    gold_accuracy = Nested(QualityRate)
    agreement = Nested(QualityRate)
    throughput = Nested(Throughput)
    speed = Nested(Speed)


class ReviewerQuality(Response):
    """Decisions of one reviewer; `id` is the user id.

    `leniency` is the acceptance rate minus the acceptance rate of all other reviewers together.
    """

    id = Uuid()
    user = Nested(QualityUser)
    decisions = Int()
    accepted = Int()
    corrected = Int()
    rejected = Int()
    overturned = Nested(QualityRate, description="The fraction of decisions that were overturned.")
    acceptance_rate = Nested(QualityRate)
    peer_acceptance_rate = Nested(QualityRate)
    leniency = Float(allow_none=True)


class TrendPoint(QualityRate):
    """The metric in one bucket. The first and the last bucket are clipped to the period.

    The interval is null if the metric is not a fraction. `value` is null if `n` is 0, except that
    `throughput` is 0.
    """

    first = Date(data_key="from")
    end = Date(data_key="to")


class TrendSeries(Response):
    """The metric of one group over time; `key` and `name` are null without `group_by`."""

    key = Str(allow_none=True)
    name = Str(allow_none=True)
    points = List(Nested(TrendPoint))


class QualityTrends(QualityPeriod):
    """A metric over time, for the 20 groups with the largest sample size (`n`)."""

    metric = Str()
    bucket = Str(description="The length of a bucket.")
    group_by = Str(allow_none=True)
    series = List(Nested(TrendSeries))
    warnings = List(Nested(FieldWarning))
    truncated = Bool(description="Whether groups after the first 20 were left out.")
