"""Request and response schemas of the review queue."""

from marshmallow import validate

from app.kit.api import bulk
from app.kit.api.alternatives import AlternativesSchema
from app.kit.api.fields import (
    Bool,
    Date,
    Float,
    Int,
    List,
    Nested,
    OneOf,
    QueryBool,
    Response,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)
from app.workflow.predictions.schemas import PredictedTags
from app.workflow.tag_sets.models import FLAGS
from app.workflow.tag_sets.schemas.bodies import Reason
from app.workflow.tag_sets.schemas.records import Person, TagSet, TagSetSummary

ARTIFACT_SCHEMA = "app.documents.artifacts.schemas.documents.Artifact"
"""The registered name of the API schema `Artifact`, which this module must not import."""
MAX_EXCLUDED_ITEMS = 50
"""The maximum number of items that a request for the next review may exclude."""


class ArtifactReference(Response):
    """The id and name of a review item's artifact."""

    id = Uuid()
    name = Str()


class SchemaReference(Response):
    """The id and name of a schema."""

    id = Uuid()
    name = Str()


class ReviewClaim(Response):
    """A reviewer's claim on an item, with its expiry time."""

    user_id = Uuid()
    expires_at = UtcDateTime()


class Escalation(Response):
    """The user who escalated an item, the reason, and the time."""

    by = Uuid()
    reason = Str()
    at = UtcDateTime()


class ReviewItem(Response):
    """A tag set that is pending review. The item's id is the id of the tag set."""

    id = Uuid()
    tag_set = Nested(TagSetSummary)
    artifact = Nested(ArtifactReference)
    schema = Nested(SchemaReference)
    age_seconds = Int(description="Seconds since the tag set was submitted.")
    priority = Int(description="Priority of the document, 0 to 100.")
    due_at = UtcDateTime(
        allow_none=True,
        description="Due time of the review, or of the document if the review has none.",
    )
    claim = Nested(ReviewClaim, allow_none=True)
    assignee_id = Uuid(allow_none=True)
    assignee_team_id = Uuid(allow_none=True)
    escalated = Bool()
    escalation = Nested(Escalation, allow_none=True)
    flags = List(Str(validate=OneOf(FLAGS)))
    created_at = UtcDateTime()
    updated_at = UtcDateTime()


class ReviewItemDetail(ReviewItem):
    """A review item with its tags, artifact and prediction."""

    tag_set = Nested(TagSet)
    document = Nested(ARTIFACT_SCHEMA)
    prediction = Nested(
        PredictedTags,
        allow_none=True,
        description="The latest prediction of the document's tags.",
    )


class ReviewFilters(Schema):
    """Filters for the review queue."""

    schema_id = Uuid()
    assignee_id = Uuid()
    team_id = Uuid(description="The id of the team to which the item is assigned.")
    labeler_id = Uuid()
    claimed = QueryBool(description="Whether a reviewer has claimed the item.")
    mine = QueryBool(
        description="Whether the item is claimed by the caller, or assigned to the caller or one of"
        " the caller's teams."
    )
    escalated = QueryBool()
    flag = Str(validate=OneOf(FLAGS))
    created_after = UtcDateTime()
    created_before = UtcDateTime()


class NextReview(Schema):
    """Claim criteria for the next review; every field is optional."""

    schema_id = Uuid()
    flags = List(
        Str(validate=OneOf(FLAGS)),
        max_items=len(FLAGS),
        description="The item must have at least one of the listed flags.",
    )
    exclude = List(
        Uuid(),
        max_items=MAX_EXCLUDED_ITEMS,
        load_default=list,
        description="Ids of items to exclude, such as items that the client has prefetched.",
    )
    skip_held = Bool(
        load_default=False, description="Exclude the items that the caller has claimed."
    )


class EscalateReview(AlternativesSchema):
    """Request body to escalate an item to another reviewer or to a team, with a reason."""

    alternatives = (("user_id",), ("team_id",))

    team_id = Uuid()
    user_id = Uuid()
    reason = Reason()
    revision = Int(description="The revision of the tag set.")


class ReviewSelection(AlternativesSchema):
    """The selected items: up to 1,000 ids, or a filter and the expected number of matches.

    If the filter matches a different number of items, nothing is changed and the response is 409.
    """

    alternatives = (("tag_set_ids",), bulk.BY_FILTER)

    tag_set_ids = bulk.build_ids_field()
    filter = Nested(ReviewFilters)
    expected_count = Int()


class AssignReviews(ReviewSelection):
    """Request body to assign reviews to users or a team, with an optional due time."""

    alternatives = (("user_ids",), ("team_id",))

    team_id = Uuid()
    user_ids = List(
        Uuid(),
        validate=validate.Length(min=1),
        max_items=100,
        metadata={
            "description": "Ids of the reviewers among whom the items are distributed evenly."
        },
    )
    due_at = UtcDateTime()


class AcceptReviews(ReviewSelection):
    """Request body to accept tag sets."""

    note = Str(max_length=5000)


class RejectReviews(ReviewSelection):
    """Request body to reject tag sets for the same reason.

    The artifacts are sent to the labelers of the tag sets, or to the pool.
    """

    reason = Reason()
    send_to = Str(load_default="labeler", validate=OneOf(("labeler", "pool")))


class StatsQuery(Schema):
    """The schema and the period for the statistics.

    The period consists of days in the caller's time zone. By default, it is the last 30 days.
    """

    schema_id = Uuid()
    first = Date(data_key="from", description="The first day.")
    end = Date(
        data_key="to",
        description="The day after the last day. The period must not exceed 366 days.",
    )


class QueueAge(Response):
    """The age of the pending items in seconds; null if no item is pending."""

    oldest_seconds = Int(allow_none=True)
    median_seconds = Int(allow_none=True)
    p90_seconds = Int(allow_none=True, description="The 90th percentile.")


class PendingStats(Response):
    """The numbers of review items that are pending now: in total (`depth`) and in each state."""

    depth = Int(description="The number of all pending items.")
    unassigned = Int()
    claimed = Int()
    escalated = Int()
    overdue = Int()
    age = Nested(QueueAge)


class DecisionStats(Response):
    """The number of review decisions in the period.

    `accepted` includes `corrected`. `acceptance_rate` is `accepted / decided`; null if both are 0.
    """

    decided = Int()
    accepted = Int()
    corrected = Int()
    rejected = Int()
    acceptance_rate = Float(allow_none=True)
    mean_seconds_to_decision = Float(
        allow_none=True,
        description="Mean time in seconds from the submission or reopening to the decision.",
    )


class DailyDecisions(DecisionStats):
    """The number of review decisions on one day."""

    date = Date()


class SchemaReviewStats(PendingStats, DecisionStats):
    """The number of pending items and review decisions for one schema."""

    schema = Nested(SchemaReference)


class ReviewerStats(DecisionStats):
    """The number of review decisions by one reviewer."""

    reviewer = Nested(Person)


class ReviewStats(PendingStats, DecisionStats):
    """Statistics for the review queue: pending items, and decisions in a period."""

    time_zone = Str(description="The caller's time zone, in which the days of the period start.")
    first = Date(data_key="from", description="The first day of the period.")
    end = Date(data_key="to", description="The day after the last day of the period.")
    decided_per_day = Float(description="`decided` divided by the number of days.")
    by_day = List(Nested(DailyDecisions))
    by_schema = List(Nested(SchemaReviewStats))
    by_reviewer = List(Nested(ReviewerStats))
