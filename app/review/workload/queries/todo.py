"""SQL of what people have to label and to review.

Each part is written for the people of `people (user_id)`, one of them or a team's, so that a
member's workload is what the member finds in their own list. They name the organization themselves.
"""

from app.labeling.tag_sets.service.decisions import RANK_STEP

ME = "people AS (SELECT CAST(:me AS uuid) AS user_id)"
TEAM = """people AS (
    SELECT user_id FROM team_members WHERE organization_id = :org AND team_id = :team_id
)"""

_DRAFTS = """
    SELECT labeler_id AS user_id, artifact_id, id AS tag_set_id, schema_id, true AS held,
           false AS direct, CAST(NULL AS uuid) AS team_id
    FROM tag_sets WHERE organization_id = :org AND status = 'draft'
     AND labeler_id IN (SELECT user_id FROM people)
"""
_CLAIMS = """
    SELECT claim_user_id, id, NULL, NULL, true, false, NULL FROM artifacts
    WHERE organization_id = :org AND claim_user_id IN (SELECT user_id FROM people)
     AND claim_expires_at > now()
"""
_ASSIGNED = """
    SELECT assignee_id, artifact_id, NULL, NULL, false, true, NULL FROM artifact_assignees
    WHERE organization_id = :org AND is_open AND assignee_id IN (SELECT user_id FROM people)
"""
_BY_TEAM = """
    SELECT member.user_id, work.artifact_id, NULL, NULL, false, false, member.team_id
    FROM people
    JOIN team_members member ON member.organization_id = :org AND member.user_id = people.user_id
    JOIN artifact_assignees work ON work.organization_id = :org AND work.is_open
     AND work.assignee_id = member.team_id
"""
# What is begun is shown as long as it can be gone on with; what is only assigned, as long as it can
# be begun: the rules are those of starting a draft (`tag_sets.service.drafts`).
_TO_LABEL = f"""
offered AS ({{offers}}), theirs AS (
    SELECT user_id, artifact_id, bool_or(held) AS held,
           (array_agg(tag_set_id) FILTER (WHERE tag_set_id IS NOT NULL))[1] AS tag_set_id,
           (array_agg(schema_id) FILTER (WHERE schema_id IS NOT NULL))[1] AS schema_id,
           CASE WHEN NOT bool_or(direct)
                THEN (array_agg(team_id) FILTER (WHERE team_id IS NOT NULL))[1] END AS team_id
    FROM offered GROUP BY user_id, artifact_id
), to_label AS (
    SELECT theirs.user_id, theirs.artifact_id, theirs.tag_set_id, theirs.team_id,
           coalesce(theirs.schema_id, document.schema_id) AS schema_id,
           document.name, document.priority, document.due_at,
           CASE WHEN document.claim_user_id = theirs.user_id AND document.claim_expires_at > now()
                THEN document.claim_expires_at END AS claimed_until,
           (100 - document.priority) * {RANK_STEP} + least(greatest(0, CAST(floor(extract(
               epoch FROM coalesce(document.due_at, document.created_at)) * 1000) AS bigint)),
               {RANK_STEP - 1}) AS urgency
    FROM theirs
    JOIN artifacts document ON document.organization_id = :org
     AND document.id = theirs.artifact_id AND NOT document.archived
    LEFT JOIN schemas ON schemas.organization_id = :org AND schemas.id = document.schema_id
    LEFT JOIN schema_versions version ON version.organization_id = :org
     AND version.id = schemas.current_version_id
    CROSS JOIN LATERAL (
        SELECT coalesce(CAST(version.review_policy ->> 'labels_per_artifact' AS int), 1) AS sets
    ) AS wanted
    WHERE theirs.held OR (
        schemas.status = 'active'
        AND (sets > 1 OR document.claim_user_id IS NULL OR document.claim_expires_at <= now()
             OR document.claim_user_id = theirs.user_id)
        AND CAST(document.label_counts ->> 'submitted' AS int)
          + CAST(document.label_counts ->> 'accepted' AS int) < sets
        AND (sets = 1 OR NOT EXISTS (
            SELECT FROM tag_sets own WHERE own.organization_id = :org
             AND own.artifact_id = theirs.artifact_id AND own.labeler_id = theirs.user_id
             AND own.status IN ('submitted', 'accepted')))
    )
)
"""  # noqa: S608 - made of constants
_BY_NAME = f"{_DRAFTS}UNION ALL{_CLAIMS}UNION ALL{_ASSIGNED}"
TO_LABEL = _TO_LABEL.format(offers=_BY_NAME)
"""`to_label`: what each has begun, claimed, or is assigned to by name."""

TO_LABEL_BY_TEAM_TOO = _TO_LABEL.format(offers=f"{_BY_NAME}UNION ALL{_BY_TEAM}")
"""The same, and what their teams are assigned to."""

TO_REVIEW = """
to_review AS (
    SELECT reviewer.user_id, item.id AS tag_set_id, item.artifact_id, item.schema_id,
           document.name, document.priority, document.due_at, reviewer.claimed_until,
           item.review_rank AS urgency
    FROM tag_sets item
    JOIN artifacts document ON document.organization_id = :org AND document.id = item.artifact_id
    CROSS JOIN LATERAL (
        SELECT item.claim_user_id AS user_id, item.claim_expires_at AS claimed_until
        WHERE item.claim_expires_at > now() AND item.claim_user_id IS NOT NULL
        UNION ALL
        SELECT item.assignee_id, NULL
        WHERE item.claim_user_id IS NULL OR item.claim_expires_at <= now()
    ) AS reviewer
    WHERE item.organization_id = :org AND item.status = 'submitted'
     AND (item.assignee_id IS NOT NULL AND item.assignee_id IN (SELECT user_id FROM people)
          OR item.claim_user_id IS NOT NULL AND item.claim_user_id IN (SELECT user_id FROM people))
     AND reviewer.user_id IN (SELECT user_id FROM people)
     AND (:self_review OR item.labeler_id IS DISTINCT FROM reviewer.user_id)
)
"""
"""`to_review`: what each has claimed, or is assigned to while nobody else has it."""
