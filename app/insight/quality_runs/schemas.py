"""Request and response schemas for quality runs."""

from marshmallow.validate import Length

from app.engines.agreement.metrics import Metric
from app.insight.quality_runs.models import RunStatus
from app.kit.api.fields import (
    Any_,
    Float,
    Int,
    List,
    Nested,
    OneOf,
    QueryInt,
    Response,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)

STATUSES = tuple(RunStatus)
METRICS = tuple(metric for metric in Metric if metric != Metric.GWET_AC2)
"""The metrics that a run can compute. Gwet's AC2 is left out, because it needs weights."""
MAX_FIELDS = 500
MAX_NAME_LENGTH = 129
"""The maximum number of characters in a field name or in `table.column`."""
DEFAULT_VALUE_COUNT = 50
MAX_VALUE_COUNT = 100

_TO_DESCRIPTION = "The end of the period, exclusive. For a future time, the current time is used."
_FROM_DESCRIPTION = (
    "The start of the period that the run must cover. The response states the run's period."
)
_CI_LOW_DESCRIPTION = "The lower bound of the 95% bootstrap interval; if null, a warning says why."


class ComputeQuality(Schema):
    """The schema, fields, metrics and period for which to compute the agreement."""

    schema_id = Uuid(required=True)
    fields_ = List(
        Str(min_length=1, max_length=MAX_NAME_LENGTH),
        data_key="fields",
        attribute="fields",
        load_default=list,
        max_items=MAX_FIELDS,
        description="The keys of fields; table columns as `table.column`. By default, all fields.",
    )
    metrics = List(
        Str(validate=OneOf(METRICS)),
        load_default=list,
        validate=Length(max=len(METRICS)),
        description=(
            "By default, percent, cohen_kappa, fleiss_kappa, krippendorff_alpha and f1. For each"
            " field, only metrics that suit its type are computed."
        ),
    )
    start = UtcDateTime(
        data_key="from",
        description="The start of the period in which tag sets were submitted, inclusive.",
    )
    end = UtcDateTime(data_key="to", description=_TO_DESCRIPTION)


class RunProgress(Response):
    """The progress of a run, updated about once a second while it is running."""

    done = Int(
        description="The number of tag sets read. A run may read each tag set several times."
    )
    total = Int(allow_none=True)
    rate_per_second = Float(allow_none=True)
    eta_seconds = Int(allow_none=True)


class RunError(Response):
    """The reason why a run failed."""

    code = Str()
    message = Str()


class AgreementResult(Response):
    """An agreement coefficient for one field over all labelers."""

    field = Str()
    metric = Str()
    value = Float(
        allow_none=True,
        description="Null if the value is undefined; a warning then gives the reason.",
    )
    ci_low = Float(allow_none=True, description=_CI_LOW_DESCRIPTION)
    ci_high = Float(allow_none=True)
    units = Int(description="The number of compared units. A unit is the field in one document.")
    documents = Int(description="The number of documents that at least two labelers labeled.")
    raters = Int(description="The number of labelers.")


class PairMember(Response):
    """One of the two labelers of a pair."""

    id = Uuid()
    name = Str()


class AgreementPair(Response):
    """An agreement coefficient for one field between two labelers.

    Administrators, and reviewers without a team, see all pairs. Reviewers in teams see the pairs
    that include a member of their teams; `b` is null if `b` is not a member. Labelers see only
    their own pairs; `b` is null. Viewers see no pairs.
    """

    a = Nested(PairMember, allow_none=True)
    b = Nested(
        PairMember, allow_none=True, description="Null if the caller may not see this labeler."
    )
    field = Str()
    metric = Str()
    value = Float(allow_none=True)
    ci_low = Float(
        allow_none=True,
        description="Null if there are more than twelve labelers, if the labelers share only one"
        " document, or if `value` is undefined for the pair or for most bootstrap resamples.",
    )
    ci_high = Float(allow_none=True)
    units = Int(description="The number of documents that both labelers labeled.")


class RunWarning(Response):
    """A warning about a limitation of the results, or about data that was left out."""

    code = Str()
    field = Str(allow_none=True)
    message = Str()


