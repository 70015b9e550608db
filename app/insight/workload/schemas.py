"""Request and response schemas for workloads, assignments and activity."""

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
    UtcDateTime,
    Uuid,
)

_ACCEPTED_FRACTION = "The fraction of decided submissions that were accepted"


class WorkloadReference(Response):
    """The id and the name of an artifact or a schema."""

    id = Uuid()
    name = Str()


class Assignment(Response):
    """A document to label or a tag set to review.

    `id` is the id of the artifact to label, or of the tag set to review. `team_id` is set if the
    document is assigned to the caller only through a team.
    """

    id = Uuid()
    kind = Str(validate=OneOf(("label", "review")))
    artifact = Nested(WorkloadReference)
    schema = Nested(WorkloadReference, allow_none=True)
    tag_set_id = Uuid(allow_none=True, description="The caller's draft, or the tag set to review.")
    team_id = Uuid(allow_none=True)
    priority = Int()
    due_at = UtcDateTime(allow_none=True)
    overdue = Bool()
    claimed_until = UtcDateTime(allow_none=True)


class AssignmentFilters(Schema):
    """Filters for the caller's assignments."""

    kind = Str(validate=OneOf(("label", "review")))
    schema_id = Uuid()
    team_id = Uuid(description="Only documents with this `team_id`, and no tag sets to review.")
    due_before = UtcDateTime()


class PeriodQuery(Schema):
    """A period of whole days in the caller's time zone; by default, the last 30 days."""

    first = Date(data_key="from", description="The first day.")
    end = Date(
        data_key="to",
        description="The day after the last day. The period must not exceed 366 days.",
    )


class WorkloadUser(Response):
    """The id, email address and name of a member."""

    id = Uuid()
    email = Str()
    name = Str()


class MemberWorkload(Response):
    """The workload of one member.

    `open` is the sum of `to_label` and `to_review`; `finished` is the sum of `labeled` and
    `reviewed`.
    """

    user = Nested(WorkloadUser)
    role = Str(validate=OneOf(("lead", "member")))
    open = Int()
    overdue = Int()
    finished = Int()
    to_label = Int()
    to_review = Int()
    labeled = Int(description="The number of submissions in the period.")
    reviewed = Int(description="The number of review decisions in the period.")


class PendingWork(Response):
    """The numbers of documents that are assigned to the whole team and that nobody has begun."""

    open = Int()
    overdue = Int()


class WorkloadTotals(PendingWork):
    """The totals of all members' work and of the work that nobody has begun."""

    finished = Int()


class TeamWorkload(Response):
    """Open and overdue work of a team, and the work that was finished in the period."""

    team_id = Uuid()
    time_zone = Str()
    first = Date(data_key="from")
    end = Date(data_key="to")
    members = List(Nested(MemberWorkload))
    waiting = Nested(PendingWork)
    totals = Nested(WorkloadTotals)


class ActivityCounts(Response):
    """The number of the caller's submissions by outcome, and of the caller's review decisions.

    The outcomes `accepted`, `corrected`, `rejected`, `merged` and `pending` add up to `submitted`.
    """

    submitted = Int()
    accepted = Int(description="Submissions that were accepted without corrections.")
    corrected = Int(description="Submissions that were accepted with corrections.")
    rejected = Int()
    merged = Int(description="Submissions that were replaced by an accepted merge.")
    pending = Int()
    reviewed = Int()
    seconds_spent = Int(
        description="The seconds spent on tag sets, counted on the day of their last submission."
    )


class ActivityDay(ActivityCounts):
    """The activity on one day."""

    date = Date()


class Activity(Response):
    """The activity of the caller in the period.

    A submission is decided if it was rejected, or accepted with or without corrections. Rates are
    between 0 and 1, and null if no submission is decided. The median and the number per hour are
    null if no tag set has a recorded time.
    """

    time_zone = Str()
    first = Date(data_key="from")
    end = Date(data_key="to")
    days = List(Nested(ActivityDay))
    totals = Nested(ActivityCounts)
    acceptance_rate = Float(allow_none=True, description=f"{_ACCEPTED_FRACTION}.")
    unchanged_rate = Float(
        allow_none=True, description=f"{_ACCEPTED_FRACTION} without corrections."
    )
    median_seconds = Float(allow_none=True, description="The median labeling time of a tag set.")
    label_sets_per_hour = Float(allow_none=True, description="Tag sets per hour of recorded time.")
