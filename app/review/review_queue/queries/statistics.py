"""SQL of the queue's numbers: what waits now, and what was decided in a period."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from app.kit import db, tenancy

# A row for all of it (schema_id null) and one for each schema. Documents and names are looked up
# after the counting: of a long queue that is a fraction of the rows.
_WAITING = text(
    """
    WITH counted AS (
        SELECT item.schema_id,
               count(*) AS depth,
               count(*) FILTER (WHERE item.assignee_id IS NULL AND item.assignee_team_id IS NULL)
                   AS unassigned,
               count(*) FILTER (WHERE item.claim_user_id IS NOT NULL
                                AND item.claim_expires_at > now()) AS claimed,
               count(*) FILTER (WHERE item.escalated) AS escalated,
               count(*) FILTER (WHERE coalesce(item.review_due_at, document.due_at) < now())
                   AS overdue,
               percentile_disc(ARRAY[0.5, 0.9, 1.0]) WITHIN GROUP (ORDER BY
                   extract(epoch FROM now() - item.submitted_at)) AS ages
        FROM tag_sets item
        JOIN artifacts document
          ON document.organization_id = :org AND document.id = item.artifact_id
             AND NOT document.archived
        WHERE item.organization_id = :org AND item.status = 'submitted'
          AND (CAST(:schema_id AS uuid) IS NULL OR item.schema_id = :schema_id)
        GROUP BY GROUPING SETS ((), (item.schema_id))
    )
    SELECT counted.*, schemas.name AS schema_name
    FROM counted
    LEFT JOIN schemas ON schemas.organization_id = :org AND schemas.id = counted.schema_id
    """
)
# What a verdict was on is the revision before it: the submission, or that it was opened again.
# Those that nobody passed (sampling, agreement) have no author, and are no reviewer's work.
_DECIDED = text(
    """
    WITH verdicts AS (
        SELECT item.schema_id, verdict.author_id,
               width_bucket(verdict.created_at, CAST(:edges AS timestamptz[])) AS day,
               verdict.kind, extract(epoch FROM verdict.created_at - sent.created_at) AS seconds
        FROM tag_set_revisions verdict
        JOIN tag_sets item ON item.organization_id = :org AND item.id = verdict.tag_set_id
        LEFT JOIN tag_set_revisions sent ON sent.organization_id = :org
          AND sent.tag_set_id = verdict.tag_set_id AND sent.number = verdict.number - 1
        WHERE verdict.organization_id = :org AND verdict.author_id IS NOT NULL
          AND verdict.kind IN ('accept', 'correction', 'reject')
          AND verdict.created_at >= :first AND verdict.created_at < :last
          AND (CAST(:schema_id AS uuid) IS NULL OR item.schema_id = :schema_id)
    ), counted AS (
        SELECT schema_id, author_id, day,
               count(*) AS decided,
               count(*) FILTER (WHERE kind = 'accept') AS unchanged,
               count(*) FILTER (WHERE kind = 'correction') AS corrected,
               count(*) FILTER (WHERE kind = 'reject') AS rejected,
               avg(seconds) AS seconds
        FROM verdicts
        GROUP BY GROUPING SETS ((), (schema_id), (author_id), (day))
    )
    SELECT counted.*, schemas.name AS schema_name,
           users.email AS reviewer_email, users.name AS reviewer_name
    FROM counted
    LEFT JOIN schemas ON schemas.organization_id = :org AND schemas.id = counted.schema_id
    LEFT JOIN users ON users.id = counted.author_id
    """
)


def waiting(schema_id: UUID | None) -> list[Row[Any]]:
    """What waits now: in all, and by schema. `ages` are the median, the ninth decile and the
    greatest in seconds."""
    values = {"org": tenancy.current_organization_id(), "schema_id": schema_id}
    return list(db.session().execute(_WAITING, values))


def decided(schema_id: UUID | None, edges: Sequence[datetime]) -> list[Row[Any]]:
    """What people decided between the first and the last of `edges`: in all, by schema, by who did,
    and by day, counted from 1 between two edges."""
    values = {
        "org": tenancy.current_organization_id(),
        "schema_id": schema_id,
        "edges": list(edges),
        "first": edges[0],
        "last": edges[-1],
    }
    return list(db.session().execute(_DECIDED, values))