class QualityRunSummary(Response):
    """A quality run without its results."""

    id = Uuid()
    schema_id = Uuid()
    fields_ = List(
        Str(),
        data_key="fields",
        attribute="fields",
        description="The keys of the requested fields; an empty list means all fields.",
    )
    metrics = List(Str())
    starts_at = UtcDateTime(
        data_key="from",
        allow_none=True,
        description="Null if the period begins with the first tag set.",
    )
    ends_at = UtcDateTime(data_key="to")
    status = Str(validate=OneOf(STATUSES))
    progress = Nested(RunProgress)
    error = Nested(RunError, allow_none=True)
    created_by = Uuid(allow_none=True, description="Null for a run that the service started.")
    started_at = UtcDateTime(allow_none=True)
    finished_at = UtcDateTime(allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()


class QualityRun(QualityRunSummary):
    """A quality run with its results, which are empty until it is completed."""

    results = List(Nested(AgreementResult))
    pairs = List(Nested(AgreementPair))
    warnings = List(Nested(RunWarning))


class RunFilters(Schema):
    """Filters for the list of runs."""

    schema_id = Uuid()
    status = Str(validate=OneOf(STATUSES))


class AgreementQuery(Schema):
    """The field, metric and period of the requested agreement results."""

    schema_id = Uuid(required=True)
    field = Str(min_length=1, max_length=MAX_NAME_LENGTH)
    metric = Str(validate=OneOf(METRICS))
    start = UtcDateTime(data_key="from", description=_FROM_DESCRIPTION)
    end = UtcDateTime(data_key="to", description=_TO_DESCRIPTION)


class RunBasedResponse(Response):
    """A response based on the results of a run; `run_id` is null if no run matches the query."""

    schema_id = Uuid()
    run_id = Uuid(allow_none=True)
    computed_at = UtcDateTime(allow_none=True)
    starts_at = UtcDateTime(
        data_key="from",
        allow_none=True,
        description="Null if the period begins with the first tag set.",
    )
    ends_at = UtcDateTime(data_key="to", allow_none=True)


class Agreement(RunBasedResponse):
    """The agreement results by field and by pair of labelers."""

    results = List(Nested(AgreementResult))
    pairs = List(Nested(AgreementPair))
    warnings = List(Nested(RunWarning))


class ConfusionQuery(Schema):
    """The field of a confusion matrix, and the period that the run must cover."""

    schema_id = Uuid(required=True)
    field = Str(required=True, min_length=1, max_length=MAX_NAME_LENGTH)
    against = Str(
        validate=OneOf(("labelers", "accepted")),
        load_default="labelers",
        description=(
            "`labelers`: compare each pair of labelers of a document; the matrix is symmetric."
            " `accepted`: compare each labeler (rows) with the accepted value (columns), except in"
            " gold documents."
        ),
    )
    limit = QueryInt(
        minimum=1,
        maximum=MAX_VALUE_COUNT,
        load_default=DEFAULT_VALUE_COUNT,
        description="The maximum number of values. All less frequent values are combined into one.",
    )
    start = UtcDateTime(data_key="from", description=_FROM_DESCRIPTION)
    end = UtcDateTime(data_key="to", description=_TO_DESCRIPTION)


class ConfusionMatrix(RunBasedResponse):
    """The confusion matrix of a choice field."""

    field = Str()
    against = Str()
    values = List(
        Str(allow_none=True),
        description="The values, most frequent first; null stands for no value.",
    )
    other_values = Int(
        description="The number of less frequent values, combined in the last row and column."
    )
    counts = List(List(Int()), description="Rows and columns in the order of `values`.")
    units = Int(description="The number of comparisons.")


class DisagreementFilters(Schema):
    """Filters for the list of disagreements."""

    schema_id = Uuid()
    field = Str(
        min_length=1,
        max_length=MAX_NAME_LENGTH,
        description="The key of a field; requires `schema_id`.",
    )


class DisagreementArtifact(Response):
    """The document on which labelers disagree."""

    id = Uuid()
    name = Str()


class DisagreementAnswer(Response):
    """An answer, with the number of labelers who gave it."""

    value = Any_(
        allow_none=True,
        description="A list if the field allows several values. Long values are truncated.",
    )
    count = Int()


class Disagreement(Response):
    """A field of a document on which labelers disagree. If the result changes, the id changes."""

    id = Uuid()
    artifact = Nested(DisagreementArtifact)
    schema_id = Uuid()
    field = Str()
    disagreement = Float(
        description="One minus the mean agreement of all pairs of labelers, from 0 to 1."
    )
    raters = Int(description="The number of labelers.")
    answers = List(Nested(DisagreementAnswer), description="The ten most frequent answers.")
    compared_at = UtcDateTime(description="The time of the first comparison with this result.")
    created_at = UtcDateTime(attribute="compared_at", dump_only=True)
    updated_at = UtcDateTime(attribute="compared_at", dump_only=True)
