"""SQL queries for a user's activity.

Every change of a tag set creates a revision, so the revision after a submission shows the outcome
of the submission: it was accepted, with or without corrections, or rejected, or an accepted merge
replaced the tag set. A submission without a next revision is pending.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.kit import db, tenancy

# The condition on `kind` lets PostgreSQL use the partial index, which excludes saves.
_ACTED_IN_PERIOD = """
    organization_id = :org AND author_id = :me AND kind <> 'save'
    AND created_at >= :start AND created_at < :end
"""
_SUBMISSIONS_BY_DAY = text(
    f"""
    WITH submissions AS (
        SELECT tag_set_id, number + 1 AS next,
               width_bucket(created_at, CAST(:days AS timestamptz[])) AS day,
               lead(number) OVER (PARTITION BY tag_set_id ORDER BY number) IS NULL AS last
        FROM tag_set_revisions WHERE {_ACTED_IN_PERIOD} AND kind = 'submit'
    ), timed AS (
        SELECT submissions.day, decision.kind AS decision,
               CASE WHEN last AND seconds_spent > 0 THEN seconds_spent END AS seconds
        FROM submissions
        JOIN tag_sets ON tag_sets.organization_id = :org
         AND tag_sets.id = submissions.tag_set_id
        LEFT JOIN tag_set_revisions decision ON decision.organization_id = :org
         AND decision.tag_set_id = submissions.tag_set_id AND decision.number = submissions.next
    )
    SELECT day, count(*) AS submitted,
           count(*) FILTER (WHERE decision = 'accept') AS accepted,
           count(*) FILTER (WHERE decision = 'correction') AS corrected,
           count(*) FILTER (WHERE decision = 'reject') AS rejected,
           count(*) FILTER (WHERE decision = 'supersede') AS merged,
           count(*) FILTER (WHERE decision IS NULL) AS pending,
           coalesce(sum(seconds), 0) AS seconds_spent, count(seconds) AS timed,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS median_seconds
    FROM timed GROUP BY GROUPING SETS ((day), ())
    """  # noqa: S608 - made of the parts above
)
_REVIEWS_BY_DAY = text(
    f"""
    SELECT width_bucket(created_at, CAST(:days AS timestamptz[])) AS day, count(*) AS reviewed
    FROM tag_set_revisions
    WHERE {_ACTED_IN_PERIOD} AND kind IN ('accept', 'correction', 'reject')
    GROUP BY 1
    """  # noqa: S608 - made of the parts above
)


class SubmissionCounts(NamedTuple):
    """A user's submissions by outcome, on one day or in the whole period.

    `day` is the number of the day in the period, from 1, or None for the whole period.
    `seconds_spent` is the time in seconds spent on tag sets whose last submission in the period was
    on that day; `timed` is the number of these tag sets that have a recorded time.
    """

    day: int | None
    submitted: int
    accepted: int
    corrected: int
    rejected: int
    merged: int
    pending: int
    seconds_spent: int
    timed: int
    median_seconds: float | None


def _build_parameters(user_id: UUID, edges: Sequence[datetime]) -> dict[str, Any]:
    return {
        "org": tenancy.current_organization_id(),
        "me": user_id,
        "days": list(edges[:-1]),
        "start": edges[0],
        "end": edges[-1],
    }


def count_submissions(user_id: UUID, edges: Sequence[datetime]) -> list[SubmissionCounts]:
    """Count a user's submissions by day, and in the whole period.

    Day n, counted from 1, starts at the nth of `edges` and ends before the next edge. Days without
    submissions are left out.
    """
    rows = db.session().execute(_SUBMISSIONS_BY_DAY, _build_parameters(user_id, edges))
    return [SubmissionCounts._make(row) for row in rows]


def count_reviews(user_id: UUID, edges: Sequence[datetime]) -> dict[int, int]:
    """Count a user's review decisions by day number.

    Day n, counted from 1, starts at the nth of `edges` and ends before the next edge.
    """
    rows = db.session().execute(_REVIEWS_BY_DAY, _build_parameters(user_id, edges))
    return {row.day: row.reviewed for row in rows}
