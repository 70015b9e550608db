"""Request and response schemas of workload."""

from app.kit.api.fields import (
    Bool,
    Date,
    Float,
    Int,
    List,
    Nested,
    OneOf,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)

_SECONDS_SPENT = {
    "description": "Time spent on tag sets, on the day of their last submission in the period."
}


class WorkloadReference(Schema):
    """Id and name of an artifact or a schema."""

    id = Uuid(required=True)
    name = Str(required=True)


class Assignment(Schema):
    """A document to label or a tag set to review.

    `id` is the id of the artifact to label, or of the tag set to review. `team_id` is set if the
    document is assigned to the caller only through this team.
    """

    id = Uuid(required=True)
    kind = Str(required=True, validate=OneOf(("label", "review")))
    artifact = Nested(WorkloadReference, required=True)
    schema = Nested(WorkloadReference, required=True, allow_none=True)
    tag_set_id = Uuid(
        required=True,
        allow_none=True,
        metadata={"description": "The caller's draft, or the tag set to review."},
    )
    team_id = Uuid(required=True, allow_none=True)
    priority = Int(required=True)
    due_at = UtcDateTime(required=True, allow_none=True)
    overdue = Bool(required=True)
    claimed_until = UtcDateTime(required=True, allow_none=True)


class AssignmentFilters(Schema):
    """Filters of the caller's assignments."""

    kind = Str(validate=OneOf(("label", "review")))
    schema_id = Uuid()
    team_id = Uuid()
    due_before = UtcDateTime()


class PeriodQuery(Schema):
    """A period in days of the caller's time zone; by default the last 30 days."""

    first = Date(data_key="from", metadata={"description": "The first day."})
    last = Date(
        data_key="to", metadata={"description": "The last day; a period has at most 366 days."}
    )


class WorkloadUser(Schema):
    """Id, email address and name of a member."""

    id = Uuid(required=True)
    email = Str(required=True)
    name = Str(required=True)


class MemberWorkload(Schema):
    """Workload of one member.

    `open` is the sum of `to_label` and `to_review`; `finished` is the sum of `labeled` and
    `reviewed`.
    """

    user = Nested(WorkloadUser, required=True)
    role = Str(required=True, validate=OneOf(("lead", "member")))
    open = Int(required=True)
    overdue = Int(required=True)
    finished = Int(required=True)
    to_label = Int(required=True)
    to_review = Int(required=True)
    labeled = Int(required=True)
    reviewed = Int(required=True)


class PendingWork(Schema):
    """Work that is assigned to the team as a whole and that nobody has begun."""

    open = Int(required=True)
    overdue = Int(required=True)


class WorkloadTotals(PendingWork):
    """Sums over all members and the work that nobody has begun."""

    finished = Int(required=True)


class TeamWorkload(Schema):
    """Open and overdue work of a team, and the work that was finished in the period."""

    team_id = Uuid(required=True)
    time_zone = Str(required=True)
    first = Date(required=True, data_key="from")
    last = Date(required=True, data_key="to")
    members = List(Nested(MemberWorkload), required=True)
    waiting = Nested(PendingWork, required=True)
    totals = Nested(WorkloadTotals, required=True)


class ActivityCounts(Schema):
    """Numbers of the caller's submissions, by outcome, and of their review decisions."""

    submitted = Int(required=True)
    accepted = Int(required=True, metadata={"description": "Accepted without corrections."})
    corrected = Int(required=True, metadata={"description": "Accepted with corrections."})
    rejected = Int(required=True)
    pending = Int(required=True)
    reviewed = Int(required=True)
    seconds_spent = Int(required=True, metadata=_SECONDS_SPENT)


class ActivityDay(ActivityCounts):
    """Activity of one day."""

    date = Date(required=True)


class Activity(Schema):
    """Activity of the caller in the period.

    Rates are between 0 and 1, and null without decisions. The median and the number per hour are
    null if no tag set has a recorded time.
    """

    time_zone = Str(required=True)
    first = Date(required=True, data_key="from")
    last = Date(required=True, data_key="to")
    days = List(Nested(ActivityDay), required=True)
    totals = Nested(ActivityCounts, required=True)
    acceptance_rate = Float(required=True, allow_none=True)
    unchanged_rate = Float(required=True, allow_none=True)
    median_seconds = Float(required=True, allow_none=True)
    label_sets_per_hour = Float(required=True, allow_none=True)
