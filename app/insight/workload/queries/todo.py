"""SQL of what people have to label: common tables of a statement.

Of the people `:people`, who have begun what, what they are assigned to, by name or by a team, and
what of it they may begin: the rules are those of `assignment.queries.next_artifact`, but that
an overlapping document is shown while somebody else has it. What people have begun is looked at one
by one. What they could begin may be as long as a team's backlog: it is counted by
`OFFERED`, less what is looked at.
"""

from app.documents.artifacts.models import URGENCY, URGENT_AT

PEOPLE = """
people AS MATERIALIZED (
    SELECT user_id FROM unnest(CAST(:people AS uuid[])) AS person (user_id)
), seats AS MATERIALIZED (
    SELECT seat.user_id, seat.team_id FROM people
    JOIN team_members seat ON seat.organization_id = :org AND seat.user_id = people.user_id
), reach AS MATERIALIZED (
    SELECT user_id, user_id AS assignee_id, true AS named FROM people
    UNION ALL SELECT user_id, team_id, false FROM seats WHERE :by_team
), able AS MATERIALIZED (
    SELECT people.user_id, schemas.id AS schema_id,
           coalesce(CAST(version.review_policy ->> 'labels_per_artifact' AS int), 1) AS sets,
           schemas.required_skill_keys <@ ARRAY(
               SELECT unnest(teams.skill_keys) FROM seats
               JOIN teams ON teams.organization_id = :org AND teams.id = seats.team_id
               WHERE seats.user_id = people.user_id) AS skilled
    FROM people CROSS JOIN schemas
    LEFT JOIN schema_versions version ON version.organization_id = :org
     AND version.id = schemas.current_version_id
    WHERE schemas.organization_id = :org AND schemas.status = 'active'
)
"""
"""Who they are, whose assignments are theirs, and of which schemas they label."""

OFFER = """
    SELECT bool_or(reach.named) AS named,
           (array_agg(work.assignee_id ORDER BY work.assignee_id)
            FILTER (WHERE NOT reach.named))[1] AS team_id
    FROM artifact_assignees work
    JOIN reach ON reach.assignee_id = work.assignee_id AND reach.user_id = {whose}
    WHERE work.organization_id = :org AND work.artifact_id = document.id AND work.is_open
"""
"""How somebody comes to a document that they are assigned to: by name, or by which team."""

_FREE = (
    "(document.claim_user_id IS NULL OR document.claim_expires_at <= now()"
    " OR document.claim_user_id = {whose})"
)
BEGUN = f"""
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
        FROM people JOIN artifacts ON organization_id = :org AND claim_user_id = user_id
         AND claim_expires_at > now()
    ) AS work
    GROUP BY user_id, artifact_id
), own AS MATERIALIZED (
    SELECT begun.user_id, document.id AS artifact_id, begun.tag_set_id,
           CASE WHEN offer.named IS NOT TRUE THEN offer.team_id END AS team_id,
           coalesce(begun.schema_id, document.schema_id) AS schema_id,
           {URGENCY.format(of="document.")} AS urgency, document.due_at,
           {URGENT_AT.format(of="document.")} AS at
    FROM begun
    JOIN artifacts document ON document.organization_id = :org
     AND document.id = begun.artifact_id AND NOT document.archived
    CROSS JOIN LATERAL ({OFFER.format(whose="begun.user_id")}) AS offer
    LEFT JOIN able ON able.user_id = begun.user_id AND able.schema_id = document.schema_id
    LEFT JOIN artifact_skips skip ON skip.organization_id = :org
     AND skip.artifact_id = begun.artifact_id AND skip.user_id = begun.user_id
    WHERE claimed OR (
        since IS NOT NULL AND document.status IN ('ready', 'in_progress')
        AND (skip.user_id IS NULL OR skip.created_at <= since)
    ) OR (
        able.schema_id IS NOT NULL
        AND (sets > 1 OR {_FREE.format(whose="begun.user_id")})
        AND array_position(document.labeled_by, begun.user_id) IS NULL
        AND cardinality(document.labeled_by)
          + cardinality(array_remove(document.reserved_for, begun.user_id)) < sets
        AND (offer.named IS TRUE OR skilled)
        AND (offer.named IS TRUE OR skip.user_id IS NULL)
    )
)
"""  # noqa: S608 - made of constants
"""What they have begun or claimed (`begun`), and what of it stands in their lists (`own`)."""

