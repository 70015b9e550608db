"""Questions and answers of workload."""

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

_OTHERS = {"description": "Of label sets submitted for the last time that day."}


class WorkReference(Schema):
    """A document or a schema."""

    id = Uuid(required=True)
    name = Str(required=True)


class Assignment(Schema):
    """Something to do. `id` is the document's where it is to label, the label set's where it is to
    review. `team_id` is set where it is there for the caller by a team only."""

    id = Uuid(required=True)
    kind = Str(required=True, validate=OneOf(("label", "review")))
    artifact = Nested(WorkReference, required=True)
    schema = Nested(WorkReference, required=True, allow_none=True)
    tag_set_id = Uuid(
        required=True,
        allow_none=True,
        metadata={"description": "The caller's draft, or the label set to review."},
    )
    team_id = Uuid(required=True, allow_none=True)
    priority = Int(required=True)
    due_at = UtcDateTime(required=True, allow_none=True)
    overdue = Bool(required=True)
    claimed_until = UtcDateTime(required=True, allow_none=True)


class AssignmentFilters(Schema):
    """Filters of one's own list."""

    kind = Str(validate=OneOf(("label", "review")))
    schema_id = Uuid()
    team_id = Uuid()
    due_before = UtcDateTime()


class PeriodQuery(Schema):
    """Days as the caller's time zone counts them; without any, the last 30."""

    first = Date(data_key="from", metadata={"description": "The first day."})
    last = Date(data_key="to", metadata={"description": "The last day; at most 366 in all."})


class WorkPerson(Schema):
    """Who works."""

    id = Uuid(required=True)
    email = Str(required=True)
    name = Str(required=True)


class MemberWorkload(Schema):
    """A member's work: `open` is to_label and to_review, `finished` labeled and reviewed."""

    user = Nested(WorkPerson, required=True)
    role = Str(required=True, validate=OneOf(("lead", "member")))
    open = Int(required=True)
    overdue = Int(required=True)
    finished = Int(required=True)
    to_label = Int(required=True)
    to_review = Int(required=True)
    labeled = Int(required=True)
    reviewed = Int(required=True)


class WaitingWork(Schema):
    """Assigned to the team, and begun by nobody."""

    open = Int(required=True)
    overdue = Int(required=True)


class WorkTotals(Schema):
    """The sums: what waits, and what the members have."""

    open = Int(required=True)
    overdue = Int(required=True)
    finished = Int(required=True)


class TeamWorkload(Schema):
    """A team's open and overdue work, and what was finished in the period."""

    team_id = Uuid(required=True)
    time_zone = Str(required=True)
    first = Date(required=True, data_key="from")
    last = Date(required=True, data_key="to")
    members = List(Nested(MemberWorkload), required=True)
    waiting = Nested(WaitingWork, required=True)
    totals = Nested(WorkTotals, required=True)


class ActivityCounts(Schema):
    """What was submitted, what came of it, and what was decided on label sets of others."""

    submitted = Int(required=True)
    accepted = Int(required=True, metadata={"description": "As they were."})
    corrected = Int(required=True, metadata={"description": "Accepted with corrections."})
    rejected = Int(required=True)
    pending = Int(required=True)
    reviewed = Int(required=True)
    seconds_spent = Int(required=True, metadata=_OTHERS)


class ActivityDay(ActivityCounts):
    """A day of work."""

    date = Date(required=True)


class Activity(Schema):
    """What the caller did in the period. Rates are in 0..1, null where nothing was decided; speed
    is null where no label set tells how long it took."""

    time_zone = Str(required=True)
    first = Date(required=True, data_key="from")
    last = Date(required=True, data_key="to")
    days = List(Nested(ActivityDay), required=True)
    totals = Nested(ActivityCounts, required=True)
    acceptance_rate = Float(required=True, allow_none=True)
    unchanged_rate = Float(required=True, allow_none=True)
    median_seconds = Float(required=True, allow_none=True)
    label_sets_per_hour = Float(required=True, allow_none=True)
