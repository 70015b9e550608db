"""Common table expressions that find the documents that users have to label.

For each user in `:people`, they find the documents that the user has begun, and the assigned
documents that the user may begin. A document is assigned to a user directly or through a team. The
rules are the same as for claiming the next document (`claimable`), with one exception: a document
that needs several tag sets is listed even while another user has claimed it.

Documents that users have begun are read row by row. OFFSET 0 makes the planner look up each of
them. Otherwise, it would read all documents or skips for each draft, because it expects only few
drafts.

The documents that users may begin can be the whole backlog of a team, so they are counted without
reading them: the counter `OFFERED` counts the assigned documents that still need tag sets. The
documents among them that the user may not begin are read row by row and subtracted.
"""

from app.documents.artifacts.models.documents import URGENCY, URGENT_AT
from app.workflow.tag_sets import claimable


def _hide_organization(sql: str) -> str:
    """Replace the organization's id in `sql` with a subquery, so that the planner cannot see it.

    For an organization that is newer than its statistics, the planner would expect a single row and
    choose nested loops, which read all drafts and skips of the organization for each draft.
    """
    return sql.replace(":org", "(SELECT CAST(:org AS uuid))")


PEOPLE_CTES = f"""
people AS MATERIALIZED (
    SELECT user_id FROM unnest(CAST(:people AS uuid[])) AS person (user_id)
), team_memberships AS MATERIALIZED (
    SELECT membership.user_id, membership.team_id FROM people
    JOIN team_members membership ON membership.organization_id = :org
     AND membership.user_id = people.user_id
), assignee_ids AS MATERIALIZED (
    SELECT user_id, user_id AS assignee_id, true AS by_name FROM people
    UNION ALL SELECT user_id, team_id, false FROM team_memberships WHERE :by_team
), user_schemas AS MATERIALIZED (
    SELECT people.user_id, schemas.id AS schema_id,
           {claimable.REQUIRED_LABELS_OF_VERSION} AS required_labels,
           schemas.required_skill_keys <@ ARRAY(
               SELECT unnest(teams.skill_keys) FROM team_memberships
               JOIN teams ON teams.organization_id = :org AND teams.id = team_memberships.team_id
               WHERE team_memberships.user_id = people.user_id) AS has_skills
    FROM people CROSS JOIN schemas
    LEFT JOIN schema_versions version ON version.organization_id = :org
     AND version.id = schemas.current_version_id
    WHERE schemas.organization_id = :org AND schemas.status = 'active'
)
"""  # noqa: S608 - made of constants
"""The users (`people`), their team memberships (`team_memberships`), the assignee ids of the users
and of their teams (`assignee_ids`), and the active schemas for each user (`user_schemas`)."""

ASSIGNMENT_SUBQUERY = """
    SELECT bool_or(assignee_ids.by_name) AS by_name,
           (array_agg(work.assignee_id ORDER BY work.assignee_id)
            FILTER (WHERE NOT assignee_ids.by_name))[1] AS team_id
    FROM artifact_assignees work
    JOIN assignee_ids ON assignee_ids.assignee_id = work.assignee_id
     AND assignee_ids.user_id = {user}
    WHERE work.organization_id = :org AND work.artifact_id = document.id AND work.is_open
"""
"""The subquery that selects how a user is assigned to a document. `by_name` is true if the user is
assigned directly, and null if the document is not assigned to the user. `team_id` is the first of
the user's teams to which the document is assigned, or null."""

