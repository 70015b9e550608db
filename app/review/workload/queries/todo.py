"""SQL of what people have to label and to review.

Each part is written for one person or for the members of a team, so that a member's workload is
what the member finds in their own list. They name the organization themselves.
"""

from app.labeling.tag_sets.service.decisions import RANK_STEP

ME = "= CAST(:me AS uuid)"
TEAM = """IN (
    SELECT user_id FROM team_members WHERE organization_id = :org AND team_id = :team_id
)"""

_DRAFTS = """
    SELECT labeler_id AS user_id, artifact_id, id AS tag_set_id, schema_id,
           greatest(created_at, decided_at) AS since, false AS claimed, false AS direct,
           CAST(NULL AS uuid) AS team_id
    FROM tag_sets WHERE organization_id = :org AND status = 'draft' AND labeler_id {them}
"""
_CLAIMS = """
    SELECT claim_user_id, id, NULL, NULL, NULL, true, false, NULL FROM artifacts
    WHERE organization_id = :org AND claim_user_id {them} AND claim_expires_at > now()
"""
_ASSIGNED = """
    SELECT assignee_id, artifact_id, NULL, NULL, NULL, false, true, NULL FROM artifact_assignees
    WHERE organization_id = :org AND is_open AND assignee_id {them}
"""
_BY_TEAM = """
    SELECT member.user_id, work.artifact_id, NULL, NULL, NULL, false, false, member.team_id
    FROM team_members member
    JOIN artifact_assignees work ON work.organization_id = :org AND work.is_open
     AND work.assignee_id = member.team_id
    WHERE member.organization_id = :org AND member.user_id {them}
"""
# What is claimed is shown, and what is begun, as long as the document is open and was not skipped
# since; what is only assigned, as long as it can be begun: the rules are those of the draw
# (`artifacts.queries.drawing`), but that an overlapping document is shown while somebody else has
# it.
_TO_LABEL = f"""
offered AS ({{offers}}), theirs AS (
    SELECT user_id, artifact_id, bool_or(claimed) AS claimed, max(since) AS since,
           (array_agg(tag_set_id) FILTER (WHERE tag_set_id IS NOT NULL))[1] AS tag_set_id,
           (array_agg(schema_id) FILTER (WHERE schema_id IS NOT NULL))[1] AS schema_id,
           bool_or(direct) AS named,
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
    LEFT JOIN artifact_skips skip ON skip.organization_id = :org
     AND skip.artifact_id = theirs.artifact_id AND skip.user_id = theirs.user_id
    WHERE claimed OR (
        since IS NOT NULL AND document.status IN ('ready', 'in_progress')
        AND (skip.user_id IS NULL OR skip.created_at <= since)
    ) OR (
        schemas.status = 'active'
        AND (sets > 1 OR document.claim_user_id IS NULL OR document.claim_expires_at <= now()
             OR document.claim_user_id = theirs.user_id)
        AND array_position(document.labeled_by, theirs.user_id) IS NULL
        AND cardinality(document.labeled_by)
          + cardinality(array_remove(document.reserved_for, theirs.user_id)) < sets
        AND (named OR schemas.required_skill_keys = '{{{{}}}}'
             OR schemas.required_skill_keys <@ ARRAY(
            SELECT unnest(teams.skill_keys) FROM team_members seat
            JOIN teams ON teams.organization_id = :org AND teams.id = seat.team_id
            WHERE seat.organization_id = :org AND seat.user_id = theirs.user_id))
        AND (named OR skip.user_id IS NULL)
    )
)
"""  # noqa: S608 - made of constants
_ITEM = """
    SELECT {whose} AS user_id, id, artifact_id, schema_id, labeler_id, review_rank,
           review_due_at, {until} AS claimed_until
    FROM tag_sets
    WHERE organization_id = :org AND status = 'submitted' AND {whose} IS NOT NULL AND {whose} {them}
"""
_TO_REVIEW = f"""
to_review AS (
    SELECT item.user_id, item.id AS tag_set_id, item.artifact_id, item.schema_id,
           document.name, document.priority,
           coalesce(item.review_due_at, document.due_at) AS due_at, item.claimed_until,
           item.review_rank AS urgency
    FROM (
        {_ITEM.replace("{whose}", "claim_user_id").replace("{until}", "claim_expires_at")}
         AND claim_expires_at > now()
        UNION ALL
        {_ITEM.replace("{whose}", "assignee_id").replace("{until}", "NULL")}
         AND (claim_user_id IS NULL OR claim_expires_at <= now())
    ) AS item
    JOIN artifacts document ON document.organization_id = :org AND document.id = item.artifact_id
     AND NOT document.archived
    WHERE :self_review OR item.labeler_id IS DISTINCT FROM item.user_id
)
"""  # noqa: S608 - made of constants


def to_label(them: str, *, by_team: bool) -> str:
    """A common table `to_label`: what each of them has begun, claimed, or is assigned to, by name
    or, with `by_team`, as one of a team."""
    offers = [_DRAFTS, _CLAIMS, _ASSIGNED, *([_BY_TEAM] if by_team else [])]
    return _TO_LABEL.format(offers=" UNION ALL ".join(offers).format(them=them))


def to_review(them: str) -> str:
    """A common table `to_review`: what each of them has claimed, or is assigned to while nobody
    has it."""
    return _TO_REVIEW.format(them=them)
