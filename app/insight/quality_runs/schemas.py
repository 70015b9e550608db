"""Request and response schemas of quality runs."""

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
"""Gwet's AC2 needs weights, which a run does not have."""
MAX_FIELDS = 500
MAX_NAME = 129
"""The length of `table.column`."""
DEFAULT_VALUES = 50
MAX_VALUES = 100

_TO = "The end of the period, exclusive. An end in the future becomes now."
_COVERED = "The run must cover the period from here; the response says which period it has."
_CI = "Bounds of the 95 % confidence interval, from a bootstrap over documents."


class ComputeQuality(Schema):
    """A request to compute the agreement of labelers."""

    schema_id = Uuid(required=True)
    fields_ = List(
        Str(min_length=1, max_length=MAX_NAME),
        data_key="fields",
        attribute="fields",
        load_default=list,
        max_items=MAX_FIELDS,
        description="Fields by key, columns of tables as `table.column`. By default all.",
    )
    metrics = List(
        Str(validate=OneOf(METRICS)),
        load_default=list,
        validate=Length(max=len(METRICS)),
        description=(
            "By default percent, cohen_kappa, fleiss_kappa, krippendorff_alpha and f1. Each field"
            " has those of them that suit its type."
        ),
    )
    start = UtcDateTime(
        data_key="from",
        description="Start of the period in which tag sets were submitted, inclusive.",
    )
    end = UtcDateTime(data_key="to", description=_TO)


class RunProgress(Response):
    """The progress of a run, updated about once a second while it is running."""

    done = Int(description="Tag sets that were read, once for each pass over them.")
    total = Int(allow_none=True)
    rate_per_second = Float(allow_none=True)
    eta_seconds = Int(allow_none=True)


class RunError(Response):
    """The reason why a run failed."""

    code = Str()
    message = Str()


class AgreementResult(Response):
    """A coefficient of one field over all labelers."""

    field = Str()
    metric = Str()
    value = Float(allow_none=True, description="Null if it is undefined; a warning says why.")
    ci_low = Float(allow_none=True, description=_CI)
    ci_high = Float(allow_none=True)
    units = Int(description="Units that at least two labelers labeled.")
    documents = Int(description="Documents with such units.")
    raters = Int(description="Labelers.")


class PairMember(Response):
    """One of two labelers."""

    id = Uuid()
    name = Str()


class AgreementPair(Response):
    """A coefficient of one field between two labelers.

    Reviewers see all pairs; those in a team see the pairs of its members, in which `b` is null if
    it is not a member. A labeler sees their own, in which `b` is null. Viewers see none.
    """

    a = Nested(PairMember, allow_none=True)
    b = Nested(PairMember, allow_none=True, description="Null if the caller may not know it.")
    field = Str()
    metric = Str()
    value = Float(allow_none=True)
    ci_low = Float(allow_none=True, description="Null if there are more than twelve labelers, too.")
    ci_high = Float(allow_none=True)
    units = Int(description="Units that both labeled.")


class RunWarning(Response):
    """A reason to read results with care, or what was left out."""

    code = Str()
    field = Str(allow_none=True)
    message = Str()


class QualityRunSummary(Response):
    """A quality run without its results."""

    id = Uuid()
    schema_id = Uuid()
    fields_ = List(
        Str(), data_key="fields", attribute="fields", description="The requested fields."
    )
    metrics = List(Str())
    starts_at = UtcDateTime(
        data_key="from", allow_none=True, description="Null: from the first tag set."
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
    """Filters of the list of runs."""

    schema_id = Uuid()
    status = Str(validate=OneOf(STATUSES))
    created_after = UtcDateTime()
    created_before = UtcDateTime()


class AgreementQuery(Schema):
    """The filters of the agreement."""

    schema_id = Uuid(required=True)
    field = Str(min_length=1, max_length=MAX_NAME)
    metric = Str(validate=OneOf(METRICS))
    start = UtcDateTime(data_key="from", description=_COVERED)
    end = UtcDateTime(data_key="to", description=_TO)


class FromRun(Response):
    """The run that a response is taken from; null if no completed run covers the query."""

    schema_id = Uuid()
    run_id = Uuid(allow_none=True)
    computed_at = UtcDateTime(allow_none=True)
    starts_at = UtcDateTime(
        data_key="from", allow_none=True, description="Null: from the first tag set."
    )
    ends_at = UtcDateTime(data_key="to", allow_none=True)


class Agreement(FromRun):
    """The agreement by field and by pair of labelers."""

    results = List(Nested(AgreementResult))
    pairs = List(Nested(AgreementPair))
    warnings = List(Nested(RunWarning))


class ConfusionQuery(Schema):
    """The selection of a confusion matrix."""

    schema_id = Uuid(required=True)
    field = Str(required=True, min_length=1, max_length=MAX_NAME)
    against = Str(
        validate=OneOf(("labelers", "accepted")),
        load_default="labelers",
        description=(
            "`labelers`: each two labelers of a document, symmetric. `accepted`: each labeler"
            " (rows) against the accepted value (columns), without gold documents."
        ),
    )
    limit = QueryInt(
        minimum=1,
        maximum=MAX_VALUES,
        load_default=DEFAULT_VALUES,
        description="The number of the most frequent values; all others are summed as one.",
    )
    start = UtcDateTime(data_key="from", description=_COVERED)
    end = UtcDateTime(data_key="to", description=_TO)


class ConfusionMatrix(FromRun):
    """The confusion matrix of a choice field."""

    field = Str()
    against = Str()
    values = List(Str(allow_none=True), description="Most frequent first. Null: no value.")
    other_values = Int(
        description="If not 0, the last row and column sum up so many less frequent values."
    )
    counts = List(List(Int()), description="Rows and columns in the order of `values`.")
    units = Int(description="Comparisons.")


class DisagreementFilters(Schema):
    """Filters of the list of disagreements."""

    schema_id = Uuid()
    field = Str(min_length=1, max_length=MAX_NAME, description="Needs `schema_id`.")


class DisagreementArtifact(Response):
    """The document of a disagreement."""

    id = Uuid()
    name = Str()


class DisagreementAnswer(Response):
    """An answer, and how many labelers gave it."""

    value = Any_(allow_none=True, description="A list if several are allowed. Long values are cut.")
    count = Int()


class Disagreement(Response):
    """A field of a document on which labelers disagree."""

    id = Uuid()
    artifact = Nested(DisagreementArtifact)
    schema_id = Uuid()
    field = Str()
    disagreement = Float(
        description="One minus the mean agreement of each two labelers, from 0 to 1."
    )
    raters = Int(description="Labelers.")
    answers = List(Nested(DisagreementAnswer), description="The ten most frequent.")
    compared_at = UtcDateTime()