OFFERED = """
grouped AS (
    SELECT reach.user_id, cell.schema_id, cell.assignees, cell.labeled_by, cell.places_taken,
           max(cell.n) AS n, bool_or(reach.named) AS named,
           (array_agg(reach.assignee_id ORDER BY reach.assignee_id)
            FILTER (WHERE NOT reach.named))[1] AS team_id
    FROM (
        SELECT CAST(assignee_id AS uuid) AS assignee_id, schema_id, assignees, labeled_by,
               places_taken, sum(n) AS n
        FROM ({cells}) AS cells GROUP BY 1, 2, 3, 4, 5
    ) AS cell
    JOIN reach USING (assignee_id)
    GROUP BY 1, 2, 3, 4, 5
), offered AS (
    SELECT grouped.user_id, sum(n) AS n FROM grouped
    JOIN able ON able.user_id = grouped.user_id AND CAST(able.schema_id AS text) = grouped.schema_id
    WHERE CAST(places_taken AS int) < sets AND (named OR skilled)
      AND strpos(labeled_by, CAST(grouped.user_id AS text)) = 0
      AND (CAST(:team_id AS uuid) IS NULL OR NOT named AND team_id = :team_id)
    GROUP BY grouped.user_id
)
"""
"""How many documents they are assigned to whose places are not taken, by their cells. One that is
assigned to several is in the cells of each, by the hash of all of them."""

WITHHELD = f"""
candidates AS (
    SELECT user_id, artifact_id FROM begun
    UNION
    SELECT reach.user_id, held.id
    FROM artifacts held
    JOIN artifact_assignees work ON work.organization_id = :org AND work.artifact_id = held.id
    JOIN reach ON reach.assignee_id = work.assignee_id
    WHERE held.organization_id = :org AND held.claim_user_id IS NOT NULL
      AND held.claim_expires_at > now()
    UNION
    SELECT people.user_id, artifact_id
    FROM people JOIN artifact_skips ON organization_id = :org
     AND artifact_skips.user_id = people.user_id
), withheld AS (
    SELECT candidates.user_id, count(*) AS n
    FROM candidates
    JOIN artifacts document ON document.organization_id = :org
     AND document.id = candidates.artifact_id
    CROSS JOIN LATERAL ({OFFER.format(whose="candidates.user_id")}) AS offer
    JOIN able ON able.user_id = candidates.user_id AND able.schema_id = document.schema_id
    LEFT JOIN begun ON begun.user_id = candidates.user_id
     AND begun.artifact_id = candidates.artifact_id
    LEFT JOIN artifact_skips skip ON skip.organization_id = :org
     AND skip.artifact_id = candidates.artifact_id AND skip.user_id = candidates.user_id
    WHERE offer.named IS NOT NULL AND (offer.named OR skilled)
      AND array_position(document.labeled_by, candidates.user_id) IS NULL
      AND cardinality(document.labeled_by) + cardinality(document.reserved_for) < sets
      AND (CAST(:team_id AS uuid) IS NULL OR NOT offer.named AND offer.team_id = :team_id)
      AND (CAST(:schema_id AS uuid) IS NULL OR document.schema_id = :schema_id)
      AND (CAST(:until AS timestamptz) IS NULL OR document.due_at <= :until)
      AND (begun.user_id IS NOT NULL
           OR sets <= 1 AND NOT {_FREE.format(whose="candidates.user_id")}
           OR NOT offer.named AND skip.user_id IS NOT NULL)
    GROUP BY candidates.user_id
)
"""  # noqa: S608 - made of constants
"""How many of these they may not begin: somebody works on it, they have skipped it, or they have
begun it and it is counted already. As many are looked at as people work on at this moment."""

MAY_BEGIN = f"""
    array_position(work.labeled_by, {{whose}}) IS NULL AND work.places_taken < able.sets
    AND (reach.named OR able.skilled)
    AND NOT EXISTS (SELECT FROM begun
        WHERE begun.user_id = {{whose}} AND begun.artifact_id = work.artifact_id)
    AND (reach.named OR NOT EXISTS (SELECT FROM artifact_skips skip
        WHERE skip.organization_id = :org AND skip.user_id = {{whose}}
          AND skip.artifact_id = work.artifact_id))
    AND (able.sets > 1 OR EXISTS (SELECT FROM artifacts document
        WHERE document.organization_id = :org AND document.id = work.artifact_id
          AND {_FREE.format(whose="{whose}")}))
"""  # noqa: S608 - made of constants
"""Whether somebody may begin what an assignee's row `work` tells of, whom they are by `reach`."""

OF_TEAM = """
    (CAST(:team_id AS uuid) IS NULL OR (
        work.assignee_id = :team_id AND NOT reach.named AND NOT EXISTS (
            SELECT FROM artifact_assignees other
            JOIN reach theirs ON theirs.assignee_id = other.assignee_id
             AND theirs.user_id = reach.user_id
            WHERE other.organization_id = :org AND other.artifact_id = work.artifact_id
              AND other.is_open AND (theirs.named OR other.assignee_id < work.assignee_id))))
"""
"""Whether it is there for them by the team that a list is filtered by."""

OWN_FILTERS = """
    (CAST(:schema_id AS uuid) IS NULL OR own.schema_id = :schema_id)
    AND (CAST(:team_id AS uuid) IS NULL OR own.team_id = :team_id)
    AND (CAST(:due_before AS timestamptz) IS NULL OR own.due_at < :due_before)
"""
"""The same of what they have begun, by all of a list's filters."""
