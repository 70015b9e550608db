"""Counters of tag sets, of pending reviews, and of people's work."""

from app.kit.counters import Cube, Source
from app.kit.counters.spans import DAY, HOUR, MONTH
from app.workflow.tag_sets.models import FLAGS

_STATE = ("schema_id", "version_id", "status", "source", "reviewed")
TAG_SETS = Source(
    "tag_sets",
    (*_STATE, "labeler_id", "reviewer_id", "created"),
    (
        Cube("tag_sets", _STATE),
        Cube("tag_sets.labeler", (*_STATE, "reviewer_id"), key="labeler_id"),
        Cube("tag_sets.reviewer", _STATE, key="reviewer_id"),
        Cube("tag_sets.created.month", _STATE, bucket="created", length=MONTH),
        Cube("tag_sets.created.day", _STATE, bucket="created", length=DAY),
    ),
)
"""`reviewed` is true if the tag set has a reviewer. The measure is the number of rejections."""

LABELING_SECONDS = Source(
    "labeling_seconds",
    ("schema_id", "version_id", "seconds"),
    (Cube("labeling_seconds", ("version_id", "seconds"), key="schema_id"),),
)
"""Tag sets that people submitted, by the seconds that labeling took."""

_MARKS = ("schema_id", "archived", "escalated", "flags")
_DUE = ("schema_id", "archived")
REVIEWS = Source(
    "reviews",
    (*_MARKS, "assigned", "labeler_id", "assignee_id", "team_id", "created", "submitted", "due"),
    (
        Cube("reviews", (*_MARKS, "assigned")),
        Cube("reviews.labeler", (*_MARKS, "assignee_id", "team_id"), key="labeler_id"),
        Cube("reviews.assignee", (*_MARKS, "labeler_id", "team_id"), key="assignee_id"),
        Cube("reviews.team", (*_MARKS, "labeler_id", "assignee_id"), key="team_id"),
        Cube("reviews.created.month", _MARKS, bucket="created", length=MONTH),
        Cube("reviews.created.day", _MARKS, bucket="created", length=DAY),
        Cube("reviews.submitted.day", _DUE, bucket="submitted", length=DAY),
        Cube("reviews.due.month", _DUE, bucket="due", length=MONTH),
        Cube("reviews.due.day", _DUE, bucket="due", length=DAY),
        Cube(
            "reviews.assignee.due.month",
            (*_DUE, "labeler_id"),
            key="assignee_id",
            bucket="due",
            length=MONTH,
        ),
        Cube(
            "reviews.assignee.due.day",
            (*_DUE, "labeler_id"),
            key="assignee_id",
            bucket="due",
            length=DAY,
        ),
    ),
)
"""Submitted tag sets. `archived` is the artifact's mark, `flags` the tag set's flags."""

_DONE = ("kind", "timed", "schema_id", "author_id")
WORK = Source(
    "work",
    (*_DONE, "at"),
    (
        Cube("work.month", _DONE, bucket="at", length=MONTH),
        Cube("work.day", _DONE, bucket="at", length=DAY),
        Cube("work.hour", ("kind", "timed"), bucket="at", length=HOUR),
        Cube("work.schema.hour", ("kind", "timed"), key="schema_id", bucket="at", length=HOUR),
    ),
)
"""Submissions and review decisions by people.

The measure is the waiting time before a decision in microseconds, if it is known (`timed`). Only
decisions have a schema."""


def list_values_with_flag(flag: str) -> list[str]:
    """Return every value of the facet `flags` that contains this flag."""
    others = sorted(set(FLAGS) - {flag})
    combinations = []
    for number in range(2 ** len(others)):
        chosen = [other for bit, other in enumerate(others) if number >> bit & 1]
        combinations.append(",".join(sorted([flag, *chosen])))
    return combinations