_MAY_CLAIM = f"({claimable.UNCLAIMED.format(of='document.')} OR document.claim_user_id = {{user}})"
_NEEDS_TAG_SET = claimable.NEEDS_TAG_SET.format(
    of="document.", user="begun.user_id", required_labels="required_labels"
)
_NOT_SKIPPED = claimable.NOT_SKIPPED.format(
    organization=":org", user="{user}", artifact="work.artifact_id"
)
BEGUN_CTES = _hide_organization(f"""
begun AS MATERIALIZED (
    SELECT user_id, artifact_id, bool_or(claimed) AS claimed, max(since) AS since,
           (array_agg(tag_set_id) FILTER (WHERE tag_set_id IS NOT NULL))[1] AS tag_set_id,
           (array_agg(schema_id) FILTER (WHERE schema_id IS NOT NULL))[1] AS schema_id
    FROM (
        SELECT people.user_id, artifact_id, id AS tag_set_id, schema_id,
               greatest(created_at, decided_at) AS since, false AS claimed
        FROM people
        JOIN tag_sets ON organization_id = :org AND status = 'draft' AND labeler_id = user_id
        UNION ALL
        SELECT people.user_id, id, NULL, NULL, NULL, true
        FROM people JOIN artifacts ON organization_id = :org
         AND {claimable.CLAIMED.format(of="", user="user_id")}
    ) AS work
    GROUP BY user_id, artifact_id
), own AS MATERIALIZED (
    SELECT begun.user_id, document.id AS artifact_id, begun.tag_set_id,
           CASE WHEN assignment.by_name IS NOT TRUE THEN assignment.team_id END AS team_id,
           coalesce(begun.schema_id, document.schema_id) AS schema_id,
           {URGENCY.format(of="document.")} AS urgency, document.due_at,
           {URGENT_AT.format(of="document.")} AS at
    FROM begun
    CROSS JOIN LATERAL (SELECT * FROM artifacts WHERE organization_id = :org
        AND id = begun.artifact_id AND NOT archived OFFSET 0) AS document
    CROSS JOIN LATERAL ({ASSIGNMENT_SUBQUERY.format(user="begun.user_id")}) AS assignment
    LEFT JOIN user_schemas ON user_schemas.user_id = begun.user_id
     AND user_schemas.schema_id = document.schema_id
    LEFT JOIN LATERAL (SELECT * FROM artifact_skips WHERE organization_id = :org
        AND artifact_id = begun.artifact_id AND user_id = begun.user_id OFFSET 0) AS skip ON true
    WHERE claimed OR (
        since IS NOT NULL AND {claimable.LABELABLE.format(of="document.")}
        AND (skip.user_id IS NULL OR skip.created_at <= since)
    ) OR (
        user_schemas.schema_id IS NOT NULL
        AND (required_labels > 1 OR {_MAY_CLAIM.format(user="begun.user_id")})
        AND {_NEEDS_TAG_SET}
        AND (assignment.by_name IS TRUE OR has_skills)
        AND (assignment.by_name IS TRUE OR skip.user_id IS NULL)
    )
)
""")  # noqa: S608 - made of constants
"""Documents that users have begun or claimed (`begun`), and the part of these documents that is in
the users' lists (`own`)."""

OFFERED_CTES = """
grouped AS (
    SELECT assignee_ids.user_id, cell.schema_id, cell.assignees, cell.labeled_by, cell.places_taken,
           max(cell.n) AS n, bool_or(assignee_ids.by_name) AS by_name,
           (array_agg(assignee_ids.assignee_id ORDER BY assignee_ids.assignee_id)
            FILTER (WHERE NOT assignee_ids.by_name))[1] AS team_id
    FROM (
        SELECT CAST(assignee_id AS uuid) AS assignee_id, schema_id, assignees, labeled_by,
               places_taken, sum(n) AS n
        FROM ({cells}) AS cells GROUP BY 1, 2, 3, 4, 5
    ) AS cell
    JOIN assignee_ids USING (assignee_id)
    GROUP BY 1, 2, 3, 4, 5
), offered_counts AS (
    SELECT grouped.user_id, sum(n) AS n FROM grouped
    JOIN user_schemas ON user_schemas.user_id = grouped.user_id
     AND CAST(user_schemas.schema_id AS text) = grouped.schema_id
    WHERE CAST(places_taken AS int) < required_labels AND (by_name OR has_skills)
      AND strpos(labeled_by, CAST(grouped.user_id AS text)) = 0
      AND (CAST(:team_id AS uuid) IS NULL OR NOT by_name AND team_id = :team_id)
    GROUP BY grouped.user_id
)
"""
"""The number of assigned documents that still need tag sets, by user, from the counter's cells.

A document with several assignees is in the cells of each assignee, with the same hash of all
assignees, so that it is counted only once for each user.
"""

