"""SQL conditions for the artifacts that a user may label and the tag sets that a user may review.

The queries that claim the next artifact or tag set use these conditions, and so does the list of a
user's assignments. In these format strings, `of` is a table prefix such as `item.`; the other
placeholders are SQL expressions.
"""

from app.documents.artifacts.statuses import CLAIMABLE
from app.workflow.tag_sets.models import CONTRIBUTORS

UNCLAIMED = "({of}claim_user_id IS NULL OR {of}claim_expires_at <= now())"
"""SQL condition: nobody has claimed the artifact or the tag set, or the claim has expired."""

CLAIMED = "{of}claim_user_id = {user} AND {of}claim_expires_at > now()"
"""SQL condition: the user has an unexpired claim on the artifact or the tag set."""

LABELABLE = f"{{of}}status IN ({', '.join(repr(str(status)) for status in CLAIMABLE)})"
"""SQL condition: the artifact's status allows labeling."""

NEEDS_TAG_SET = """
    array_position({of}labeled_by, {user}) IS NULL
    AND cardinality({of}labeled_by) + cardinality(array_remove({of}reserved_for, {user}))
      < {required_labels}
"""
"""SQL condition: the user has not labeled the artifact, and it needs another tag set.

Tag sets that are reserved for other users' drafts count as if they were submitted."""

NOT_SKIPPED = """
    NOT EXISTS (SELECT FROM artifact_skips skip WHERE skip.organization_id = {organization}
        AND skip.user_id = {user} AND skip.artifact_id = {artifact})
"""
"""SQL condition: the user has not skipped the artifact."""

REQUIRED_LABELS_OF_VERSION = (
    "coalesce(CAST(version.review_policy ->> 'labels_per_artifact' AS int), 1)"
)
"""SQL expression for the number of tag sets that an artifact needs.

`version` is a table alias for the current version of the artifact's schema."""

IN_QUEUE = "{of}status = 'submitted' AND NOT {of}artifact_archived"
"""SQL condition: the tag set is pending review, and its artifact is not archived."""

EXCLUDED_REVIEWERS = f"""
CASE WHEN {{self_review}} THEN CAST(ARRAY[] AS uuid[])
ELSE {CONTRIBUTORS} END"""
"""SQL expression for an array of the ids of the people who may not review the tag set.

These are the contributors to the tag set, unless `self_review` is true. `rules.can_review` is the
same rule in Python."""

MAY_REVIEW = f"""
({{self_review}} OR {{of}}labeler_id IS DISTINCT FROM {{user}}
    AND ({{of}}merged_from IS NULL OR {{user}} <> ALL ({CONTRIBUTORS})))"""
"""SQL condition: the user is not one of `EXCLUDED_REVIEWERS`.

It builds an array only for merges, because the query that claims the next review may read thousands
of the reviewer's own tag sets."""

ASSIGNED = f"{{of}}assignee_id IS NOT NULL AND {{of}}assignee_id = {{user}} AND {UNCLAIMED}"
"""SQL condition: the tag set is assigned to the user, not to a team, and has no unexpired claim."""

# Triggers maintain `review_rank`, which orders the review queue, lowest first. The rank is
# RANK_STEP * (100 - priority), plus a time in milliseconds since 1970. The time is the submission
# time. If the review is due within 24 hours, the priority 101 is used instead, and the time is the
# due time, minus one millisecond for each point of the artifact's priority. The SQL function
# `work_rank` has the formula.
RANK_STEP = 10**13
"""The distance between the ranks of adjacent priorities, larger than any time in milliseconds."""
RANK_LEVEL = f"CAST(floor({{of}}review_rank / {RANK_STEP}.0) AS int)"
"""SQL expression for 100 minus the artifact's priority, or -1 if the review is nearly due."""
RANK_TIME = f"to_timestamp(CAST({{of}}review_rank - {RANK_LEVEL} * {RANK_STEP} AS float8) / 1000)"
"""SQL expression for the time that orders the reviews within one level (see `RANK_LEVEL`)."""
