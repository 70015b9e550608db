"""Counters of tag sets, pending reviews, submissions and review decisions."""

from itertools import combinations

from app.kit.counters import Cube, Source, build_cubes
from app.kit.counters.spans import DAY, HOUR, MONTH
from app.workflow.tag_sets.models import FLAGS

_TAG_SET_FACETS = ("schema_id", "version_id", "status", "source", "reviewed")
TAG_SETS = Source(
    "tag_sets",
    (*_TAG_SET_FACETS, "labeler_id", "reviewer_id", "created"),
    (
        Cube("tag_sets", _TAG_SET_FACETS),
        Cube("tag_sets.labeler", (*_TAG_SET_FACETS, "reviewer_id"), key="labeler_id"),
        Cube("tag_sets.reviewer", _TAG_SET_FACETS, key="reviewer_id"),
        *build_cubes("tag_sets.created", _TAG_SET_FACETS, "created", MONTH, DAY),
    ),
)
"""Counts of tag sets. `reviewed` is true if a tag set has a reviewer.

Each count is stored together with the sum of the tag sets' rejections."""

LABELING_SECONDS = Source(
    "labeling_seconds",
    ("schema_id", "version_id", "seconds"),
    (Cube("labeling_seconds", ("version_id", "seconds"), key="schema_id"),),
)
"""Counts of tag sets that people submitted, by labeling time in seconds.

Tag sets without a labeling time are not counted."""

_REVIEW_FACETS = ("schema_id", "archived", "escalated", "flags")
_DUE_FACETS = ("schema_id", "archived")
REVIEWS = Source(
    "reviews",
    (
        *_REVIEW_FACETS,
        "assigned",
        "labeler_id",
        "assignee_id",
        "team_id",
        "created",
        "submitted",
        "due",
    ),
    (
        Cube("reviews", (*_REVIEW_FACETS, "assigned")),
        Cube("reviews.labeler", (*_REVIEW_FACETS, "assignee_id", "team_id"), key="labeler_id"),
        Cube("reviews.assignee", (*_REVIEW_FACETS, "labeler_id", "team_id"), key="assignee_id"),
        Cube("reviews.team", (*_REVIEW_FACETS, "labeler_id", "assignee_id"), key="team_id"),
        *build_cubes("reviews.created", _REVIEW_FACETS, "created", MONTH, DAY),
        Cube("reviews.submitted.day", _DUE_FACETS, bucket="submitted", length=DAY),
        *build_cubes("reviews.due", _DUE_FACETS, "due", MONTH, DAY),
        *build_cubes(
            "reviews.assignee.due",
            (*_DUE_FACETS, "labeler_id"),
            "due",
            MONTH,
            DAY,
            key="assignee_id",
        ),
    ),
)
"""Counts of submitted tag sets.

`archived` is true if the artifact is archived. `flags` contains the flags of a tag set, joined
by commas."""

_WORK_FACETS = ("kind", "timed", "schema_id", "author_id")
WORK = Source(
    "work",
    (*_WORK_FACETS, "at"),
    (
        *build_cubes("work", _WORK_FACETS, "at", MONTH, DAY),
        Cube("work.hour", ("kind", "timed"), bucket="at", length=HOUR),
        Cube("work.schema.hour", ("kind", "timed"), key="schema_id", bucket="at", length=HOUR),
    ),
)
"""Counts of submissions and review decisions by people.

Each count is stored together with the sum of the waiting times before the decisions, in
microseconds. `kind` is the kind of the revision: submit, accept, correction or reject. `timed` is
true if the waiting time is known. Submissions have neither a schema nor a waiting time."""


def list_flag_combinations(flag: str) -> list[str]:
    """Return all combinations of flags that include `flag`, as values of the facet `flags`."""
    other_flags = sorted(set(FLAGS) - {flag})
    return [
        ",".join(sorted((flag, *added_flags)))
        for number in range(len(other_flags) + 1)
        for added_flags in combinations(other_flags, number)
    ]
