"""Count tag sets, reviews and decisions."""

from migrations.counting import Cube, Source, as_hour, as_text, counted, uncounted

revision = "202611230507"
down_revision = "202611230506"
branch_labels = None
depends_on = None

_BASE = {
    "schema_id": as_text("r.schema_id"),
    "version_id": as_text("r.schema_version_id"),
}
STATE = ("schema_id", "version_id", "status", "source", "reviewed")
TAG_SETS = Source(
    "tag_sets",
    {
        **_BASE,
        "status": "r.status",
        "source": "r.source",
        "reviewed": "CAST(r.reviewer_id IS NOT NULL AS text)",
        "labeler_id": as_text("r.labeler_id"),
        "reviewer_id": as_text("r.reviewer_id"),
        "created": as_hour("r.created_at"),
    },
    (
        Cube("tag_sets", STATE),
        Cube("tag_sets.labeler", (*STATE, "reviewer_id"), key="labeler_id"),
        Cube("tag_sets.reviewer", STATE, key="reviewer_id"),
        Cube("tag_sets.created.month", STATE, bucket="created", length=7),
        Cube("tag_sets.created.day", STATE, bucket="created", length=10),
    ),
    measure="r.rejections",
)
# Counts tag sets by the seconds that labeling took, so that a median can be computed.
LABELING_SECONDS = Source(
    "labeling_seconds",
    {**_BASE, "seconds": "CAST(r.seconds_spent AS text)"},
    (Cube("labeling_seconds", ("version_id", "seconds"), key="schema_id"),),
    condition="r.submitted_at IS NOT NULL AND r.seconds_spent > 0 AND r.source = 'human'",
)
FLAGS = ("disagreement", "low_confidence", "resubmitted")
_FLAGGED = ", ".join(
    f"CASE WHEN r.flags @> '[\"{flag}\"]' THEN '{flag}' END" for flag in FLAGS
)
MARKS = ("schema_id", "archived", "escalated", "flags")
REVIEWS = Source(
    "reviews",
    {
        "schema_id": as_text("r.schema_id"),
        "archived": "CAST(r.artifact_archived AS text)",
        "escalated": "CAST(r.escalated AS text)",
        "flags": f"concat_ws(',', {_FLAGGED})",
        "assigned": (
            "CAST(r.assignee_id IS NOT NULL OR r.assignee_team_id IS NOT NULL AS text)"
        ),
        "labeler_id": as_text("r.labeler_id"),
        "assignee_id": as_text("r.assignee_id"),
        "team_id": as_text("r.assignee_team_id"),
        "created": as_hour("r.created_at"),
        "submitted": as_hour("r.submitted_at"),
        "due": as_hour("r.due_at"),
    },
    (
        Cube("reviews", (*MARKS, "assigned")),
        Cube("reviews.labeler", (*MARKS, "assignee_id", "team_id"), key="labeler_id"),
        Cube("reviews.assignee", (*MARKS, "labeler_id", "team_id"), key="assignee_id"),
        Cube("reviews.team", (*MARKS, "labeler_id", "assignee_id"), key="team_id"),
        Cube("reviews.created.month", MARKS, bucket="created", length=7),
        Cube("reviews.created.day", MARKS, bucket="created", length=10),
        Cube("reviews.submitted.day", ("schema_id", "archived"), bucket="submitted", length=10),
        Cube("reviews.due.month", ("schema_id", "archived"), bucket="due", length=7),
        Cube("reviews.due.day", ("schema_id", "archived"), bucket="due", length=10),
        Cube(
            "reviews.assignee.due.month",
            ("schema_id", "archived", "labeler_id"),
            key="assignee_id",
            bucket="due",
            length=7,
        ),
        Cube(
            "reviews.assignee.due.day",
            ("schema_id", "archived", "labeler_id"),
            key="assignee_id",
            bucket="due",
            length=10,
        ),
    ),
    condition="r.status = 'submitted'",
)
WHO = ("kind", "timed", "schema_id", "author_id")
WORK = Source(
    "work",
    {
        "kind": "r.kind",
        "timed": "CAST(r.waited_microseconds IS NOT NULL AS text)",
        "schema_id": as_text("r.schema_id"),
        "author_id": as_text("r.author_id"),
        "at": as_hour("r.created_at"),
    },
    (
        Cube("work.month", WHO, bucket="at", length=7),
        Cube("work.day", WHO, bucket="at", length=10),
        Cube("work.hour", ("kind", "timed"), bucket="at", length=13),
        Cube("work.schema.hour", ("kind", "timed"), key="schema_id", bucket="at", length=13),
    ),
    condition=(
        "r.author_id IS NOT NULL AND r.kind IN ('submit', 'accept', 'correction', 'reject')"
    ),
    measure="coalesce(r.waited_microseconds, 0)",
)


def upgrade() -> None:
    counted("tag_sets", TAG_SETS, LABELING_SECONDS, REVIEWS)
    counted("tag_set_revisions", WORK)


def downgrade() -> None:
    uncounted("work", "reviews", "labeling_seconds", "tag_sets")