NOT_ALLOWED_CTES = _hide_organization(f"""
candidates AS MATERIALIZED (
    SELECT user_id, artifact_id, bool_or(is_begun) AS is_begun, bool_or(is_skipped) AS is_skipped
    FROM (
        SELECT user_id, artifact_id, true AS is_begun, false AS is_skipped FROM begun
        UNION ALL
        SELECT assignee_ids.user_id, claimed.id, false, false
        FROM artifacts claimed
        JOIN artifact_assignees work ON work.organization_id = :org
         AND work.artifact_id = claimed.id
        JOIN assignee_ids ON assignee_ids.assignee_id = work.assignee_id
        WHERE claimed.organization_id = :org AND claimed.claim_user_id IS NOT NULL
          AND claimed.claim_expires_at > now()
        UNION ALL
        SELECT people.user_id, artifact_id, false, true
        FROM people JOIN artifact_skips ON organization_id = :org
         AND artifact_skips.user_id = people.user_id
    ) AS work
    GROUP BY user_id, artifact_id
), documents AS MATERIALIZED (
    SELECT candidates.*, document.id, document.schema_id, document.due_at, document.labeled_by,
           document.reserved_for, document.claim_user_id, document.claim_expires_at
    FROM candidates
    CROSS JOIN LATERAL (SELECT * FROM artifacts WHERE organization_id = :org
        AND id = candidates.artifact_id OFFSET 0) AS document
), not_allowed_counts AS (
    SELECT document.user_id, count(*) AS n
    FROM documents AS document
    CROSS JOIN LATERAL ({ASSIGNMENT_SUBQUERY.format(user="document.user_id")}) AS assignment
    JOIN user_schemas ON user_schemas.user_id = document.user_id
     AND user_schemas.schema_id = document.schema_id
    WHERE assignment.by_name IS NOT NULL AND (assignment.by_name OR has_skills)
      AND array_position(document.labeled_by, document.user_id) IS NULL
      AND cardinality(document.labeled_by) + cardinality(document.reserved_for) < required_labels
      AND (CAST(:team_id AS uuid) IS NULL
           OR NOT assignment.by_name AND assignment.team_id = :team_id)
      AND (CAST(:schema_id AS uuid) IS NULL OR document.schema_id = :schema_id)
      AND (CAST(:until AS timestamptz) IS NULL OR document.due_at <= :until)
      AND (is_begun
           OR required_labels <= 1 AND NOT {_MAY_CLAIM.format(user="document.user_id")}
           OR NOT assignment.by_name AND is_skipped)
    GROUP BY document.user_id
)
""")  # noqa: S608 - made of constants
"""The number of documents in `offered_counts` that users may not begin.

A document is counted if another user is working on it, the user has skipped it, or the user has
begun it and `own` counts it. The number of rows read depends on the documents in progress, not on
the backlog. The candidates and documents are materialized. Otherwise, the planner, which expects
few of them, would read them once for each document or for every active schema.
"""

MAY_BEGIN_CONDITION = f"""
    array_position(work.labeled_by, {{user}}) IS NULL
    AND work.places_taken < user_schemas.required_labels
    AND (assignee_ids.by_name OR user_schemas.has_skills)
    AND ({{user}}, work.artifact_id) NOT IN (SELECT user_id, artifact_id FROM begun)
    AND (assignee_ids.by_name OR {_NOT_SKIPPED})
    AND (user_schemas.required_labels > 1 OR EXISTS (SELECT FROM artifacts document
        WHERE document.organization_id = :org AND document.id = work.artifact_id
          AND {_MAY_CLAIM.format(user="{user}")}))
"""  # noqa: S608 - made of constants
"""The SQL condition that a user may start to label a document.

`work` is an assignee row of the document, joined with `assignee_ids` and `user_schemas`. The
condition uses NOT IN, because with NOT EXISTS, PostgreSQL would read all rows of `begun` for each
document.
"""

TEAM_CONDITION = """
    (CAST(:team_id AS uuid) IS NULL OR (
        work.assignee_id = :team_id AND NOT assignee_ids.by_name AND NOT EXISTS (
            SELECT FROM artifact_assignees other
            JOIN assignee_ids other_assignee_ids
              ON other_assignee_ids.assignee_id = other.assignee_id
             AND other_assignee_ids.user_id = assignee_ids.user_id
            WHERE other.organization_id = :org AND other.artifact_id = work.artifact_id
              AND other.is_open
              AND (other_assignee_ids.by_name OR other.assignee_id < work.assignee_id))))
"""
"""The condition that a document is not assigned to the user directly, and that `:team_id` is the
first of the user's teams to which it is assigned. Always true if `:team_id` is null."""

OWN_LIST_CONDITION = """
    (CAST(:schema_id AS uuid) IS NULL OR own.schema_id = :schema_id)
    AND (CAST(:team_id AS uuid) IS NULL OR own.team_id = :team_id)
    AND (CAST(:due_before AS timestamptz) IS NULL OR own.due_at < :due_before)
"""
"""The condition that a document in `own` matches all filters of the list."""
